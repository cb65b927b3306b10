import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomFillSync,
} from "node:crypto";
import { TradewireError } from "../errors/tradewire-error.ts";
import { concatBytes, textBytes } from "../primitives/bytes.ts";
import type { Now } from "../primitives/clock.ts";
import { decodeSealedTrade, encodeSealedTrade, type SealedTrade } from "./sealed-trade.ts";

/** A master key of the sealing ring. */
export interface SealingKey {
  /** Public name of the key, in every token it sealed. Letters and digits. */
  readonly id: string;
  /** 32 bytes. */
  readonly secret: Uint8Array;
  /** False: opens old tokens, seals no new ones. */
  readonly seals: boolean;
}

export interface TokenSealer {
  /** The opaque token of a build. */
  seal(trade: SealedTrade): string;
  /**
   * What a token of this account holds. A token of another account is told from garbage by nothing.
   * @throws TradewireError INVALID_SUBMISSION_TOKEN
   */
  open(token: string, accountId: string): SealedTrade;
}

const PREFIX = "tw1";
const ALGORITHM = "aes-256-gcm";
const DAY_BYTES = 2;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const DAY_MS = 86_400_000;
const MAX_BOUNDS = 10_000;
const MAX_TOKEN_CHARACTERS = 8192;
const CONTEXT = "tradewire/submission/v1";

/**
 * Seals submission tokens: `tw1.<key id>.<base64url(day ‖ nonce ‖ ciphertext ‖ tag)>` with AES-256-GCM. The key of a day
 * is derived from the master key, so that random nonces stay far below their bound; network and account are bound as
 * additional data.
 *
 * @throws RangeError when no key of the ring seals
 */
export function createTokenSealer(options: {
  readonly keys: readonly SealingKey[];
  readonly genesisHash: string;
  readonly now: Now;
}): TokenSealer {
  const sealing = options.keys.find((key) => key.seals);
  if (sealing === undefined) throw new RangeError("no key of the ring may seal");
  const ring = new Map(options.keys.map((key) => [key.id, key]));
  /** As key objects: handing raw bytes to a cipher costs more than the encryption itself. */
  const dayKeys = new Map<string, KeyObject>();
  /** What tokens of an account are bound to, by key and account. */
  const bounds = new Map<string, Uint8Array>();
  const nonces = createNonceSource();

  const dayKey = (key: SealingKey, day: number): KeyObject => {
    const name = `${key.id}.${day}`;
    let derived = dayKeys.get(name);
    if (derived === undefined) {
      derived = createSecretKey(new Uint8Array(hkdfSync("sha256", key.secret, "", `${CONTEXT}/day/${day}`, 32)));
      if (dayKeys.size > 64) dayKeys.clear();
      dayKeys.set(name, derived);
    }
    return derived;
  };
  const boundTo = (keyId: string, accountId: string): Uint8Array => {
    const name = `${keyId} ${accountId}`;
    let bound = bounds.get(name);
    if (bound === undefined) {
      bound = textBytes(`${CONTEXT}\n${keyId}\n${options.genesisHash}\n${accountId}`);
      if (bounds.size > MAX_BOUNDS) bounds.clear();
      bounds.set(name, bound);
    }
    return bound;
  };

  return {
    seal(trade) {
      const day = Math.floor(options.now() / DAY_MS);
      const nonce = nonces();
      const cipher = createCipheriv(ALGORITHM, dayKey(sealing, day), nonce);
      cipher.setAAD(boundTo(sealing.id, trade.accountId));
      const body = cipher.update(encodeSealedTrade(trade));
      cipher.final();
      const payload = Buffer.concat([Uint8Array.of(day & 0xff, day >> 8), nonce, body, cipher.getAuthTag()]);
      return `${PREFIX}.${sealing.id}.${payload.toString("base64url")}`;
    },
    open(token, accountId) {
      const [prefix, keyId, payloadText, ...rest] = token.length > MAX_TOKEN_CHARACTERS ? [] : token.split(".");
      const key = keyId === undefined ? undefined : ring.get(keyId);
      if (prefix !== PREFIX || key === undefined || payloadText === undefined || rest.length > 0) throw invalidToken();
      const payload = Buffer.from(payloadText, "base64url");
      if (payload.length < DAY_BYTES + NONCE_BYTES + TAG_BYTES || payload.toString("base64url") !== payloadText)
        throw invalidToken();
      const nonce = payload.subarray(DAY_BYTES, DAY_BYTES + NONCE_BYTES);
      const decipher = createDecipheriv(ALGORITHM, dayKey(key, payload.readUInt16LE(0)), nonce);
      decipher.setAAD(boundTo(key.id, accountId));
      decipher.setAuthTag(payload.subarray(payload.length - TAG_BYTES));
      try {
        const body = payload.subarray(DAY_BYTES + NONCE_BYTES, payload.length - TAG_BYTES);
        return decodeSealedTrade(concatBytes(decipher.update(body), decipher.final()));
      } catch {
        throw invalidToken();
      }
    },
  };
}

const invalidToken = () =>
  new TradewireError(
    "INVALID_SUBMISSION_TOKEN",
    "This submission token was not issued to this account, or was changed. Build again and submit the token of that build.",
  );

/** Random nonces drawn in batches: one call to the system's generator serves many seals. */
function createNonceSource(): () => Uint8Array {
  const pool = new Uint8Array(NONCE_BYTES * 256);
  let at = pool.length;
  return () => {
    if (at === pool.length) {
      randomFillSync(pool);
      at = 0;
    }
    at += NONCE_BYTES;
    return pool.slice(at - NONCE_BYTES, at);
  };
}
