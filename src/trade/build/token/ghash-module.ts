import {
  AND,
  all,
  type Code,
  functionBody,
  get,
  I32_ADD,
  i32,
  i64,
  load,
  MUL,
  moduleOf,
  OR,
  repeated,
  reverse,
  reverseBytes,
  set,
  shl,
  shr,
  store,
  two,
  XOR,
} from "./wasm-code.ts";

/** Where things lie in the module's memory, which is one page. Bytes; all multiples of 16. */
export const MEMORY = {
  /** The key of the hash: AES of the zero block. */
  key: 0,
  /** The state of the hash: its two halves. */
  state: 16,
  /** Where the caller's memory begins. */
  free: 32,
  end: 65_536,
} as const;

/** The functions of the module. */
export interface Ghash {
  readonly memory: WebAssembly.Memory;
  /** Hashes `blocks` blocks of 16 bytes from `at` on into the state. */
  readonly hash: (at: number, blocks: number) => void;
  /** Adds the 16-byte blocks at `from` to those at `to`, bit by bit. */
  readonly add: (to: number, from: number, blocks: number) => void;
  /** Writes the state to `to`, as the format has it, with the block at `mask` added. */
  readonly finish: (to: number, mask: number) => void;
}

/** Masks of every fourth bit, starting with the first, second, third and fourth. */
const HOLES = [0x1111111111111111n, 0x2222222222222222n, 0x4444444444444444n, 0x8888888888888888n] as const;
const PLACES = [0, 1, 2, 3] as const;

/** Spreads the bits of a local over four locals from `to` on, every fourth bit in each. */
const spread = (from: number, to: number): Code =>
  PLACES.flatMap((place) => [...set(to + place, two(AND, get(from), i64(HOLES[place])))]);

/**
 * The lower half of the carry-less product of two spread numbers. Three empty bits between any two keep the carries of an ordinary product
 * apart.
 */
const product = (a: number, b: number): Code => {
  const parts = PLACES.map((place) => {
    const terms = PLACES.map((of) => two(MUL, get(a + of), get(b + ((place - of + 4) & 3))));
    return two(AND, all(XOR, terms[0]!, ...terms.slice(1)), i64(HOLES[place]));
  });
  return all(OR, parts[0]!, ...parts.slice(1));
};

/**
 * `hash`: for each block, the state plus the block times the key, in the field of the format.
 *
 * Halves of 64 bits are multiplied with Karatsuba's method; the upper half of a product is the reversed lower half of the product of the
 * reversed numbers. No branch and no address depends on what is hashed.
 *
 * @see NIST SP 800-38D, sections 6.3 and 6.4; T. Pornin, https://www.bearssl.org/constanttime.html#ghash-for-gcm
 */
function hashBody(): Code {
  const [at, blocks] = [0, 1];
  let next = 2;
  const locals = (count: number) => {
    next += count;
    return next - count;
  };
  const [low, high, lowR, highR] = [locals(1), locals(1), locals(1), locals(1)];
  const scratch = locals(1);
  const spreadY = locals(4);
  const keys = Array.from({ length: 6 }, () => locals(4));
  const products = Array.from({ length: 6 }, () => locals(1));
  const [p0, p1, p2, q0, q1, q2] = products as [number, number, number, number, number, number];
  const [v0, v1, v2, v3] = [locals(1), locals(1), locals(1), locals(1)];
  const declared = next - 2;

  const reversed = (from: number, to: number): Code => [...set(to, get(from)), ...reverse(to)];
  /** The key's halves and their sum, and the same bit-reversed. */
  const keyPart = (index: number, value: Code): Code => [...set(scratch, value), ...spread(scratch, keys[index]!)];
  const state = i32(MEMORY.state);
  const key = i32(MEMORY.key);
  const prepare = [
    ...set(high, load(key)),
    ...reverseBytes(high),
    ...set(low, load(key, 8)),
    ...reverseBytes(low),
    ...reversed(high, highR),
    ...reversed(low, lowR),
    ...keyPart(0, get(low)),
    ...keyPart(1, get(high)),
    ...keyPart(2, two(XOR, get(low), get(high))),
    ...keyPart(3, get(lowR)),
    ...keyPart(4, get(highR)),
    ...keyPart(5, two(XOR, get(lowR), get(highR))),
    ...set(high, load(state)),
    ...set(low, load(state, 8)),
  ];
  const multiply = (index: number, value: Code): Code => [
    ...set(scratch, value),
    ...spread(scratch, spreadY),
    ...set(products[index]!, product(spreadY, keys[index]!)),
  ];
  const upper = (local: number): Code => [...reverse(local), ...set(local, shr(get(local), 1n))];
  /** Reduces a half beyond the field: adds its equivalent to the halves two and one places above. */
  const fold = (from: number, middle: number, top: number): Code => [
    ...set(top, all(XOR, get(top), get(from), shr(get(from), 1n), shr(get(from), 2n), shr(get(from), 7n))),
    ...set(middle, all(XOR, get(middle), shl(get(from), 63n), shl(get(from), 62n), shl(get(from), 57n))),
  ];
  const each = [
    ...set(scratch, load(get(at))),
    ...reverseBytes(scratch),
    ...set(high, two(XOR, get(high), get(scratch))),
    ...set(scratch, load(get(at), 8)),
    ...reverseBytes(scratch),
    ...set(low, two(XOR, get(low), get(scratch))),
    ...reversed(high, highR),
    ...reversed(low, lowR),
    ...multiply(0, get(low)),
    ...multiply(1, get(high)),
    ...multiply(2, two(XOR, get(low), get(high))),
    ...multiply(3, get(lowR)),
    ...multiply(4, get(highR)),
    ...multiply(5, two(XOR, get(lowR), get(highR))),
    ...set(p2, all(XOR, get(p2), get(p0), get(p1))),
    ...set(q2, all(XOR, get(q2), get(q0), get(q1))),
    ...upper(q0),
    ...upper(q1),
    ...upper(q2),
    ...set(v1, two(XOR, get(q0), get(p2))),
    ...set(v2, two(XOR, get(p1), get(q2))),
    // The product has 255 bits; in the format they stand one bit higher.
    ...set(v3, two(OR, shl(get(q1), 1n), shr(get(v2), 63n))),
    ...set(v2, two(OR, shl(get(v2), 1n), shr(get(v1), 63n))),
    ...set(v1, two(OR, shl(get(v1), 1n), shr(get(p0), 63n))),
    ...set(v0, shl(get(p0), 1n)),
    ...fold(v0, v1, v2),
    ...fold(v1, v2, v3),
    ...set(low, get(v2)),
    ...set(high, get(v3)),
    ...set(at, two(I32_ADD, get(at), i32(16))),
  ];
  const finish = [...store(state, get(high)), ...store(state, get(low), 8)];
  return functionBody([...prepare, ...repeated(blocks, each), ...finish], declared);
}

/** `add`: one block to another, bit by bit. */
function addBody(): Code {
  const [to, from, blocks] = [0, 1, 2];
  const half = (offset: number): Code =>
    store(get(to), two(XOR, load(get(to), offset), load(get(from), offset)), offset);
  const each = [
    ...half(0),
    ...half(8),
    ...set(to, two(I32_ADD, get(to), i32(16))),
    ...set(from, two(I32_ADD, get(from), i32(16))),
  ];
  return functionBody(repeated(blocks, each), 0);
}

/** `finish`: writes the state in the byte order of the format. */
function finishBody(): Code {
  const [to, mask, half] = [0, 1, 2];
  const state = i32(MEMORY.state);
  const write = (offset: number): Code => [
    ...set(half, load(state, offset)),
    ...reverseBytes(half),
    ...store(get(to), two(XOR, get(half), load(get(mask), offset)), offset),
  ];
  return functionBody([...write(0), ...write(8)], 1);
}

/** Parameters and code of each function. */
const FUNCTIONS = [
  { name: "hash", parameters: 2, body: hashBody },
  { name: "add", parameters: 3, body: addBody },
  { name: "finish", parameters: 2, body: finishBody },
] as const;

let compiled: WebAssembly.Module | undefined;

/** The hash of AES-GCM, with memory of its own. @throws Error if the machine has no WebAssembly, or no room for it */
export function openGhash(): Ghash {
  compiled ??= new WebAssembly.Module(moduleOf(FUNCTIONS));
  return new WebAssembly.Instance(compiled).exports as unknown as Ghash;
}
