import {
  add,
  addBytes,
  and,
  areGreater,
  bytes16,
  type Code,
  excessBytes,
  functionBody,
  get,
  i32,
  isLess,
  load,
  lookUp,
  or,
  pick,
  repeatedWhile,
  set,
  shiftWordsDown,
  shiftWordsUp,
  splat,
  store,
  subtract,
  words,
  ZERO,
} from "./wasm-code.ts";

/** Bytes that become sixteen characters. */
const SOURCE = 12;
const CHARACTERS = 16;
/** A place of a vector of zeros, if it is the second of two. */
const NOTHING = 16;
/** The three bytes of each word, the first of them the highest. */
const TRIPLES = [0, 3, 6, 9].flatMap((first) => [first + 2, first + 1, first, NOTHING]);

/** What is added to six bits to give their character: for small letters, ten digits, `-`, `_` and capital letters. */
const [CAPITALS, SMALL, DIGITS] = [26, 52, 10] as const;
const CAPITAL_PLACE = DIGITS + 3;
const distance = (character: string, value: number) => (character.charCodeAt(0) - value) & 0xff;
const DISTANCES = [
  distance("a", CAPITALS),
  ...new Array<number>(DIGITS).fill(distance("0", SMALL)),
  distance("-", SMALL + DIGITS),
  distance("_", SMALL + DIGITS + 1),
  distance("A", 0),
  0,
  0,
];

/** `encode(to, from, count)`: as base64url, `count` times twelve bytes to sixteen characters. It reads four bytes beyond the last ones. */
export function base64Body(): Code {
  const [to, from, count, value, places] = [0, 1, 2, 3, 4];
  const each = [
    ...set(value, pick(load(get(from)), ZERO, TRIPLES)),
    ...set(
      value,
      or(
        shiftWordsDown(get(value), 18),
        and(shiftWordsDown(get(value), 4), words(0x3f00)),
        and(shiftWordsUp(get(value), 10), words(0x3f_0000)),
        and(shiftWordsUp(get(value), 24), words(0x3f00_0000)),
      ),
    ),
    ...set(
      places,
      or(excessBytes(get(value), splat(SMALL - 1)), and(areGreater(splat(CAPITALS), get(value)), splat(CAPITAL_PLACE))),
    ),
    ...store(get(to), addBytes(get(value), lookUp(bytes16(DISTANCES), get(places)))),
    ...set(from, add(get(from), i32(SOURCE))),
    ...set(to, add(get(to), i32(CHARACTERS))),
    ...set(count, subtract(get(count), i32(1))),
  ];
  return functionBody(repeatedWhile(isLess(i32(0), get(count)), each), 0, 2);
}
