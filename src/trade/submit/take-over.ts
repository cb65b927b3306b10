import type { SubmissionRecord } from "../../accounts/port.ts";
import type { SealedTrade } from "../build/token/sealed-trade.ts";
import type { TokenSealer } from "../build/token/submission-token.ts";
import { type ClaimPorts, leaseOf } from "./attempt/claim-keeper.ts";
import type { Attempts } from "./attempts.ts";
import { isOtherBuild, openRecord } from "./open-record.ts";
import { verifySignedBytes } from "./signed-bytes.ts";

/** Pause between searches for abandoned submissions. Milliseconds. */
const SEARCH_MS = 1_000;
/** Submissions read at once. */
const BATCH = 64;
/** Most submissions remembered because they cannot be taken over here. */
const MAX_UNREADABLE = 1_024;
/** Reads after which a search gives up if nothing could be taken over. The next search continues behind them. */
const MAX_VAIN = 4;

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
  /** The last submission that was looked at, if others follow it. */
  #last: SubmissionRecord | undefined;
  #isSearching = false;
  #isClosed = false;
  #isFailing = false;

  constructor(ports: TakeOverPorts, attempts: Attempts) {
    this.#ports = ports;
    this.#attempts = attempts;
    this.#timer = setInterval(() => void this.#search(), SEARCH_MS);
    this.#timer.unref();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  async #search(): Promise<void> {
    if (this.#isSearching || this.#ports.isCutOff?.()) return;
    this.#isSearching = true;
    try {
      for (let vain = 0; vain < MAX_VAIN; ) {
        if (!(await this.#takeSome())) vain++;
        if (this.#last === undefined) break;
      }
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#ports.warn(`Cannot take over abandoned submissions, will retry: ${String(error)}`);
      this.#isFailing = true;
    } finally {
      this.#isSearching = false;
    }
  }

  /** Takes over some, those abandoned longest ago first. @returns false if none could be taken over */
  async #takeSome(): Promise<boolean> {
    const abandoned = await this.#ports.submissions.abandoned(BATCH, {
      except: [...this.#unreadable],
      after: this.#last,
    });
    this.#last = abandoned.length === BATCH ? abandoned.at(-1) : undefined;
    let claimed = 0;
    for (const record of abandoned) if (!this.#isClosed && (await this.#take(record))) claimed++;
    return claimed > 0;
  }

  /** @returns true if a process holds its claim now */
  async #take(record: SubmissionRecord): Promise<boolean> {
    const own = this.#attempts.byMessage(record.messageHash);
    if (own?.isSettled === false) return false;
    if (own !== undefined && isOtherBuild(this.#ports.sealer, own.claim, record)) {
      // Without the database this process followed another build of the message. The record decides whose trade it is.
      this.#attempts.forgetEnd(record.messageHash);
    } else if (own !== undefined) {
      // Its end was already answered here: the database has lost it, or was not able to store it for a long time.
      await own.restoreOutcome();
      return false;
    }
    const sealed = this.#open(record);
    if (sealed === undefined) return false;
    const taken = await this.#ports.submissions.claim(record, leaseOf(this.#ports));
    if (taken === "claimed")
      this.#attempts.resume({ ...record, lastValidBlockHeight: sealed.lastValidBlockHeight }, sealed);
    return true;
  }

  #open(record: SubmissionRecord): SealedTrade | undefined {
    try {
      const sealed = openRecord(this.#ports.sealer, record);
      if (verifySignedBytes(sealed, record.transaction) !== record.signature)
        throw new Error("its signature is another");
      return sealed;
    } catch (error) {
      if (this.#unreadable.size === MAX_UNREADABLE) return undefined;
      this.#ports.warn(`Cannot take over the submission with signature ${record.signature}: ${String(error)}`);
      this.#unreadable.add(record.messageHash);
      return undefined;
    }
  }
}
