import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomFillSync,
} from "node:crypto";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { ByteWriter } from "../../primitives/byte-writer.ts";
import { concatBytes, textBytes } from "../../primitives/bytes.ts";
import type { Now } from "../../primitives/clock.ts";
import { decodeSealedTrade, type SealedTrade, writeSealedTrade } from "./sealed-trade.ts";

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
  /** The opaque token of a build, for the account that asked for it. */
  seal(trade: SealedTrade, accountId: string): string;
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
const MAX_DAY_KEYS = 64;
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
  const ring = new Map(options.keys.map((key) => [key.id, createRingKey(key, options.genesisHash)]));
  const first = options.keys.find((key) => key.seals);
  const sealing = first === undefined ? undefined : ring.get(first.id);
  if (sealing === undefined) throw new RangeError("no key of the ring may seal");
  const nonces = createNonceSource();
  /** Where every token is put together: nothing of it is kept. */
  const plain = new ByteWriter();
  const payload = Buffer.alloc(MAX_TOKEN_CHARACTERS);

  return {
    seal(trade, accountId) {
      const day = Math.floor(options.now() / DAY_MS);
      const nonce = nonces();
      writeSealedTrade(plain.clear(), trade);
      const cipher = createCipheriv(ALGORITHM, sealing.dayKey(day), nonce);
      cipher.setAAD(sealing.boundTo(accountId));
      const body = cipher.update(plain.finish());
      cipher.final();
      payload.writeUInt16LE(day, 0);
      payload.set(nonce, DAY_BYTES);
      payload.set(body, DAY_BYTES + NONCE_BYTES);
      const end = DAY_BYTES + NONCE_BYTES + body.length;
      payload.set(cipher.getAuthTag(), end);
      return `${PREFIX}.${sealing.id}.${payload.toString("base64url", 0, end + TAG_BYTES)}`;
    },
    open(token, accountId) {
      const [prefix, keyId, payloadText, ...rest] = token.length > MAX_TOKEN_CHARACTERS ? [] : token.split(".");
      const key = keyId === undefined ? undefined : ring.get(keyId);
      if (prefix !== PREFIX || key === undefined || payloadText === undefined || rest.length > 0) throw invalidToken();
      const payload = Buffer.from(payloadText, "base64url");
      if (payload.length < DAY_BYTES + NONCE_BYTES + TAG_BYTES || payload.toString("base64url") !== payloadText)
        throw invalidToken();
      const nonce = payload.subarray(DAY_BYTES, DAY_BYTES + NONCE_BYTES);
      const decipher = createDecipheriv(ALGORITHM, key.dayKey(payload.readUInt16LE(0)), nonce);
      decipher.setAAD(key.boundTo(accountId));
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

/** A key of the ring with what is derived from it. */
interface RingKey {
  readonly id: string;
  /** As a key object: handing raw bytes to a cipher costs more than the encryption itself. */
  dayKey(day: number): KeyObject;
  /** What tokens of an account are bound to. */
  boundTo(accountId: string): Uint8Array;
}

function createRingKey({ id, secret }: SealingKey, genesisHash: string): RingKey {
  const dayKeys = new Map<number, KeyObject>();
  const bounds = new Map<string, Uint8Array>();
  return {
    id,
    dayKey(day) {
      let derived = dayKeys.get(day);
      if (derived === undefined) {
        derived = createSecretKey(new Uint8Array(hkdfSync("sha256", secret, "", `${CONTEXT}/day/${day}`, 32)));
        if (dayKeys.size > MAX_DAY_KEYS) dayKeys.clear();
        dayKeys.set(day, derived);
      }
      return derived;
    },
    boundTo(accountId) {
      let bound = bounds.get(accountId);
      if (bound === undefined) {
        bound = textBytes(`${CONTEXT}\n${id}\n${genesisHash}\n${accountId}`);
        if (bounds.size > MAX_BOUNDS) bounds.clear();
        bounds.set(accountId, bound);
      }
      return bound;
    },
  };
}

const invalidToken = () =>
  new TradewireError(
    "INVALID_SUBMISSION_TOKEN",
    "The submission token is not one of this account, or was changed. Send it as it came with the build, with a key of the account that built.",
    { field: "submissionToken" },
  );

/** Random nonces drawn in batches: one call to the system's generator serves many seals. Each is good until the next is drawn. */
function createNonceSource(): () => Uint8Array {
  const pool = Buffer.alloc(NONCE_BYTES * 256);
  let at = pool.length;
  return () => {
    if (at === pool.length) {
      randomFillSync(pool);
      at = 0;
    }
    at += NONCE_BYTES;
    return pool.subarray(at - NONCE_BYTES, at);
  };
}
