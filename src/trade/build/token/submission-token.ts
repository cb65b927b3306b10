import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import { ByteWriter } from "../../../primitives/byte-writer.ts";
import { concatBytes, putAscii, textBytes } from "../../../primitives/bytes.ts";
import type { Now } from "../../../primitives/clock.ts";
import { GcmStreams } from "./gcm-streams.ts";
import { decodeSealedTrade, type SealedTrade, writeSealedTrade } from "./sealed-trade.ts";

/** A master key of the sealing key ring. */
export interface SealingKey {
  /** Public name of the key, contained in every token it seals. Letters and digits. */
  readonly id: string;
  /** 32 bytes. */
  readonly secret: Uint8Array;
  /** False: opens old tokens but seals no new ones. */
  readonly seals: boolean;
}

/** Seals what was promised at a build into a token, and opens it at the submit. */
export interface TokenSealer {
  /** The opaque token of a build, for the account that asked for it. */
  seal(trade: SealedTrade, accountId: string): string;
  /**
   * The trade in a token of this account. A token of another account is indistinguishable from garbage.
   * @throws TradewireError INVALID_SUBMISSION_TOKEN
   */
  open(token: string, accountId: string): SealedTrade;
}

const PREFIX = "tw1";
const ALGORITHM = "aes-256-gcm";
const DAY_BYTES = 2;
const NONCE_BYTES = 12;
const HEAD_BYTES = DAY_BYTES + NONCE_BYTES;
const TAG_BYTES = 16;
const DAY_MS = 86_400_000;
const MAX_DAY_KEYS = 64;
const MAX_TOKEN_CHARACTERS = 8192;
/** Longest account id that is written without an allocation, in characters. */
const USUAL_ACCOUNT_ID = 64;
const CONTEXT = "tradewire/submission/v1";
/** Nonces drawn per call to the random source: one call serves many seals. */
const NONCES_PER_DRAW = 256;

interface SealerOptions {
  readonly keys: readonly SealingKey[];
  readonly genesisHash: string;
  readonly now: Now;
  /** Fills bytes with cryptographically strong random ones. */
  readonly fillRandom: (bytes: Uint8Array) => void;
}

/**
 * Seals submission tokens: `tw1.<key id>.<base64url(day ‖ nonce ‖ ciphertext ‖ tag)>` with AES-256-GCM. Each day has a key of
 * its own, derived from the master key, so that random nonces stay far below their limit. Network and account are bound as
 * additional data.
 *
 * @throws RangeError if no key of the ring seals
 */
export function createTokenSealer(options: SealerOptions): TokenSealer {
  return new KeyRing(options);
}

class KeyRing implements TokenSealer {
  readonly #ring: ReadonlyMap<string, RingKey>;
  readonly #sealing: RingKey;
  readonly #now: Now;
  readonly #nonces: NonceSource;
  /** Seals the usual tokens; undefined if the machine cannot. */
  readonly #streams: GcmStreams | undefined;
  /** The day whose key seals them. */
  #day: number | undefined;
  /** Buffers that every token is assembled in; nothing in them outlives a call. */
  readonly #plain: ByteWriter;
  readonly #payload = Buffer.alloc(MAX_TOKEN_CHARACTERS);

  constructor({ keys, genesisHash, now, fillRandom }: SealerOptions) {
    this.#ring = new Map(keys.map((key) => [key.id, new RingKey(key, genesisHash)]));
    const first = keys.find((key) => key.seals);
    const sealing = first && this.#ring.get(first.id);
    if (sealing === undefined) throw new RangeError("no key of the ring may seal");
    this.#sealing = sealing;
    this.#now = now;
    this.#nonces = new NonceSource(fillRandom);
    this.#streams = GcmStreams.open(fillRandom);
    this.#plain = this.#streams?.text ?? new ByteWriter();
  }

  seal(trade: SealedTrade, accountId: string): string {
    const day = Math.floor(this.#now() / DAY_MS);
    writeSealedTrade(this.#plain.clear(), trade);
    if (this.#streams !== undefined && day !== this.#day) {
      this.#streams.useKey(this.#sealing.dayKey(day), this.#sealing.network, this.#sealing.prefix);
      this.#day = day;
    }
    return this.#streams?.seal(day, accountId) ?? this.#sealByNode(day, accountId);
  }

  /** The token of the plain text in the buffer, sealed by a cipher of its own. */
  #sealByNode(day: number, accountId: string): string {
    const nonce = this.#nonces.next();
    const cipher = createCipheriv(ALGORITHM, this.#sealing.dayKey(day), nonce);
    cipher.setAAD(this.#sealing.boundTo(accountId));
    const body = cipher.update(this.#plain.finish());
    cipher.final();
    const payload = this.#payload;
    payload.writeUInt16LE(day, 0);
    payload.set(nonce, DAY_BYTES);
    payload.set(body, HEAD_BYTES);
    const end = HEAD_BYTES + body.length;
    payload.set(cipher.getAuthTag(), end);
    return this.#sealing.prefix + payload.toString("base64url", 0, end + TAG_BYTES);
  }

  open(token: string, accountId: string): SealedTrade {
    const [prefix, keyId, payloadText, ...rest] = token.length > MAX_TOKEN_CHARACTERS ? [] : token.split(".");
    const key = keyId === undefined ? undefined : this.#ring.get(keyId);
    if (prefix !== PREFIX || key === undefined || payloadText === undefined || rest.length > 0) throw invalidToken();
    const payload = Buffer.from(payloadText, "base64url");
    if (payload.length < HEAD_BYTES + TAG_BYTES || payload.toString("base64url") !== payloadText) throw invalidToken();
    const day = payload.readUInt16LE(0);
    // Most tokens are of the day and the key that seal now.
    const isUsual = day === this.#day && key === this.#sealing;
    const usual = isUsual ? this.#streams?.open(payload, accountId) : undefined;
    try {
      return decodeSealedTrade(usual ?? this.#openByNode(payload, key, day, accountId));
    } catch {
      throw invalidToken();
    }
  }

  /** The plain text of a token, opened by a cipher of its own. @throws Error if it is not authentic */
  #openByNode(payload: Buffer, key: RingKey, day: number, accountId: string): Uint8Array {
    const nonce = payload.subarray(DAY_BYTES, HEAD_BYTES);
    const decipher = createDecipheriv(ALGORITHM, key.dayKey(day), nonce);
    decipher.setAAD(key.boundTo(accountId));
    decipher.setAuthTag(payload.subarray(payload.length - TAG_BYTES));
    const body = payload.subarray(HEAD_BYTES, payload.length - TAG_BYTES);
    return concatBytes(decipher.update(body), decipher.final());
  }
}

/** A key of the ring and what is derived from it. */
class RingKey {
  /** The prefix of the tokens it seals. */
  readonly prefix: string;
  /** What binds tokens to the network; the account is written behind it. */
  readonly network: Uint8Array;
  readonly #secret: Uint8Array;
  readonly #dayKeys = new Map<number, KeyObject>();
  readonly #bound: Uint8Array;

  constructor({ id, secret }: SealingKey, genesisHash: string) {
    this.prefix = `${PREFIX}.${id}.`;
    this.#secret = secret;
    this.network = textBytes(`${CONTEXT}\n${id}\n${genesisHash}\n`);
    this.#bound = concatBytes(this.network, new Uint8Array(USUAL_ACCOUNT_ID));
  }

  /** The key of a day, as a key object: handing raw bytes to a cipher costs more than the encryption itself. */
  dayKey(day: number): KeyObject {
    let derived = this.#dayKeys.get(day);
    if (derived === undefined) {
      derived = createSecretKey(new Uint8Array(hkdfSync("sha256", this.#secret, "", `${CONTEXT}/day/${day}`, 32)));
      if (this.#dayKeys.size > MAX_DAY_KEYS) this.#dayKeys.clear();
      this.#dayKeys.set(day, derived);
    }
    return derived;
  }

  /** The additional data that binds tokens to the network and to an account. Valid until the next call. */
  boundTo(accountId: string): Uint8Array {
    const at = this.network.length;
    const isShort = accountId.length <= USUAL_ACCOUNT_ID;
    if (isShort && putAscii(this.#bound, at, accountId)) return this.#bound.subarray(0, at + accountId.length);
    return concatBytes(this.network, textBytes(accountId));
  }
}

const invalidToken = () =>
  new TradewireError(
    "INVALID_SUBMISSION_TOKEN",
    "The submission token belongs to another account, was changed, or was sealed with a key that the service no longer has. Send it exactly as the build returned it, with a key of the account that built. If it is old, the list of trades shows how its trade ended.",
    { field: "submissionToken" },
  );

/** Random nonces, drawn many at a time. */
class NonceSource {
  readonly #fill: (bytes: Uint8Array) => void;
  readonly #pool = new Uint8Array(NONCE_BYTES * NONCES_PER_DRAW);
  readonly #nonces = Array.from({ length: NONCES_PER_DRAW }, (_, place) =>
    this.#pool.subarray(place * NONCE_BYTES, (place + 1) * NONCE_BYTES),
  );
  #next = NONCES_PER_DRAW;

  constructor(fill: (bytes: Uint8Array) => void) {
    this.#fill = fill;
  }

  /** A nonce, valid until the next call. */
  next(): Uint8Array {
    if (this.#next === NONCES_PER_DRAW) {
      this.#fill(this.#pool);
      this.#next = 0;
    }
    return this.#nonces[this.#next++]!;
  }
}
