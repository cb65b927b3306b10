import type { Now } from "../../primitives/clock.ts";
import type { ChainClock } from "../../solana/account.ts";
import { CLOCK_SYSVAR } from "../../solana/programs.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { decodeClock } from "./head-answers.ts";

interface ChainTimeOptions {
  readonly pool: Pick<RpcPool, "endpoints" | "ask">;
  readonly now: Now;
  readonly wallMs: Now;
  /** The node whose word decides a contradiction; undefined if the operator named none. */
  readonly trusted?: RpcEndpoint | undefined;
}

/** One node's time, and the slot at which it read it. */
interface TimeAnswer {
  readonly endpoint: RpcEndpoint;
  readonly readAt: bigint;
  readonly offsetMs: number;
}

/** Tolerance, far above the differences between nodes a few slots apart and the drift of block time between two refreshes. Milliseconds. */
const TOLERANCE_MS = 15_000;
/** A node is behind if the time of its newest block lags by this much. Milliseconds. */
const LAGGING_MS = 6_000;

/**
 * How far block time is from this process's clock, as most nodes report it: fees and openings of markets depend on it. If an even number of
 * nodes answers, the offset known before has a vote too, or else the wall clock. If only one of several nodes answers, it counts if nothing
 * else is known or it differs little; otherwise the known offset and the wall clock vote as well. With one node nothing is compared. Nodes
 * that are behind have no vote: their time is that of an older block.
 */
export class ChainTime {
  readonly #options: ChainTimeOptions;
  /** Undefined before the first answer, and with one node. Milliseconds. */
  #offsetMs: number | undefined;
  /** True if the known offset rests on two nodes, or on the trusted one. */
  #isByMany = false;

  constructor(options: ChainTimeOptions) {
    this.#options = options;
  }

  /** Asks every node, and takes the answers of those that are not behind as they arrive. Never rejects. */
  async refresh(isBehind: (slot: bigint) => boolean): Promise<void> {
    this.take(await this.ask(isBehind));
  }

  /** Asks every node; leaves out those that do not answer or are behind. Never rejects. */
  async ask(isBehind: (slot: bigint) => boolean = () => false): Promise<readonly TimeAnswer[]> {
    const { pool, now } = this.#options;
    if (pool.endpoints.length < 2) return [];
    const params = [[CLOCK_SYSVAR.toString()], { encoding: "base64", commitment: "processed" }];
    const asked = pool.endpoints.map(async (endpoint) => {
      const { readAt, clock } = decodeClock(await pool.ask(endpoint, "getMultipleAccounts", params));
      return isBehind(readAt) ? [] : [{ endpoint, readAt, offsetMs: timeOf(clock) - now() }];
    });
    return (await Promise.allSettled(asked)).flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  }

  /**
   * With an even number of nodes, the wall clock has the deciding vote: drops nodes whose time is behind it if another node agrees with it.
   */
  laggards(answers: readonly TimeAnswer[]): ReadonlySet<RpcEndpoint> {
    const { now, wallMs } = this.#options;
    const wall = wallMs() - now();
    const isBehind = ({ offsetMs }: TimeAnswer) => offsetMs < wall - LAGGING_MS;
    const isDecisive =
      answers.length % 2 === 0 && answers.some(({ offsetMs }) => Math.abs(offsetMs - wall) <= LAGGING_MS);
    return new Set(isDecisive ? answers.filter(isBehind).map(({ endpoint }) => endpoint) : []);
  }

  /** Takes the nodes' answers; changes nothing without any. */
  take(answers: readonly TimeAnswer[]): void {
    if (answers.length === 0) return;
    const byTrusted = answers.find(({ endpoint }) => endpoint === this.#options.trusted);
    this.#offsetMs = byTrusted?.offsetMs ?? this.#middleOf(answers.map(({ offsetMs }) => offsetMs));
    this.#isByMany = byTrusted !== undefined || answers.length > 1;
  }

  /** True for a time that most nodes contradict. */
  isOff(clock: ChainClock): boolean {
    return this.#offsetMs !== undefined && !isNear(timeOf(clock) - this.#options.now(), this.#offsetMs);
  }

  #middleOf(offsets: readonly number[]): number {
    const { now, wallMs } = this.#options;
    const known = this.#offsetMs;
    const wall = wallMs() - now();
    const voters = [...offsets];
    if (offsets.length % 2 === 0) voters.push(known !== undefined && this.#isByMany ? known : wall);
    else if (offsets.length === 1 && known !== undefined && !isNear(offsets[0]!, known)) voters.push(known, wall);
    return voters.sort((a, b) => a - b)[voters.length >> 1]!;
  }
}

const timeOf = ({ unixTimestamp }: ChainClock) => Number(unixTimestamp) * 1_000;
const isNear = (a: number, b: number) => Math.abs(a - b) <= TOLERANCE_MS;
