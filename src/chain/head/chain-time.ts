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

/** Far above what nodes a few slots apart differ by, and what block time drifts between two refreshes. Milliseconds. */
const TOLERANCE_MS = 15_000;

/**
 * How far block time is from this process's clock, by the word of most nodes: fees and openings of markets depend on it. Of an even
 * number of nodes that answer, what was known has a vote, and the wall clock before that. With one node nothing is compared.
 */
export class ChainTime {
  readonly #options: ChainTimeOptions;
  /** Undefined before the first refresh, and with one node. Milliseconds. */
  #offsetMs: number | undefined;

  constructor(options: ChainTimeOptions) {
    this.#options = options;
  }

  /** Asks every node. Never rejects. */
  async refresh(): Promise<void> {
    const { pool, now, wallMs, trusted } = this.#options;
    if (pool.endpoints.length < 2) return;
    const params = [[CLOCK_SYSVAR.toString()], { encoding: "base64", commitment: "processed" }];
    const said = await Promise.all(
      pool.endpoints.map(async (endpoint) => {
        try {
          const { clock } = decodeClock(await pool.ask(endpoint, "getMultipleAccounts", params));
          return { endpoint, offsetMs: timeOf(clock) - now() };
        } catch {
          return undefined;
        }
      }),
    );
    const answered = said.filter((one) => one !== undefined);
    if (answered.length === 0) return;
    const byTrusted = answered.find(({ endpoint }) => endpoint === trusted);
    const offsets = answered.map(({ offsetMs }) => offsetMs);
    if (offsets.length % 2 === 0) offsets.push(this.#offsetMs ?? wallMs() - now());
    offsets.sort((a, b) => a - b);
    this.#offsetMs = byTrusted?.offsetMs ?? offsets[offsets.length >> 1]!;
  }

  /** True of a time that most nodes contradict. */
  isOff(clock: ChainClock): boolean {
    if (this.#offsetMs === undefined) return false;
    return Math.abs(timeOf(clock) - this.#options.now() - this.#offsetMs) > TOLERANCE_MS;
  }
}

const timeOf = ({ unixTimestamp }: ChainClock) => Number(unixTimestamp) * 1_000;
