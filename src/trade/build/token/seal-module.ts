import { base64Body, base64Constants, CONSTANT_BYTES } from "../../../primitives/encoding/base64-code.ts";
import {
  add,
  and,
  bytes16,
  type Code,
  functionBody,
  get,
  i32,
  isLess,
  load,
  moduleOf,
  or,
  repeatedWhile,
  set,
  store,
  subtract,
  xor,
} from "../../../primitives/wasm/wasm-code.ts";
import { BLOCK, GROUP, hashBody, PRODUCT_BYTES, writeProducts } from "./ghash-code.ts";

export const NONCE_BYTES = 12;
/** Blocks of a text's key stream: the first is for its tag. */
export const TEXT_BLOCKS = 33;
const NONCE_MASK = Array.from({ length: BLOCK }, (_, place) => (place < NONCE_BYTES ? 0xff : 0));

/** Where things lie in the module's memory, which is one page. Bytes; all multiples of 16. */
export const MEMORY = {
  /** The state of the hash. */
  state: 0,
  /** Of the code that writes base64url. */
  constants: BLOCK,
  products: BLOCK + CONSTANT_BYTES,
  /** The counters of a text's blocks, highest byte first, behind room for a nonce each. */
  counters: BLOCK + CONSTANT_BYTES + PRODUCT_BYTES,
  /** Where the caller's memory begins. */
  free: BLOCK + CONSTANT_BYTES + PRODUCT_BYTES + TEXT_BLOCKS * BLOCK,
} as const;

interface Functions {
  readonly memory: WebAssembly.Memory;
  readonly hash: (at: number, blocks: number) => void;
  readonly add: (to: number, one: number, other: number, blocks: number) => void;
  readonly encode: (to: number, from: number, count: number) => void;
  readonly count: (to: number, nonces: number, texts: number) => void;
}

/** Parameters and code of each function. */
const FUNCTIONS = [
  { name: "hash", parameters: 2, body: () => hashBody(MEMORY) },
  { name: "add", parameters: 4, body: addBody },
  { name: "encode", parameters: 3, body: () => base64Body(MEMORY.constants) },
  { name: "count", parameters: 3, body: countBody },
] as const;

/** `add(to, one, other, blocks)`: the sums of blocks, bit by bit. */
function addBody(): Code {
  const [to, one, other, blocks] = [0, 1, 2, 3];
  const each = [
    ...store(get(to), xor(load(get(one)), load(get(other)))),
    ...[to, one, other].flatMap((place) => set(place, add(get(place), i32(BLOCK)))),
    ...set(blocks, subtract(get(blocks), i32(1))),
  ];
  return functionBody(repeatedWhile(isLess(i32(0), get(blocks)), each), 0, 0);
}

/** `count(to, nonces, texts)`: nonce and counter of each block of so many texts. */
function countBody(): Code {
  const [to, nonces, texts, counter, nonce, mask] = [0, 1, 2, 3, 4, 5];
  const each = [
    ...set(nonce, and(load(get(nonces)), get(mask))),
    ...set(counter, i32(MEMORY.counters)),
    ...repeatedWhile(isLess(get(counter), i32(MEMORY.counters + TEXT_BLOCKS * BLOCK)), [
      ...store(get(to), or(get(nonce), load(get(counter)))),
      ...[to, counter].flatMap((place) => set(place, add(get(place), i32(BLOCK)))),
    ]),
    ...set(nonces, add(get(nonces), i32(NONCE_BYTES))),
    ...set(texts, subtract(get(texts), i32(1))),
  ];
  const code = [...set(mask, bytes16(NONCE_MASK)), ...repeatedWhile(isLess(i32(0), get(texts)), each)];
  return functionBody(code, 1, 2);
}

let compiled: WebAssembly.Module | undefined;

/** What sealing a token does with its bytes, on vectors of 16 of them, in memory of its own. */
export class SealModule {
  readonly memory: WebAssembly.Memory;
  /** Hashes `blocks` blocks from `at` on into the state of GHASH, which has the format's order of bytes. */
  readonly hash: Functions["hash"];
  /** Writes the sums of the blocks at `one` and at `other`, bit by bit, to `to`, which may be one of them. */
  readonly add: Functions["add"];
  /** Writes the base64url of twelve bytes, `count` times, to `to`: sixteen characters each. Reads four bytes beyond them. */
  readonly encode: Functions["encode"];
  /** Writes what a cipher encrypts for the key streams of `texts` texts, whose nonces stand one after another at `nonces`. Reads four bytes beyond them. */
  readonly count: Functions["count"];
  readonly #bytes: Uint8Array;

  /** @throws Error if the machine has no WebAssembly with vectors, or no room for it */
  constructor() {
    compiled ??= new WebAssembly.Module(moduleOf(FUNCTIONS));
    const { memory, hash, add, encode, count } = new WebAssembly.Instance(compiled).exports as unknown as Functions;
    this.memory = memory;
    this.hash = hash;
    this.add = add;
    this.encode = encode;
    this.count = count;
    this.#bytes = new Uint8Array(memory.buffer);
    this.#bytes.set(base64Constants("-_"), MEMORY.constants);
    const view = new DataView(memory.buffer);
    for (let block = 0; block < TEXT_BLOCKS; block++)
      view.setUint32(MEMORY.counters + block * BLOCK + NONCE_BYTES, 1 + block);
  }

  /**
   * Hashes with this key from now on, beginning with no block. Overwrites one block of the caller's memory.
   *
   * @param key AES of the zero block
   */
  useHashKey(key: Uint8Array): void {
    const products = this.#bytes.subarray(MEMORY.products, MEMORY.counters);
    const state = this.#bytes.subarray(MEMORY.state, MEMORY.state + BLOCK);
    products.fill(0);
    for (let power = key, exponent = 1; exponent <= GROUP; exponent++) {
      writeProducts(products, power, exponent);
      // The hash of one block is the block times the key, of a power the next one.
      this.#bytes.set(power, MEMORY.free);
      state.fill(0);
      this.hash(MEMORY.free, 1);
      power = state.slice();
    }
    state.fill(0);
  }
}
