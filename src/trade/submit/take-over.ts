import type { SubmissionRecord } from "../../accounts/port.ts";
import type { SealedTrade } from "../build/token/sealed-trade.ts";
import type { TokenSealer } from "../build/token/submission-token.ts";
import { type ClaimPorts, leaseOf } from "./attempt/claim-keeper.ts";
import type { Attempts } from "./attempts.ts";
import { isOtherBuild, openRecord } from "./open-record.ts";
import { verifySignedBytes } from "./signed-bytes.ts";
import { sleep } from "./waiting.ts";

/** Pause between searches for abandoned submissions. Milliseconds. */
const SEARCH_MS = 1_000;
/** Submissions read, and taken over, at once. */
const BATCH = 256;
/** Submissions opened or followed before others get a turn: a few milliseconds' worth. */
const SUBMISSIONS_IN_TURN = 8;
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
  #searching: Promise<void> | undefined;
  #isClosed = false;
  #isFailing = false;

  constructor(ports: TakeOverPorts, attempts: Attempts) {
    this.#ports = ports;
    this.#attempts = attempts;
    this.#timer = setInterval(() => this.#searchAgain(), SEARCH_MS);
    this.#timer.unref();
  }

  /** Resolves once nothing more is taken over. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#searching;
  }

  #searchAgain(): void {
    if (this.#ports.isCutOff?.()) return;
    this.#searching ??= this.#search().finally(() => {
      this.#searching = undefined;
    });
  }

  async #search(): Promise<void> {
    try {
      for (let vain = 0; vain < MAX_VAIN && !this.#isClosed; ) {
        if (!(await this.#takeSome())) vain++;
        if (this.#last === undefined) break;
      }
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#ports.warn(`Cannot take over abandoned submissions, will retry: ${String(error)}`);
      this.#isFailing = true;
    }
  }

  /**
   * Takes over some, those abandoned longest ago first: all of a batch in one write, because a process may leave thousands behind, and a
   * message lives for half a minute. @returns false if none could be taken over
   */
  async #takeSome(): Promise<boolean> {
    const { submissions } = this.#ports;
    const abandoned = await submissions.abandoned(BATCH, { except: [...this.#unreadable], after: this.#last });
    this.#last = abandoned.length === BATCH ? abandoned.at(-1) : undefined;
    const opened = new Map<string, Parameters<Attempts["resume"]>>();
    for (const [i, record] of abandoned.entries()) {
      if (i % SUBMISSIONS_IN_TURN === SUBMISSIONS_IN_TURN - 1) await sleep(0);
      const sealed = this.#isFree(record) ? this.#open(record) : undefined;
      if (sealed === undefined) continue;
      const { lastValidBlockHeight } = sealed;
      opened.set(record.messageHash, [{ ...record, lastValidBlockHeight }, sealed]);
    }
    if (opened.size === 0 || this.#isClosed) return false;
    const taken = await submissions.takeOver([...opened.keys()], leaseOf(this.#ports));
    for (const [i, messageHash] of taken.entries()) {
      if (i % SUBMISSIONS_IN_TURN === SUBMISSIONS_IN_TURN - 1) await sleep(0);
      this.#attempts.resume(...opened.get(messageHash)!);
    }
    return true;
  }

  /** True of a submission that this process neither follows nor has ended. */
  #isFree(record: SubmissionRecord): boolean {
    const own = this.#attempts.byMessage(record.messageHash);
    if (own === undefined) return true;
    if (!own.isSettled) return false;
    if (isOtherBuild(this.#ports.sealer, own.claim, record)) {
      // Without the database this process followed another build of the message. The record decides whose trade it is.
      this.#attempts.forgetEnd(record.messageHash);
      return true;
    }
    // Its end was already answered here: the database has lost it, or was not able to store it for a long time.
    void own.restoreOutcome();
    return false;
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
