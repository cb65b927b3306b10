import { sha256 } from "@noble/hashes/sha2.js";
import { TradeError } from "../trade-error.ts";

/** Messages remembered, oldest first. */
const MOST_REMEMBERED = 10_000;

/**
 * Which build each message was signed for. The chain runs a message once: signed for a second order, the outcome of the first would
 * pass for that of both, and stand on the chain as proof.
 */
class SignedMessages {
  /** Weak: a build holds kilobytes, and one that nobody holds can ask for nothing. */
  readonly #builds = new Map<string, WeakRef<object>>();

  /**
   * Takes a message for a build; the same build may have it again.
   * @returns gives it back, if it was not signed after all @throws TradeError UNEXPECTED_TRANSACTION if another build has it
   */
  take(message: Uint8Array, build: object): () => void {
    const key = String.fromCharCode(...sha256(message));
    const known = this.#builds.get(key);
    if (known?.deref() === build) return () => undefined;
    if (known !== undefined) {
      throw new TradeError(
        "UNEXPECTED_TRANSACTION",
        "Refused to sign: this transaction was signed for an earlier order, and trades once. Nothing was signed.",
      );
    }
    this.#builds.set(key, new WeakRef(build));
    const [oldest] = this.#builds.keys();
    if (this.#builds.size > MOST_REMEMBERED && oldest !== undefined) this.#builds.delete(oldest);
    return () => void this.#builds.delete(key);
  }
}

/** Changing it requires a new name, because copies of different versions share the object of that name. */
const SHARED = Symbol.for("tradewire.signedMessages.1");
const OWN = new SignedMessages();

/** What this process signed. All copies of this library share it: a program may load it as ES modules and as CommonJS. */
export function signedMessages(): SignedMessages {
  const messages: SignedMessages = Reflect.get(globalThis, SHARED) ?? OWN;
  Reflect.set(globalThis, SHARED, messages);
  return messages;
}
