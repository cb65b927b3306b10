import type { SubmissionRecord } from "../../accounts/port.ts";
import type { SealedTrade } from "../build/token/sealed-trade.ts";
import type { TokenSealer } from "../build/token/submission-token.ts";
import { type ClaimPorts, leaseOf } from "./attempt/claim-keeper.ts";
import type { Attempts } from "./attempts.ts";
import { openRecord } from "./open-record.ts";
import { verifySignedBytes } from "./signed-bytes.ts";

/** Pause between searches for abandoned submissions. Milliseconds. */
const SEARCH_MS = 1_000;
/** Submissions taken over per search. */
const BATCH = 64;
/** Upper bound of submissions remembered because they cannot be taken over here. */
const MAX_UNREADABLE = 1_024;

/** What taking over reads and writes. */
interface TakeOverPorts extends ClaimPorts {
  readonly sealer: TokenSealer;
  readonly warn: (message: string) => void;
}

/** Takes over submissions that other processes have abandoned: their leases have expired without an outcome. */
export class TakeOver {
  readonly #ports: TakeOverPorts;
  readonly #attempts: Attempts;
  readonly #timer: NodeJS.Timeout;
  /** Message hashes of damaged records, and of those sealed with a key this process does not have; other processes may have it. */
  readonly #unreadable = new Set<string>();
  #isSearching = false;
  #isFailing = false;

  constructor(ports: TakeOverPorts, attempts: Attempts) {
    this.#ports = ports;
    this.#attempts = attempts;
    this.#timer = setInterval(() => void this.#search(), SEARCH_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #search(): Promise<void> {
    if (this.#isSearching) return;
    this.#isSearching = true;
    try {
      const abandoned = await this.#ports.submissions.abandoned(BATCH, [...this.#unreadable]);
      for (const record of abandoned) await this.#take(record);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#ports.warn(`Cannot take over abandoned submissions, will retry: ${String(error)}`);
      this.#isFailing = true;
    } finally {
      this.#isSearching = false;
    }
  }

  async #take(record: SubmissionRecord): Promise<void> {
    const own = this.#attempts.byMessage(record.messageHash);
    if (own?.isSettled === false) return;
    // Its end has been answered here: the database has lost it, or could not write it for long.
    if (own !== undefined) return own.restoreOutcome();
    const sealed = this.#open(record);
    if (sealed === undefined) return;
    const taken = await this.#ports.submissions.claim(record, leaseOf(this.#ports));
    if (taken !== "claimed") return;
    this.#attempts.resume({ ...record, lastValidBlockHeight: sealed.lastValidBlockHeight }, sealed);
  }

  #open(record: SubmissionRecord): SealedTrade | undefined {
    try {
      const sealed = openRecord(this.#ports.sealer, record);
      if (verifySignedBytes(sealed, record.transaction) !== record.signature)
        throw new Error("its signature is another");
      return sealed;
    } catch (error) {
      this.#ports.warn(`Cannot take over the submission with signature ${record.signature}: ${String(error)}`);
      if (this.#unreadable.size === MAX_UNREADABLE) this.#unreadable.clear();
      this.#unreadable.add(record.messageHash);
      return undefined;
    }
  }
}
