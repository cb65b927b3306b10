import { sha256 } from "@noble/hashes/sha2.js";
import { unsigned } from "../trade-error.ts";

/** Messages remembered, oldest first. */
const MOST_REMEMBERED = 10_000;

/** The build that a message is signed for. */
interface Taken {
  /** Weak: a build holds kilobytes, and one that nobody holds can ask for nothing. */
  readonly build: WeakRef<object>;
  /** How often the message was signed, or is being signed now: a wallet may refuse one request and grant another. */
  times: number;
}

/**
 * Which build each message was signed for. The chain runs a message once: signed for a second order, the outcome of the first would
 * pass for that of both, and stand on the chain as proof.
 */
class SignedMessages {
  readonly #taken = new Map<string, Taken>();

  /**
   * Takes a message for a build; the same build may have it again.
   * @returns gives it back, if it was not signed after all @throws TradeError UNEXPECTED_TRANSACTION if another build has it
   */
  take(message: Uint8Array, build: object): () => void {
    const key = String.fromCharCode(...sha256(message));
    const taken = this.#taken.get(key) ?? { build: new WeakRef(build), times: 0 };
    if (taken.build.deref() !== build) {
      throw unsigned(
        "UNEXPECTED_TRANSACTION",
        "Refused to sign: this transaction was signed for an earlier order, and trades once",
      );
    }
    taken.times += 1;
    this.#taken.set(key, taken);
    const [oldest] = this.#taken.keys();
    if (this.#taken.size > MOST_REMEMBERED && oldest !== undefined) this.#taken.delete(oldest);
    return () => {
      taken.times -= 1;
      if (taken.times === 0 && this.#taken.get(key) === taken) this.#taken.delete(key);
    };
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
