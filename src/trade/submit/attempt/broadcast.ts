import type { Landing, LandingOutcome } from "../../../chain/port.ts";
import type { Now } from "../../../primitives/clock.ts";
import type { AttemptProgress } from "./attempt-progress.ts";

/** Time after which an attempt stops following its message; far longer than finality takes. Milliseconds. */
export const FOLLOW_MS = 10 * 60_000;
/** Signatures followed per message. Most wallets make one; some make a new one each time they sign. */
export const MAX_SIGNATURES = 4;

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

interface SignedTransaction {
  readonly transaction: Uint8Array;
  /** Awaited before it is sent; undefined: sent at once. */
  readonly stored: Promise<unknown> | undefined;
}

/** The broadcast of one message, under every valid signature that was submitted for it. */
export class Broadcast {
  readonly #landing: Landing;
  readonly #now: Now;
  readonly #terms: BroadcastTerms;
  readonly #progress: AttemptProgress;
  /** By signature. */
  readonly #signed = new Map<string, SignedTransaction>();
  readonly #started = new Set<string>();
  /** True once nothing more is to be sent: one signature has landed, or the message has ended elsewhere. */
  #isOver = false;
  /** Wakes `land` when a signature is added; undefined while it does not wait. */
  #onAdded: (() => void) | undefined;

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
    return this.#signed.get(signature)!.transaction;
  }

  /** True if one more signature submitted here may be followed. */
  get hasRoom(): boolean {
    return this.#signed.size < MAX_SIGNATURES;
  }

  /** True if a signature was added that is not sent yet: the message is then undecided, whatever the fate of the others. */
  get hasUnsent(): boolean {
    return this.#started.size < this.#signed.size;
  }

  /**
   * Follows one more signature of the message, sent once `stored` resolves, or at once if there is nothing to wait for.
   * @returns false if it is followed already
   */
  add(signature: string, transaction: Uint8Array, stored?: Promise<unknown>): boolean {
    if (this.#signed.has(signature)) return false;
    this.#signed.set(signature, { transaction, stored });
    this.#onAdded?.();
    return true;
  }

  /**
   * Sends every signature, also those added later, until one has landed or none can land any more. While one is undecided, so is the
   * message. Once one has landed, no other is sent any more. May be called again after more are added.
   */
  async land(): Promise<LandedSignature> {
    const pending = new Map<string, Promise<LandedSignature>>();
    let undecided: LandedSignature | undefined;
    try {
      for (;;) {
        for (const [signature, signed] of this.#signed) {
          if (!this.#started.has(signature)) pending.set(signature, this.#send(signature, signed));
          this.#started.add(signature);
        }
        const added = new Promise<undefined>((resolve) => {
          this.#onAdded = () => resolve(undefined);
        });
        const first = await Promise.race([...pending.values(), added]);
        if (first === undefined) continue;
        if (first.landing.kind === "landed") {
          this.#isOver = true;
          for (const signature of pending.keys()) this.#landing.drop(signature);
          return first;
        }
        if (first.landing.kind === "pending") undecided = first;
        if (pending.size === 1) return undecided ?? first;
        pending.delete(first.signature);
      }
    } finally {
      // A promise that never resolves would retain what it was raced against, the whole record.
      this.#onAdded = undefined;
    }
  }

  /** Sends nothing any more: `land` ends undecided. */
  stop(): void {
    this.#isOver = true;
    for (const signature of this.#started) this.#landing.drop(signature);
  }

  async #send(signature: string, { transaction, stored }: SignedTransaction): Promise<LandedSignature> {
    if (stored !== undefined) await stored;
    if (this.#isOver) return { signature, landing: { kind: "pending" } };
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
