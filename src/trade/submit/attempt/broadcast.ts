import type { Landing, LandingOutcome } from "../../../chain/port.ts";
import type { Now } from "../../../primitives/clock.ts";
import type { AttemptProgress } from "./attempt-progress.ts";

/** Time after which an attempt stops following its message; far longer than finality takes. Milliseconds. */
export const FOLLOW_MS = 10 * 60_000;
/** Signatures followed per message. Most wallets make one; some make a new one each time they sign. */
const MAX_SIGNATURES = 4;

/** How one signature of a message ended on the chain. */
export interface LandedSignature {
  readonly signature: string;
  readonly landing: LandingOutcome;
}

/** Where and how long a message may be sent. */
interface BroadcastTerms {
  readonly lastValidBlockHeight: bigint;
  /** Names of the senders it may be sent through. */
  readonly senders: readonly string[];
}

/** The broadcast of one message, under every valid signature that was submitted for it. */
export class Broadcast {
  readonly #landing: Landing;
  readonly #now: Now;
  readonly #terms: BroadcastTerms;
  readonly #progress: AttemptProgress;
  /** Signed transactions by signature. */
  readonly #signed = new Map<string, Uint8Array>();
  #added = Promise.withResolvers<undefined>();

  constructor(landing: Landing, now: Now, terms: BroadcastTerms, progress: AttemptProgress) {
    this.#landing = landing;
    this.#now = now;
    this.#terms = terms;
    this.#progress = progress;
  }

  /** The signatures that are followed. */
  get signatures(): readonly string[] {
    return [...this.#signed.keys()];
  }

  /** The signed transaction of a signature that is followed. */
  transactionOf(signature: string): Uint8Array {
    return this.#signed.get(signature)!;
  }

  /** Follows one more signature of the message. @returns false if it already follows as many as it may */
  add(signature: string, transaction: Uint8Array): boolean {
    if (this.#signed.has(signature)) return true;
    if (this.#signed.size >= MAX_SIGNATURES) return false;
    this.#signed.set(signature, transaction);
    const added = this.#added;
    this.#added = Promise.withResolvers();
    added.resolve(undefined);
    return true;
  }

  /** Sends every signature, also those added later, until one has landed or none can any more. */
  async land(): Promise<LandedSignature> {
    const started = new Set<string>();
    const pending = new Map<string, Promise<LandedSignature>>();
    for (;;) {
      for (const [signature, transaction] of this.#signed) {
        if (!started.has(signature)) pending.set(signature, this.#send(signature, transaction));
        started.add(signature);
      }
      const first = await Promise.race([...pending.values(), this.#added.promise]);
      if (first === undefined) continue;
      if (first.landing.kind === "landed" || pending.size === 1) return first;
      pending.delete(first.signature);
    }
  }

  async #send(signature: string, transaction: Uint8Array): Promise<LandedSignature> {
    const landing = await this.#landing.land({
      transaction,
      signature,
      lastValidBlockHeight: this.#terms.lastValidBlockHeight,
      deadlineMs: this.#now() + FOLLOW_MS,
      senders: this.#terms.senders,
      onEvent: (event) => this.#progress.receive(event),
      onDispute: (pendingReason) => this.#progress.update({ pendingReason }),
    });
    return { signature, landing };
  }
}
