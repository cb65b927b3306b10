import type { AccountReader } from "../../chain/port.ts";
import type { Address } from "../../primitives/address.ts";

/** How long an answer is used before the chain is asked again. Milliseconds. */
const FRESH_MS = 30_000;
/** The same while there is no answer yet. Milliseconds. */
const RETRY_MS = 1_000;

/** Which venues have their program on the chain, for the status page. Read when asked, at most every half minute. */
export class DeployedVenues {
  readonly #reader: Pick<AccountReader, "fetchAccounts">;
  readonly #venues: readonly { readonly id: string; readonly programs: readonly Address[] }[];
  readonly #nowMs: () => number;
  #absent: ReadonlySet<string> | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;

  /** @param nowMs a monotonic clock */
  constructor(
    reader: Pick<AccountReader, "fetchAccounts">,
    venues: readonly { readonly id: string; readonly programs: readonly Address[] }[],
    nowMs: () => number,
  ) {
    this.#reader = reader;
    this.#venues = venues;
    this.#nowMs = nowMs;
  }

  /**
   * The venues whose programs are all missing from the chain, as last read; undefined before the first answer. A read that is due
   * starts, and serves later answers.
   */
  absent(): ReadonlySet<string> | undefined {
    const lifeMs = this.#absent === undefined ? RETRY_MS : FRESH_MS;
    if (this.#nowMs() - this.#readAtMs >= lifeMs) {
      this.#readAtMs = this.#nowMs();
      // Without an answer the last one stands.
      this.#read().catch(() => {});
    }
    return this.#absent;
  }

  async #read(): Promise<void> {
    const programs = [...new Set(this.#venues.flatMap((venue) => venue.programs))];
    const { accounts } = await this.#reader.fetchAccounts(programs);
    const missing = new Set(programs.filter((_, i) => accounts[i] == null));
    const absent = this.#venues.filter((venue) => venue.programs.every((program) => missing.has(program)));
    this.#absent = new Set(absent.map(({ id }) => id));
  }
}
