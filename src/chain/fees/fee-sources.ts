import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import { PRIORITY_LEVELS, type Priority } from "../port.ts";
import { NodeError } from "../rpc/node-error.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { ReadOptions, RpcPool } from "../rpc/rpc-pool.ts";
import { asInteger, asList, asRecord } from "../rpc/rpc-values.ts";
import { medianPrice, NO_PRICES, PERCENTILE, type Prices, pricesOf, type Samples, type Trims } from "./fee-samples.ts";
import type { FeeWindow } from "./fee-window.ts";

/** Recent prices of priority: of the whole chain (no accounts), or of transactions that write to the accounts. */
export interface FeeReading {
  readonly prices: Prices;
  readonly samples: Samples;
}

/** Where prices of priority come from. */
export interface FeeSource {
  /**
   * Undefined if the source has no prices now: the next one is asked.
   *
   * @param from the node that answers, if the source is a node
   * @throws TradewireError UPSTREAM_ERROR
   */
  read(writable: readonly Address[], from?: FromNode): Promise<FeeReading | undefined>;
}

/** The node to ask first, or the only one. */
type FromNode = Pick<ReadOptions, "startAt" | "only">;

/** What the prices of nodes are read with. */
export interface NodeFeesOptions {
  readonly now: Now;
  readonly warn: (message: string) => void;
  readonly trims: Trims;
  /** The slots that count; absent: those that the node lists. */
  readonly window?: FeeWindow;
}

const METHOD = "getRecentPrioritizationFees";
/** How long nodes without percentiles are not probed again. Milliseconds. */
const RETRY_MS = 600_000;
/** The same while nobody pays for priority, which leaves the probe undecided. Milliseconds. */
const UNDECIDED_MS = 60_000;

/**
 * Some nodes report any percentile of the prices paid in each recent slot, a far better measure than each slot's lowest. A probe asks for
 * the lowest and the highest percentile: a node without the parameter refuses it, or answers both alike.
 *
 * @see https://docs.triton.one/chains/solana/improved-priority-fees-api
 */
export function createPercentileFees(pool: RpcPool, options: NodeFeesOptions): FeeSource {
  return new PercentileFees(pool, options);
}

class PercentileFees implements FeeSource {
  readonly #pool: RpcPool;
  readonly #options: NodeFeesOptions;
  #isServed = false;
  #probeAtMs = 0;
  #hasWarned = false;
  /** Whether each node serves percentiles, and until when it is not probed again (epoch milliseconds). */
  readonly #served = new WeakMap<RpcEndpoint, { readonly isServed: boolean; readonly untilMs: number }>();

  constructor(pool: RpcPool, options: NodeFeesOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  async read(writable: readonly Address[], from: FromNode = {}): Promise<FeeReading | undefined> {
    const { now, trims } = this.#options;
    if (!this.#isServed && now() >= this.#probeAtMs) await this.#probe();
    if (!this.#isServed) return undefined;
    if (from.only !== undefined && !(await this.#isServedBy(from.only))) return undefined;
    const byLevel = await Promise.all(
      PRIORITY_LEVELS.map(async (level) => [level, await this.#ask(writable, PERCENTILE[level] * 100, from)] as const),
    );
    const prices: Record<Priority, bigint> = { ...NO_PRICES };
    for (const [level, samples] of byLevel) prices[level] = medianPrice(samples, trims[level]);
    return { prices, samples: byLevel.find(([level]) => level === "fast")![1] };
  }

  /** @param percentile in basis points */
  async #ask(writable: readonly Address[], percentile: number, from: FromNode = {}): Promise<Samples> {
    const result = await this.#pool.read(METHOD, [writable.map(String), { percentile }], { ...from, isProbe: true });
    return decodeSamples(result, this.#options.window);
  }

  /** Whether this node serves percentiles: they cannot be compared with another node's lowest prices per slot. */
  async #isServedBy(only: RpcEndpoint): Promise<boolean> {
    const known = this.#served.get(only);
    const atMs = this.#options.now();
    if (known !== undefined && atMs < known.untilMs) return known.isServed;
    const [lowest, highest] = await Promise.all([this.#ask([], 1, { only }), this.#ask([], 10_000, { only })]);
    const isServed = highest.some((price, i) => price !== lowest[i]);
    this.#served.set(only, { isServed, untilMs: atMs + (isServed ? RETRY_MS : UNDECIDED_MS) });
    return isServed;
  }

  async #probe(): Promise<void> {
    const { now, warn } = this.#options;
    this.#probeAtMs = now() + UNDECIDED_MS;
    try {
      const [lowest, highest] = await Promise.all([this.#ask([], 1), this.#ask([], 10_000)]);
      this.#isServed = highest.some((price, i) => price !== lowest[i]);
      if (this.#isServed || highest.every((price) => price === 0n)) return;
    } catch (error) {
      if (!(error instanceof NodeError) || error.kind === "unreachable") throw error;
    }
    this.#probeAtMs = now() + RETRY_MS;
    if (!this.#hasWarned)
      warn("The Solana nodes do not report percentiles of priority fees; prices come from each slot's lowest fee.");
    this.#hasWarned = true;
  }
}

/** The method every node serves: the lowest price paid in each recent slot. */
export function createStockFees(pool: RpcPool, trims: Trims, window?: FeeWindow): FeeSource {
  return {
    async read(writable, from = {}) {
      const samples = decodeSamples(await pool.read(METHOD, [writable.map(String)], from), window);
      return { prices: pricesOf(samples, trims), samples };
    },
  };
}

function decodeSamples(result: unknown, window: FeeWindow | undefined): Samples {
  const listed = asList(result, "priority fees").map((sample) => {
    const { slot, prioritizationFee } = asRecord(sample, "priority fees");
    return { slot: asInteger(slot, "priority fees"), price: asInteger(prioritizationFee, "priority fees") };
  });
  return window === undefined ? listed.map(({ price }) => price) : window.samples(listed);
}
