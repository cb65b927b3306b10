/**
 * Instructions of WebAssembly, a stack machine, for code that needs whole 64-bit words: bytes, and instructions within instructions.
 *
 * @see https://webassembly.github.io/spec/core/binary/
 */
export type Code = readonly (number | Code)[];

const GET = 0x20;
const SET = 0x21;
const TEE = 0x22;
export const AND = 0x83;
export const OR = 0x84;
export const XOR = 0x85;
export const MUL = 0x7e;
const SHL = 0x86;
const SHR = 0x88;
const ROTL = 0x89;
export const I32_ADD = 0x6a;
const I32_SUB = 0x6b;
const [I32, I64] = [0x7f, 0x7e];

function unsigned(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return [...bytes, rest];
    bytes.push((rest & 0x7f) | 0x80);
  }
}

function signed(value: bigint): number[] {
  const bytes: number[] = [];
  for (let rest = BigInt.asIntN(64, value); ; rest >>= 7n) {
    const low = Number(rest & 0x7fn);
    if (rest >> 6n === 0n || rest >> 6n === -1n) return [...bytes, low];
    bytes.push(low | 0x80);
  }
}

export const get = (local: number): Code => [GET, ...unsigned(local)];
export const set = (local: number, value: Code): Code => [value, SET, ...unsigned(local)];
const tee = (local: number, value: Code): Code => [value, TEE, ...unsigned(local)];
export const i32 = (value: number): Code => [0x41, ...signed(BigInt(value))];
/** Memoized: a few constants are used hundreds of times. */
const constants = new Map<bigint, Code>();
export const i64 = (value: bigint): Code => {
  const known = constants.get(value);
  if (known !== undefined) return known;
  const code = [0x42, ...signed(value)];
  constants.set(value, code);
  return code;
};
export const two = (operation: number, a: Code, b: Code): Code => [a, b, operation];
export const all = (operation: number, first: Code, ...rest: readonly Code[]): Code =>
  rest.reduce((sum, one) => two(operation, sum, one), first);
export const shl = (value: Code, by: bigint): Code => two(SHL, value, i64(by));
export const shr = (value: Code, by: bigint): Code => two(SHR, value, i64(by));
export const load = (at: Code, offset = 0): Code => [at, 0x29, 3, ...unsigned(offset)];
export const store = (at: Code, value: Code, offset = 0): Code => [at, value, 0x37, 3, ...unsigned(offset)];

/** Exchanges neighbouring groups of `by` bits in the local. The mask selects the lower group of each pair. */
const exchange = (local: number, by: bigint, mask: bigint): Code =>
  set(local, two(OR, two(AND, shr(get(local), by), i64(mask)), shl(two(AND, get(local), i64(mask)), by)));
/** Reverses the bits of each byte in the local. */
const reverseInBytes = (local: number): Code => [
  ...exchange(local, 1n, 0x5555555555555555n),
  ...exchange(local, 2n, 0x3333333333333333n),
  ...exchange(local, 4n, 0x0f0f0f0f0f0f0f0fn),
];
/** Reverses the bytes in the local. */
export const reverseBytes = (local: number): Code => [
  ...exchange(local, 8n, 0x00ff00ff00ff00ffn),
  ...exchange(local, 16n, 0x0000ffff0000ffffn),
  ...set(local, two(ROTL, get(local), i64(32n))),
];
export const reverse = (local: number): Code => [...reverseInBytes(local), ...reverseBytes(local)];

/** Runs the body while counting the counter down to zero. */
export function repeated(counter: number, body: Code): Code {
  const [block, loop, none, br, brIf, end, eqz] = [0x02, 0x03, 0x40, 0x0c, 0x0d, 0x0b, 0x45];
  const count = tee(counter, two(I32_SUB, get(counter), i32(1)));
  // Not even once if the counter is zero.
  return [...[block, none, get(counter), eqz, brIf, 0], ...[loop, none, body, count, eqz, brIf, 1, br, 0, end, end]];
}

export function functionBody(code: Code, locals: number): Code {
  const declared = locals === 0 ? [0] : [1, ...unsigned(locals), I64];
  const bytes = bytesOf([declared, code, 0x0b]);
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
