import type { Principal, SubmissionRecord, Submissions } from "../../accounts/port.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { SealedTrade } from "../build/token/sealed-trade.ts";
import type { TokenSealer } from "../build/token/submission-token.ts";
import type { SubmittedTrade } from "../trade.ts";
import type { Attempt } from "./attempt/attempt.ts";
import type { Attempts } from "./attempts.ts";
import { openRecord } from "./open-record.ts";
import { holdsFor, outcomeFor } from "./outcome/expired-outcome.ts";
import type { Finality } from "./outcome/finality.ts";
import { answerOf, pendingTrade } from "./outcome/outcome.ts";
import type { ProgressCache } from "./outcome/progress-cache.ts";
import { storedOutcome } from "./outcome/stored-outcome.ts";
import { isSignedForm } from "./signed-bytes.ts";

/** What finding a trade reads. */
interface FindPorts {
  readonly submissions: Pick<Submissions, "bySignature" | "signaturesOf">;
  readonly sealer: TokenSealer;
  readonly attempts: Attempts;
  readonly chain: ProgressCache;
  readonly finality: Finality;
}

/** Finds submitted trades by signature: in the database, or among this process's attempts while the database is unavailable. */
export class TradeFinder {
  readonly #ports: FindPorts;
  readonly #restoring = new WeakSet<Attempt>();

  constructor(ports: FindPorts) {
    this.#ports = ports;
  }

  /** The current state of a trade of this account, under the signature it is asked for by. @throws TradewireError TRADE_NOT_FOUND, or the error the trade failed with */
  async find(principal: Principal, signature: string): Promise<SubmittedTrade> {
    const { sealer, attempts, chain, finality } = this.#ports;
    const found = await this.#locate(principal, signature);
    if (found.attempt !== undefined) return this.#standing(found.attempt, signature);
    const { record } = found;
    const sealed = openRecord(sealer, record);
    const outcome = storedOutcome(record);
    if (outcome !== undefined) {
      const late = holdsFor(outcome, [signature]) ? undefined : await this.#followLate(record, sealed, signature);
      if (late !== undefined) return this.#standing(late, signature);
      return answerOf(sealed, signature, outcomeFor(await finality.complete(record, outcome), signature));
    }
    const attempt = attempts.byMessage(record.messageHash) ?? this.#endAgain(record, sealed);
    if (attempt !== undefined) {
      this.#restore(attempt);
      return this.#standing(attempt, signature);
    }
    return chain.observe(pendingTrade(sealed, signature), sealed.lastValidBlockHeight);
  }

  /** Follows a message to its end again because its stored outcome cannot be read; undefined if its bytes are damaged too. */
  #endAgain(record: SubmissionRecord, sealed: SealedTrade): Attempt | undefined {
    if (record.outcome === undefined || !isSignedForm(sealed, record)) return undefined;
    return this.#ports.attempts.join(record, sealed);
  }

  /**
   * The attempt of a message whose stored end does not cover a signature, which was submitted later: it may have landed. Undefined if its
   * bytes are not on record.
   */
  async #followLate(record: SubmissionRecord, sealed: SealedTrade, signature: string): Promise<Attempt | undefined> {
    const { attempts, submissions } = this.#ports;
    const followed = attempts.bySignature(record.accountId, signature);
    if (followed !== undefined) return followed;
    const forms = await submissions.signaturesOf(record.messageHash);
    const form = forms.find((one) => one.signature === signature && isSignedForm(sealed, one));
    return form && attempts.join({ ...record, ...form }, sealed);
  }

  /** Message hash of a trade of this account. @throws TradewireError TRADE_NOT_FOUND */
  async messageHashOf(principal: Principal, signature: string): Promise<string> {
    const { attempt, record } = await this.#locate(principal, signature);
    return attempt === undefined ? record.messageHash : attempt.claim.messageHash;
  }

  /** The record of a submission, or its attempt if the database has no record or is unavailable. */
  async #locate(
    { accountId }: Principal,
    signature: string,
  ): Promise<
    | { readonly record: SubmissionRecord; readonly attempt?: undefined }
    | { readonly attempt: Attempt; readonly record?: undefined }
  > {
    const { attempts, submissions } = this.#ports;
    const before = attempts.bySignature(accountId, signature);
    // It may have been submitted while the database was asked.
    const followed = () => before ?? attempts.bySignature(accountId, signature);
    try {
      const record = await submissions.bySignature(accountId, signature);
      if (record !== undefined) return { record };
    } catch (error) {
      if (followed() === undefined) throw error;
    }
    const attempt = followed();
    if (attempt !== undefined) {
      this.#restore(attempt);
      return { attempt };
    }
    throw new TradewireError(
      "TRADE_NOT_FOUND",
      "No trade of this account is on record with this signature. If a submit of it had no answer, submit the same bytes again: that is always safe.",
      { field: "signature" },
    );
  }

  /** Writes the outcome of an ended trade that is not on record, one write at a time: after a failover, the database may lack it. */
  #restore(attempt: Attempt): void {
    if (!attempt.isSettled || this.#restoring.has(attempt)) return;
    this.#restoring.add(attempt);
    const end = () => void this.#restoring.delete(attempt);
    attempt.restoreOutcome().then(end, end);
  }

  /** The trade of an attempt that is pending, or whose outcome is not written yet. @throws TradewireError as `answerOf` */
  async #standing(attempt: Attempt, signature: string): Promise<SubmittedTrade> {
    const { chain, finality } = this.#ports;
    const { claim, sealed, progress } = attempt;
    if (!attempt.isSettled) {
      const { trade } = progress;
      const standing = attempt.isElsewhere
        ? await chain.observe(trade, sealed.lastValidBlockHeight)
        : chain.standing(trade);
      return { ...standing, signature };
    }
    const { outcome } = attempt;
    if (outcome === undefined) return { ...progress.trade, signature };
    const ended = progress.trade.signature;
    const end = await finality.completeUnrecorded(claim.messageHash, outcome, ended);
    return answerOf(sealed, signature, outcomeFor(end, signature));
  }
}
