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

/** What one node says of the time, and the slot it read it at. */
interface TimeAnswer {
  readonly endpoint: RpcEndpoint;
  readonly readAt: bigint;
  readonly offsetMs: number;
}

/** Far above what nodes a few slots apart differ by, and what block time drifts between two refreshes. Milliseconds. */
const TOLERANCE_MS = 15_000;
/** By how much the time of a node's newest block is behind if the node is. Milliseconds. */
const LAGGING_MS = 6_000;

/**
 * How far block time is from this process's clock, as most nodes report it: fees and openings of markets depend on it. If an even
 * number of nodes answers, the offset known before has a vote too, or else the wall clock. If one of several answers alone, it counts
 * if nothing else is known or it differs little; otherwise the known offset and the wall clock vote as well. With one node nothing is
 * compared. Nodes that are behind have no vote: their time is that of an older block.
 */
export class ChainTime {
  readonly #options: ChainTimeOptions;
  /** Undefined before the first answer, and with one node. Milliseconds. */
  #offsetMs: number | undefined;
  /** True if two nodes have answered, or the trusted one, for the offset that is known. */
  #isByMany = false;

  constructor(options: ChainTimeOptions) {
    this.#options = options;
  }

  /** Asks every node, and takes in what those say that are not behind as they answer. Never rejects. */
  async refresh(isBehind: (slot: bigint) => boolean): Promise<void> {
    this.take(await this.ask(isBehind));
  }

  /** Asks every node; without those that do not answer, or are behind. Never rejects. */
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

  /** Of an even number of nodes, those whose time is behind the wall clock, which another one agrees with: its vote decides. */
  laggards(answers: readonly TimeAnswer[]): ReadonlySet<RpcEndpoint> {
    const { now, wallMs } = this.#options;
    const wall = wallMs() - now();
    const isBehind = ({ offsetMs }: TimeAnswer) => offsetMs < wall - LAGGING_MS;
    const isDecisive =
      answers.length % 2 === 0 && answers.some(({ offsetMs }) => Math.abs(offsetMs - wall) <= LAGGING_MS);
    return new Set(isDecisive ? answers.filter(isBehind).map(({ endpoint }) => endpoint) : []);
  }

  /** Takes in what the nodes say; nothing changes if none says anything. */
  take(answers: readonly TimeAnswer[]): void {
    if (answers.length === 0) return;
    const byTrusted = answers.find(({ endpoint }) => endpoint === this.#options.trusted);
    this.#offsetMs = byTrusted?.offsetMs ?? this.#middleOf(answers.map(({ offsetMs }) => offsetMs));
    this.#isByMany = byTrusted !== undefined || answers.length > 1;
  }

  /** True of a time that most nodes contradict. */
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
