/**
 * Instructions of WebAssembly, a stack machine, for code that works on vectors of 16 bytes: bytes, and instructions within
 * instructions.
 *
 * @see https://webassembly.github.io/spec/core/binary/
 */
export type Code = readonly (number | Code)[];

const GET = 0x20;
const SET = 0x21;
const I32_ADD = 0x6a;
const I32_SUB = 0x6b;
const I32_AND = 0x71;
const I32_LESS = 0x49;
const [I32, V128] = [0x7f, 0x7b];
const VECTOR = 0xfd;
/** An address of 16 bytes has no stricter alignment. */
const ALIGNED = 4;
const LANES = 16;

function unsigned(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return [...bytes, rest];
    bytes.push((rest & 0x7f) | 0x80);
  }
}

function signed(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7) {
    const low = rest & 0x7f;
    if (rest >> 6 === 0 || rest >> 6 === -1) return [...bytes, low];
    bytes.push(low | 0x80);
  }
}

const vector = (operation: number, ...operands: readonly Code[]): Code => [...operands, VECTOR, ...unsigned(operation)];

export const get = (local: number): Code => [GET, ...unsigned(local)];
export const set = (local: number, value: Code): Code => [value, SET, ...unsigned(local)];
export const i32 = (value: number): Code => [0x41, ...signed(value)];
export const add = (a: Code, b: Code): Code => [a, b, I32_ADD];
export const subtract = (a: Code, b: Code): Code => [a, b, I32_SUB];
export const modulo = (a: Code, powerOfTwo: number): Code => [a, i32(powerOfTwo - 1), I32_AND];
/** Of numbers without signs. */
export const isLess = (a: Code, b: Code): Code => [a, b, I32_LESS];

export const load = (at: Code, offset = 0): Code => [vector(0, at), ALIGNED, ...unsigned(offset)];
export const store = (at: Code, value: Code, offset = 0): Code => [vector(11, at, value), ALIGNED, ...unsigned(offset)];
/** A vector of these bytes. */
export const bytes16 = (bytes: readonly number[]): Code => [vector(12), ...bytes];
/** A vector of one byte sixteen times. */
export const splat = (byte: number): Code => bytes16(new Array<number>(LANES).fill(byte));
export const ZERO = splat(0);
/** The bytes at these places of 32, those of `a` before those of `b`. */
export const pick = (a: Code, b: Code, places: readonly number[]): Code => [vector(13, a, b), ...places];
/** Sixteen neighbours of 32 bytes, from place `from` on. */
export const window = (a: Code, b: Code, from: number): Code =>
  pick(
    a,
    b,
    Array.from({ length: LANES }, (_, lane) => from + lane),
  );
/** The bytes of `table` at the places that `places` names: each below 16, or 128 for none. On others machines disagree. */
export const lookUp = (table: Code, places: Code): Code => vector(0x100, table, places);
export const and = (a: Code, b: Code): Code => vector(78, a, b);
export const or = (...all: readonly Code[]): Code => all.reduce((sum, one) => vector(80, sum, one));
export const xor = (...all: readonly Code[]): Code => all.reduce((sum, one) => vector(81, sum, one));
/** Each byte by itself, by as many bits. */
export const shiftBytesUp = (value: Code, by: number): Code => vector(107, value, i32(by));
export const shiftBytesDown = (value: Code, by: number): Code => vector(109, value, i32(by));

/** Each byte by itself: the sum, the difference or zero if it is negative, and all bits if `a` is the greater one (with signs). */
export const addBytes = (a: Code, b: Code): Code => vector(110, a, b);
export const excessBytes = (a: Code, b: Code): Code => vector(115, a, b);
export const areGreater = (a: Code, b: Code): Code => vector(39, a, b);
/** Each word of 32 bits by itself, its lowest byte first. */
export const shiftWordsUp = (value: Code, by: number): Code => vector(171, value, i32(by));
export const shiftWordsDown = (value: Code, by: number): Code => vector(173, value, i32(by));

/** Runs the body while the condition holds; not even once if it does not. */
export function repeatedWhile(condition: Code, body: Code): Code {
  const [loop, none, brIf, end] = [0x03, 0x40, 0x0d, 0x0b];
  return onlyIf(condition, [loop, none, body, condition, brIf, 0, end]);
}

/** Runs the body if the condition holds. */
export function onlyIf(condition: Code, body: Code): Code {
  return [condition, 0x04, 0x40, body, 0x0b];
}

/** @param numbers of 32 bits among the locals, which come first; then `vectors` */
export function functionBody(code: Code, numbers: number, vectors: number): Code {
  const kinds = [
    [...unsigned(numbers), I32],
    [...unsigned(vectors), V128],
  ];
  const bytes = bytesOf([kinds.length, ...kinds, code, 0x0b]);
  return [...unsigned(bytes.length), bytes];
}

function bytesOf(code: Code, bytes: number[] = []): number[] {
  for (const part of code) {
    if (typeof part === "number") bytes.push(part);
    else bytesOf(part, bytes);
  }
  return bytes;
}

const list = (items: readonly Code[]): Code => [...unsigned(items.length), ...items];
const section = (id: number, content: Code): Code => {
  const bytes = bytesOf(content);
  return [id, ...unsigned(bytes.length), bytes];
};
const text = (value: string): number[] => [value.length, ...[...value].map((letter) => letter.charCodeAt(0))];
const type = (parameters: number): Code => [0x60, parameters, ...new Array<number>(parameters).fill(I32), 0];

/** A function that takes this many 32-bit numbers and returns nothing. */
interface ExportedFunction {
  readonly name: string;
  readonly parameters: number;
  readonly body: () => Code;
}

/** A module of functions, with one page of memory. */
export function moduleOf(functions: readonly ExportedFunction[]): Uint8Array<ArrayBuffer> {
  const exported = functions.map(({ name }, index) => [...text(name), 0, index]);
  const sections = [
    section(1, list(functions.map(({ parameters }) => type(parameters)))),
    section(3, list(functions.map((_, index) => [index]))),
    section(5, list([[1, 1, 1]])),
    section(7, list([[...text("memory"), 2, 0], ...exported])),
    section(10, list(functions.map(({ body }) => body()))),
  ];
  return Uint8Array.from(bytesOf([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...sections]));
}
