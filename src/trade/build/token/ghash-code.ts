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
  lookUp,
  modulo,
  onlyIf,
  repeatedWhile,
  set,
  shiftBytesDown,
  shiftBytesUp,
  splat,
  store,
  subtract,
  window,
  xor,
  ZERO,
} from "../../../primitives/wasm/wasm-code.ts";

export const BLOCK = 16;
const NIBBLES = 16;
/** Blocks that are hashed together, each multiplied by a power of the key of its own. */
export const GROUP = 4;
/** Of each byte of a power: the products of its upper half, of its lower half, and of the sum of both. */
const TABLES = 3;
const STEP_BYTES = GROUP * TABLES * NIBBLES;
/** Room for a key's products: from the last byte to the first, for each power from the highest to the lowest. Bytes. */
export const PRODUCT_BYTES = BLOCK * STEP_BYTES;

/** `1 + x + x^2 + x^7`, which equals `x^128` in the field. The highest bit of a byte stands for the lowest power. */
const FOLD = 0xe1;

/** Where the hash finds its state and the products of its key. Bytes, multiples of 16. */
interface HashPlaces {
  readonly state: number;
  readonly products: number;
}

/** The carry-less product of two numbers, the first of four bits. */
function carryless(a: number, b: number): number {
  let product = 0;
  for (let bit = 0; bit < 4; bit++) product ^= (b << bit) & -((a >> bit) & 1);
  return product;
}

/** Writes the products of a power of the key: of the first to the fourth, by its exponent. */
export function writeProducts(products: Uint8Array, power: Uint8Array, exponent: number): void {
  for (const [place, byte] of power.entries()) {
    const at = (BLOCK - 1 - place) * STEP_BYTES + (GROUP - exponent) * TABLES * NIBBLES;
    const [upper, lower] = [byte >> 4, byte & 0x0f];
    for (const [table, half] of [upper, lower, upper ^ lower].entries())
      for (let other = 0; other < NIBBLES; other++)
        products[at + table * NIBBLES + other] = carryless(other, half) << 1;
  }
}

/** What each half of a byte adds to that byte, or to the next one, when it is folded. */
const folded = (isUpper: boolean, toNext: boolean): Code =>
  bytes16(
    Array.from({ length: NIBBLES }, (_, half) => {
      const product = carryless(half, FOLD) << (isUpper ? 5 : 1);
      return toNext ? product & 0xff : product >> 8;
    }),
  );
const UPPER = { own: folded(true, false), next: folded(true, true) } as const;
const LOWER = { own: folded(false, false), next: folded(false, true) } as const;

const upperHalves = (value: Code): Code => shiftBytesDown(value, 4);
const lowerHalves = (value: Code): Code => and(value, splat(0x0f));
/** The lower and the upper half of 32 bytes that have all moved one place further. */
const movedLow = (low: Code): Code => window(ZERO, low, BLOCK - 1);
const movedHigh = (low: Code, high: Code): Code => window(low, high, BLOCK - 1);

const [AT, BLOCKS, STEP, COUNT] = [0, 1, 2, 3];
const STATE = 4;
const BLOCK_UPPER = [5, 6, 7, 8] as const;
const BLOCK_LOWER = [9, 10, 11, 12] as const;
/** The products of upper halves, of lower halves and of their sums, each of 32 bytes. */
const UPPERS = { low: 13, high: 14 } as const;
const LOWERS = { low: 15, high: 16 } as const;
const SUMS = { low: 17, high: 18 } as const;
const [OWN, NEXT] = [19, 20];
const VECTORS = 17;

/**
 * `hash(at, blocks)`: for each block, the state plus the block, times the key, in the field of the format.
 *
 * Four blocks at a time are multiplied by the fourth to the first power of the key. The product of two bytes is made of products of their
 * halves, which are looked up in vectors; the product of the sums of both halves stands for two of four (Karatsuba). Each step takes one
 * byte of each power. No branch and no address depends on what is hashed.
 *
 * @see NIST SP 800-38D, sections 6.3 and 6.4; M. Hamburg, "Accelerating AES with Vector Permute Instructions", for such look-ups
 */
export function hashBody({ state, products }: HashPlaces): Code {
  const steps = (body: Code): Code => [
    ...set(STEP, i32(products)),
    ...repeatedWhile(isLess(get(STEP), i32(products + PRODUCT_BYTES)), [
      body,
      ...set(STEP, add(get(STEP), i32(STEP_BYTES))),
    ]),
  ];
  // The first group has one to four blocks, so that all others have four.
  const group = [
    ...set(COUNT, add(modulo(subtract(get(BLOCKS), i32(1)), GROUP), i32(1))),
    ...BLOCK_UPPER.flatMap((_, index) => takeIn(index)),
    ...[UPPERS, LOWERS, SUMS].flatMap(({ low, high }) => [...set(low, ZERO), ...set(high, ZERO)]),
    ...steps([...accumulate(UPPERS, 0, BLOCK_UPPER), ...accumulate(LOWERS, 1, BLOCK_LOWER)]),
    ...BLOCK_UPPER.flatMap((upper, index) => set(upper, xor(get(upper), get(BLOCK_LOWER[index]!)))),
    ...steps(accumulate(SUMS, 2, BLOCK_UPPER)),
    ...join(),
    ...reduce(),
    ...set(BLOCKS, subtract(get(BLOCKS), get(COUNT))),
  ];
  const code = [
    ...set(STATE, load(i32(state))),
    ...repeatedWhile(isLess(i32(0), get(BLOCKS)), group),
    ...store(i32(state), get(STATE)),
  ];
  return functionBody(code, 2, VECTORS);
}

/** Takes the next block in if the group has one for this power, the first of them plus the state. Others stay zero. */
function takeIn(index: number): Code {
  return onlyIf(isLess(i32(GROUP - 1 - index), get(COUNT)), [
    ...set(OWN, xor(load(get(AT)), get(STATE))),
    ...set(BLOCK_UPPER[index]!, upperHalves(get(OWN))),
    ...set(BLOCK_LOWER[index]!, lowerHalves(get(OWN))),
    ...set(STATE, ZERO),
    ...set(AT, add(get(AT), i32(BLOCK))),
  ]);
}

/** Moves a sum one byte further and adds the products of the step's bytes. */
function accumulate(
  { low, high }: typeof UPPERS | typeof LOWERS | typeof SUMS,
  table: number,
  halves: readonly number[],
): Code {
  const looked = halves.map((half, power) => lookUp(load(get(STEP), (power * TABLES + table) * NIBBLES), get(half)));
  return [
    ...set(high, movedHigh(get(low), get(high))),
    // The sum is added last: until it is there, the processor looks products up.
    ...set(low, xor(xor(...looked), movedLow(get(low)))),
  ];
}

/** Adds the three sums at their places: lower halves stand four bits further than upper ones. */
function join(): Code {
  const middle = (half: "low" | "high") => set(SUMS[half], xor(get(SUMS[half]), get(UPPERS[half]), get(LOWERS[half])));
  const spill = (half: "low" | "high") => set(LOWERS[half], xor(get(LOWERS[half]), shiftBytesUp(get(SUMS[half]), 4)));
  const sum = (half: "low" | "high", moved: Code) =>
    set(UPPERS[half], xor(get(UPPERS[half]), upperHalves(get(SUMS[half])), moved));
  return [
    ...middle("low"),
    ...middle("high"),
    ...spill("low"),
    ...spill("high"),
    ...sum("high", movedHigh(get(LOWERS.low), get(LOWERS.high))),
    ...sum("low", movedLow(get(LOWERS.low))),
  ];
}

/** Makes the state of the sum: what lies beyond the field is folded, which reaches beyond it by seven bits again. */
function reduce(): Code {
  const fold = [
    ...set(
      OWN,
      xor(lookUp(UPPER.own, upperHalves(get(UPPERS.high))), lookUp(LOWER.own, lowerHalves(get(UPPERS.high)))),
    ),
    ...set(
      NEXT,
      xor(lookUp(UPPER.next, upperHalves(get(UPPERS.high))), lookUp(LOWER.next, lowerHalves(get(UPPERS.high)))),
    ),
    ...set(UPPERS.low, xor(get(UPPERS.low), get(OWN), movedLow(get(NEXT)))),
  ];
  return [...fold, ...set(UPPERS.high, window(get(NEXT), ZERO, BLOCK - 1)), ...fold, ...set(STATE, get(UPPERS.low))];
}
