import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import { ByteWriter } from "../../../primitives/byte-writer.ts";
import { putAscii } from "../../../primitives/bytes.ts";
import { ENCODED_BYTES } from "../../../primitives/encoding/base64-code.ts";
import { MEMORY, NONCE_BYTES, SealModule, TEXT_BLOCKS } from "./seal-module.ts";

const BLOCK = 16;
/** Room for the additional data, that of the key first, zero-padded. Bytes. */
const BOUND = MEMORY.free;
const BOUND_ROOM = 512;
/** As much room for the prefix, which is part of the additional data. */
const PREFIX_ROOM = BOUND_ROOM;
/** The state of the hash after the whole blocks of the additional data that all texts of the key share. */
const BEGUN = BOUND + BOUND_ROOM;
/** Before the text lies its unsealed head, the day and the nonce; after it the tag. */
const TEXT = BEGUN + 2 * BLOCK;
const TEXT_ROOM = 8_192;
const HEAD_BYTES = 2 + NONCE_BYTES;
const STREAMS_AT = TEXT + TEXT_ROOM;
/** Key streams drawn at a time. Bytes of each: one block for the tag, the rest for the text. */
const STREAMS = 32;
const STREAM_BYTES = TEXT_BLOCKS * BLOCK;
/** Draws of nonces per call to the random source: a call costs as much as drawing the streams. */
const DRAWS = 32;

/** The longest text that is sealed or opened. Bytes. */
const MOST_TEXT = STREAM_BYTES - BLOCK;
const NOTHING = new Uint8Array(0);
/** The key stream of the text that is being opened, and the tag that it should have. */
const OPENED_AT = STREAMS_AT + STREAMS * STREAM_BYTES;
const TAG_AT = OPENED_AT + STREAM_BYTES;
/** Where the text of a token begins, after room for its prefix. */
const TOKEN_AT = TAG_AT + BLOCK + PREFIX_ROOM;
const TOKEN_ROOM = 1_024;
/** What the cipher encrypts for the streams, and the nonces of many draws. */
const COUNTED_AT = TOKEN_AT + TOKEN_ROOM;
const NONCES_AT = COUNTED_AT + STREAMS * STREAM_BYTES;
const NONCES_BYTES = DRAWS * STREAMS * NONCE_BYTES;

/**
 * AES-256-GCM for many short texts with random nonces. A cipher of Node's serves one text, and its set-up and three buffers cost more than
 * the encryption. Here one cipher encrypts the counters of many nonces at a time, ahead of their texts, and those of a text to open.
 *
 * @see NIST SP 800-38D, algorithm 4, for nonces of 96 bits
 */
export class GcmStreams {
  readonly #module: SealModule;
  readonly #bytes: Buffer;
  readonly #words: Uint32Array;
  readonly #fillRandom: (bytes: Uint8Array) => void;
  readonly #nonces: Uint8Array;
  /** How many of the nonces have had their streams drawn. */
  #noncesDrawn = DRAWS * STREAMS;
  readonly #counted: Uint8Array;
  /** The nonce of a text to open, and what is encrypted for its stream. */
  readonly #openedNonce: Uint8Array;
  /** Encrypts single blocks (AES-256 in ECB mode). */
  #blocks: ReturnType<typeof createCipheriv> | undefined;
  #boundToAll = 0;
  #next = STREAMS;
  /** Where the caller writes the next text to seal. */
  readonly text: ByteWriter;
  /** Where the token begins, in one piece: a string concatenated from two would be copied before it is written. */
  #tokenAt = TOKEN_AT;

  private constructor(fillRandom: (bytes: Uint8Array) => void) {
    this.#module = new SealModule();
    const { buffer } = this.#module.memory;
    this.#bytes = Buffer.from(buffer);
    this.#words = new Uint32Array(buffer);
    this.#fillRandom = fillRandom;
    this.text = new ByteWriter(new Uint8Array(buffer, TEXT, TEXT_ROOM));
    this.#nonces = new Uint8Array(buffer, NONCES_AT, NONCES_BYTES);
    this.#counted = new Uint8Array(buffer, COUNTED_AT, STREAMS * STREAM_BYTES);
    this.#openedNonce = new Uint8Array(buffer, NONCES_AT + NONCES_BYTES, NONCE_BYTES);
  }

  /** Undefined if the machine cannot: texts are then sealed by Node's ciphers. */
  static open(fillRandom: (bytes: Uint8Array) => void): GcmStreams | undefined {
    try {
      const streams = new GcmStreams(fillRandom);
      return streams.#isRight() ? streams : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * Seals with this key from now on.
   *
   * @param bound additional data of every text, before that of its own
   * @param prefix ASCII text that every token begins with, not longer than `bound`
   */
  useKey(key: KeyObject, bound: Uint8Array, prefix = ""): void {
    this.#boundToAll = bound.length;
    if (bound.length > BOUND_ROOM) return;
    this.#tokenAt = TOKEN_AT - prefix.length;
    this.#bytes.write(prefix, this.#tokenAt, "latin1");
    const blocks = createCipheriv("aes-256-ecb", key, null).setAutoPadding(false);
    this.#module.useHashKey(blocks.update(new Uint8Array(BLOCK)));
    this.#bytes.fill(0, BOUND, BOUND + BOUND_ROOM).set(bound, BOUND);
    this.#module.hash(BOUND, bound.length >> 4);
    this.#words.copyWithin(BEGUN / 4, MEMORY.state / 4, MEMORY.state / 4 + 4);
    this.#blocks = blocks;
    this.#next = STREAMS;
  }

  /**
   * Seals what was written to `text`.
   *
   * @param head two bytes before the nonce, which are not sealed
   * @param owner the text's own additional data, ASCII
   * @returns the prefix, then head, nonce, sealed text and tag as base64url; undefined if the text or the owner is too long, or the owner
   * is not ASCII
   */
  seal(head: number, owner: string): string | undefined {
    const length = this.text.length;
    const bytes = this.#bytes;
    const bound = this.#boundToAll + owner.length;
    if (length > MOST_TEXT || bound > BOUND_ROOM || !putAscii(bytes, BOUND + this.#boundToAll, owner)) return undefined;
    if (this.#next === STREAMS) this.#draw();
    const stream = STREAMS_AT + STREAM_BYTES * this.#next;
    this.#putHead(head);
    this.#next += 1;
    const end = TEXT + length;
    this.#module.add(TEXT, TEXT, stream + BLOCK, (length + BLOCK - 1) >> 4);
    this.#putTag(end, length, bound, stream);
    return bytes.toString("latin1", this.#tokenAt, this.#encode(TEXT - HEAD_BYTES, end + BLOCK));
  }

  /**
   * Opens what was sealed with this key.
   *
   * @param sealed head, nonce, sealed text and tag
   * @param owner the additional data it must have been sealed with
   * @returns the text, valid until the next call; undefined if it is not authentic, or has a length that `seal` does not produce
   */
  open(sealed: Uint8Array, owner: string): Uint8Array | undefined {
    const length = sealed.length - HEAD_BYTES - BLOCK;
    const bytes = this.#bytes;
    const bound = this.#boundToAll + owner.length;
    const isUsual = length >= 0 && length <= MOST_TEXT && bound <= BOUND_ROOM;
    if (!isUsual || !putAscii(bytes, BOUND + this.#boundToAll, owner)) return undefined;
    bytes.set(sealed.subarray(HEAD_BYTES, HEAD_BYTES + length), TEXT);
    const blocks = (length + BLOCK - 1) >> 4;
    this.#drawFor(sealed.subarray(2, HEAD_BYTES), blocks);
    this.#putTag(TAG_AT, length, bound, OPENED_AT);
    if (!timingSafeEqual(bytes.subarray(TAG_AT, TAG_AT + BLOCK), sealed.subarray(HEAD_BYTES + length)))
      return undefined;
    this.#module.add(TEXT, TEXT, OPENED_AT + BLOCK, blocks);
    return new Uint8Array(bytes.buffer, TEXT, length);
  }

  /** Writes the tag of the sealed text at `TEXT`, whose key stream begins at `stream`. */
  #putTag(to: number, length: number, bound: number, stream: number): void {
    const bytes = this.#bytes;
    const { hash, add } = this.#module;
    const blocks = (length + BLOCK - 1) >> 4;
    const padded = TEXT + blocks * BLOCK;
    for (let at = TEXT + length; at < padded; at++) bytes[at] = 0;
    this.#putLengths(padded, bound, length);
    for (let at = BOUND + bound; (at & (BLOCK - 1)) !== 0; at++) bytes[at] = 0;
    this.#begin();
    const whole = this.#boundToAll >> 4;
    hash(BOUND + whole * BLOCK, ((bound + BLOCK - 1) >> 4) - whole);
    hash(TEXT, blocks + 1);
    add(to, MEMORY.state, stream, 1);
  }

  /** Writes the bytes between two places after the token's prefix, as base64url. @returns its end */
  #encode(from: number, to: number): number {
    // The last character may stand for bits beyond the last byte.
    this.#bytes[to] = 0;
    this.#bytes[to + 1] = 0;
    this.#module.encode(TOKEN_AT, from, Math.ceil((to - from) / ENCODED_BYTES));
    return TOKEN_AT + Math.ceil(((to - from) * 4) / 3);
  }

  /** Writes the day and the nonce before the text. */
  #putHead(head: number): void {
    const words = this.#words;
    const from = NONCES_AT / 4 + 3 * (this.#noncesDrawn - STREAMS + this.#next);
    for (let word = 0; word < 3; word++) words[TEXT / 4 - 3 + word] = words[from + word]!;
    this.#bytes[TEXT - HEAD_BYTES] = head;
    this.#bytes[TEXT - HEAD_BYTES + 1] = head >>> 8;
  }

  /** Writes the lengths in bits: the last block hashed. */
  #putLengths(at: number, bound: number, length: number): void {
    const words = this.#words;
    words[at / 4] = 0;
    words[at / 4 + 1] = highestFirst(8 * bound);
    words[at / 4 + 2] = 0;
    words[at / 4 + 3] = highestFirst(8 * length);
  }

  #begin(): void {
    const words = this.#words;
    for (let word = 0; word < 4; word++) words[MEMORY.state / 4 + word] = words[BEGUN / 4 + word]!;
  }

  /** Draws nonces and their key streams. */
  #draw(): void {
    if (this.#noncesDrawn === DRAWS * STREAMS) {
      this.#fillRandom(this.#nonces);
      this.#noncesDrawn = 0;
    }
    this.#module.count(COUNTED_AT, NONCES_AT + NONCE_BYTES * this.#noncesDrawn, STREAMS);
    this.#bytes.set(this.#blocks!.update(this.#counted), STREAMS_AT);
    this.#noncesDrawn += STREAMS;
    this.#next = 0;
  }

  /** Draws the key stream of one nonce, for the tag and so many blocks of text. */
  #drawFor(nonce: Uint8Array, blocks: number): void {
    this.#openedNonce.set(nonce);
    this.#module.count(COUNTED_AT, NONCES_AT + NONCES_BYTES, 1);
    this.#bytes.set(this.#blocks!.update(this.#counted.subarray(0, BLOCK * (1 + blocks))), OPENED_AT);
  }

  /** True if a sample sealed here opens both here and with Node's cipher. */
  #isRight(): boolean {
    const key = createSecretKey(new Uint8Array(32).fill(1));
    const network = new Uint8Array(21).fill(2);
    const plain = new Uint8Array(77).fill(3);
    this.useKey(key, network);
    this.text.clear().bytes(plain);
    const sealed = Buffer.from(this.seal(4, "owner") ?? "", "base64url");
    const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(2, HEAD_BYTES));
    decipher.setAAD(Buffer.concat([network, Buffer.from("owner")])).setAuthTag(sealed.subarray(-BLOCK));
    const byNode = Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES, -BLOCK)), decipher.final()]);
    return byNode.equals(plain) && byNode.equals(this.open(sealed, "owner") ?? NOTHING);
  }
}

/** A number below 2^32 as the word that holds its bytes in reverse order. */
function highestFirst(value: number): number {
  return ((value & 0xff) << 24) | ((value & 0xff00) << 8) | ((value >>> 8) & 0xff00) | (value >>> 24);
}
