import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import { PRIORITY_LEVELS, type Priority } from "../port.ts";
import { NodeError } from "../rpc/node-error.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asInteger, asList, asRecord } from "../rpc/rpc-values.ts";
import { middlePrice, NO_PRICES, PERCENTILE, type Prices, pricesOf, type Samples, type Trims } from "./fee-samples.ts";

/** What priority cost lately: for the whole chain (no accounts) or for those who write to the accounts. */
export interface FeeReading {
  readonly prices: Prices;
  readonly samples: Samples;
}

export interface FeeSource {
  /** Undefined: this source does not know now, the next one is asked. @throws TradewireError UPSTREAM_ERROR */
  read(writable: readonly Address[]): Promise<FeeReading | undefined>;
}

const METHOD = "getRecentPrioritizationFees";
/** A node that does not tell percentiles is not asked again for this long. */
const RETRY_MS = 600_000;
/** Before anything has been paid for priority nothing can be told about the node; it is asked again soon. */
const UNDECIDED_MS = 60_000;

/**
 * Some nodes tell, for each recent slot, any percentile of what was paid in it: a far better measure than the slot's least.
 * Whether this one does is found out by asking for both ends; one that does not know the parameter refuses it, or gives the
 * same answer twice.
 *
 * @see https://docs.triton.one/chains/solana/improved-priority-fees-api
 */
export function createPercentileFees(
  pool: RpcPool,
  options: { readonly now: Now; readonly warn: (message: string) => void; readonly trims: Trims },
): FeeSource {
  const { now, warn, trims } = options;
  let isServed = false;
  let probeAtMs = 0;
  let told = false;

  const ask = async (writable: readonly Address[], percentile: number) =>
    decodeSamples(await pool.read(METHOD, [writable.map(String), { percentile }], { isProbe: true }));

  async function probe(): Promise<void> {
    probeAtMs = now() + UNDECIDED_MS;
    try {
      const [least, most] = await Promise.all([ask([], 1), ask([], 10_000)]);
      isServed = most.some((price, i) => price !== least[i]);
      if (isServed || most.every((price) => price === 0n)) return;
    } catch (error) {
      if (!(error instanceof NodeError) || error.kind === "unreachable") throw error;
    }
    probeAtMs = now() + RETRY_MS;
    if (!told)
      warn("The Solana nodes tell no percentiles of priority fees; prices are made from each slot's least fee.");
    told = true;
  }

  return {
    async read(writable) {
      if (!isServed && now() >= probeAtMs) await probe();
      if (!isServed) return undefined;
      const byLevel = await Promise.all(
        PRIORITY_LEVELS.map(async (level) => [level, await ask(writable, PERCENTILE[level] * 100)] as const),
      );
      const prices: Record<Priority, bigint> = { ...NO_PRICES };
      for (const [level, samples] of byLevel) prices[level] = middlePrice(samples, trims[level]);
      return { prices, samples: byLevel.find(([level]) => level === "fast")![1] };
    },
  };
}

/** The method every node has: the least that was paid in each recent slot. */
export function createStockFees(pool: RpcPool, trims: Trims): FeeSource {
  return {
    async read(writable) {
      const samples = decodeSamples(await pool.read(METHOD, [writable.map(String)]));
      return { prices: pricesOf(samples, trims), samples };
    },
  };
}

function decodeSamples(result: unknown): Samples {
  return asList(result, "priority fees").map((sample) =>
    asInteger(asRecord(sample, "priority fees").prioritizationFee, "priority fees"),
  );
}
