import { expect, test } from "vitest";
import { createRandom } from "../../../primitives/random.ts";
import { MEMORY, SealModule } from "./seal-module.ts";

const random = createRandom(7);
const BLOCK = 16;
const AT = MEMORY.free + 64;

/** A block as the number that it stands for: its first bit is the highest. */
const numberOf = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);

/** NIST SP 800-38D, algorithm 1. */
function product(x: bigint, y: bigint): bigint {
  let sum = 0n;
  let shifted = y;
  for (let bit = 127n; bit >= 0n; bit--) {
    if (((x >> bit) & 1n) === 1n) sum ^= shifted;
    shifted = (shifted & 1n) === 1n ? (shifted >> 1n) ^ (0xe1n << 120n) : shifted >> 1n;
  }
  return sum;
}

test("hashes any number of blocks, from any state on, as the standard has it", () => {
  const module = new SealModule();
  const bytes = new Uint8Array(module.memory.buffer);
  const stateOf = () => numberOf(bytes.subarray(MEMORY.state, MEMORY.state + BLOCK));
  for (let round = 0; round < 40; round++) {
    const key =
      round === 0 ? new Uint8Array(BLOCK) : round === 1 ? new Uint8Array(BLOCK).fill(255) : random.bytes(BLOCK);
    module.useHashKey(key);
    let state = 0n;
    for (const blocks of [0, 1, 2, 3, 4, 5, 8, 33]) {
      const text = random.bytes(blocks * BLOCK);
      bytes.set(text, AT);
      module.hash(AT, blocks);
      for (let at = 0; at < text.length; at += BLOCK)
        state = product(state ^ numberOf(text.subarray(at, at + BLOCK)), numberOf(key));
      expect(stateOf()).toBe(state);
    }
  }
});

test("hashes blocks of single bits", () => {
  const module = new SealModule();
  const bytes = new Uint8Array(module.memory.buffer);
  const single = (bit: number) => new Uint8Array(BLOCK).fill(128 >> (bit & 7), bit >> 3, (bit >> 3) + 1);
  for (let bit = 0; bit < 128; bit++) {
    module.useHashKey(single(bit));
    const other = (bit * 37) % 128;
    bytes.set(single(other), AT);
    module.hash(AT, 1);
    expect(numberOf(bytes.subarray(MEMORY.state, MEMORY.state + BLOCK))).toBe(
      product(1n << BigInt(127 - other), 1n << BigInt(127 - bit)),
    );
  }
});

test("adds blocks, and no others", () => {
  const module = new SealModule();
  const bytes = new Uint8Array(module.memory.buffer);
  const [one, other] = [random.bytes(5 * BLOCK), random.bytes(5 * BLOCK)];
  bytes.set(one, AT);
  bytes.set(other, AT + 1_024);
  module.add(AT, AT, AT + 1_024, 0);
  expect(bytes.slice(AT, AT + one.length)).toEqual(one);
  module.add(AT, AT, AT + 1_024, 4);
  const sum = one.map((byte, at) => (at < 4 * BLOCK ? byte ^ other[at]! : byte));
  expect(bytes.slice(AT, AT + one.length)).toEqual(sum);
});

test("encodes every byte and every six bits as Node does", () => {
  const module = new SealModule();
  const memory = Buffer.from(module.memory.buffer);
  const to = AT + 4_096;
  for (let count = 0; count <= 70; count++) {
    const text = random.bytes(count * 12);
    memory.set(text, AT);
    memory.fill("!", to, to + count * 16 + 1);
    module.encode(to, AT, count);
    expect(memory.toString("latin1", to, to + count * 16 + 1)).toBe(`${Buffer.from(text).toString("base64url")}!`);
  }
});
