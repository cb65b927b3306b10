import {
  add,
  addBytes,
  and,
  areGreater,
  type Code,
  excessBytes,
  functionBody,
  get,
  i32,
  isLess,
  load,
  lookUp,
  or,
  repeatedWhile,
  set,
  shiftWordsDown,
  shiftWordsUp,
  store,
  subtract,
} from "../wasm/wasm-code.ts";

/** So many bytes become so many characters. */
export const ENCODED_BYTES = 12;
const CHARACTERS = 16;
const LANES = 16;
/** A place where nothing is looked up. */
const NOTHING = 0x80;

/** What is added to six bits to give their character: for small letters, ten digits, the last two and capital letters. */
const [CAPITALS, SMALL, DIGITS] = [26, 52, 10] as const;
const CAPITAL_PLACE = DIGITS + 3;
const distance = (character: string, value: number) => (character.charCodeAt(0) - value) & 0xff;
const distancesOf = (lastTwo: string): number[] => [
  distance("a", CAPITALS),
  ...new Array<number>(DIGITS).fill(distance("0", SMALL)),
  distance(lastTwo[0]!, SMALL + DIGITS),
  distance(lastTwo[1]!, SMALL + DIGITS + 1),
  distance("A", 0),
  0,
  0,
];

const splat = (byte: number) => new Array<number>(LANES).fill(byte);
/** Each word of 32 bits, its lowest byte first. */
const words = (word: number) => Array.from({ length: LANES }, (_, lane) => (word >>> (8 * (lane & 3))) & 0xff);

/** Room for the vectors that the code finds in memory: in the code itself, they would be made anew for every twelve bytes. */
export const CONSTANT_BYTES = 8 * LANES;

/** These vectors. @param lastTwo of the alphabet: "+/" for base64, "-_" for base64url */
export function base64Constants(lastTwo: "+/" | "-_"): Uint8Array {
  return Uint8Array.from([
    // The three bytes of each word, the first of them the highest.
    ...[0, 3, 6, 9].flatMap((first) => [first + 2, first + 1, first, NOTHING]),
    ...words(0x3f00),
    ...words(0x3f_0000),
    ...words(0x3f00_0000),
    ...splat(SMALL - 1),
    ...splat(CAPITALS),
    ...splat(CAPITAL_PLACE),
    ...distancesOf(lastTwo),
  ]);
}

const [TO, FROM, COUNT, VALUE, PLACES] = [0, 1, 2, 3, 4];
const [TRIPLES, SECOND, THIRD, FOURTH, BEFORE_DIGITS, FIRST_SMALL, CAPITAL, DISTANCES] = [5, 6, 7, 8, 9, 10, 11, 12];
const FIRST_CONSTANT = TRIPLES;
const VECTORS = 10;

/**
 * `encode(to, from, count)`: `count` times twelve bytes to sixteen characters. It reads four bytes beyond the last ones.
 *
 * @param constants where the vectors of `base64Constants` are
 */
export function base64Body(constants: number): Code {
  const each = [
    ...set(VALUE, lookUp(load(get(FROM)), get(TRIPLES))),
    ...set(
      VALUE,
      or(
        shiftWordsDown(get(VALUE), 18),
        and(shiftWordsDown(get(VALUE), 4), get(SECOND)),
        and(shiftWordsUp(get(VALUE), 10), get(THIRD)),
        and(shiftWordsUp(get(VALUE), 24), get(FOURTH)),
      ),
    ),
    ...set(
      PLACES,
      or(excessBytes(get(VALUE), get(BEFORE_DIGITS)), and(areGreater(get(FIRST_SMALL), get(VALUE)), get(CAPITAL))),
    ),
    ...store(get(TO), addBytes(get(VALUE), lookUp(get(DISTANCES), get(PLACES)))),
    ...set(FROM, add(get(FROM), i32(ENCODED_BYTES))),
    ...set(TO, add(get(TO), i32(CHARACTERS))),
    ...set(COUNT, subtract(get(COUNT), i32(1))),
  ];
  const prepare = Array.from({ length: CONSTANT_BYTES / LANES }, (_, index) =>
    set(FIRST_CONSTANT + index, load(i32(constants), index * LANES)),
  );
  return functionBody([...prepare, ...repeatedWhile(isLess(i32(0), get(COUNT)), each)], 0, VECTORS);
}
