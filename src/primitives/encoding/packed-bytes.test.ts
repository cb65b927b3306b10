import { expect, test } from "vitest";
import { createRandom } from "../random.ts";
import { PackedBytes } from "./packed-bytes.ts";

const random = createRandom(8_191);

/** Bytes that are zero but for about a part of them, lying `offset` bytes into their memory. */
function sparse(length: number, part: number, offset = 0): Uint8Array {
  const bytes = new Uint8Array(new ArrayBuffer(offset + length), offset, length);
  for (let change = Math.round(length * part); change > 0; change--)
    bytes[random.u32() % length] = random.pick([1, 128, 255]);
  return bytes;
}

test("bytes of any length and place in memory are packed and unpacked whole", () => {
  const lengths = [0, 1, 7, 8, 9, 63, 64, 65, 511, 512, 513, 9_988, 10_136, 10_240, 65_535, 65_536];
  for (const length of lengths) {
    for (const offset of [0, 1, 3, 4]) {
      for (const part of [0, 0.001, 0.02, 0.05]) {
        const bytes = sparse(length, part, offset);
        const packed = PackedBytes.of(bytes);
        // A few bytes may not be worth it.
        if (packed === undefined && length < 64) continue;
        expect([length, packed?.length]).toEqual([length, length]);
        expect([length, offset, part, Buffer.compare(packed!.bytes, bytes)]).toEqual([length, offset, part, 0]);
      }
    }
  }
});

test("a buffer of Node's is packed, wherever in its memory it begins", () => {
  const bytes = sparse(10_136, 0.02);
  for (const offset of [1, 2, 3]) {
    const buffer = Buffer.concat([new Uint8Array(offset), bytes]).subarray(offset);
    expect(Buffer.compare(PackedBytes.of(buffer)!.bytes, bytes)).toBe(0);
  }
});

test("random lengths and fillings are unpacked whole, or not packed", () => {
  let packings = 0;
  for (let round = 0; round < 3_000; round++) {
    const bytes = sparse(1 + (random.u32() % 3_000), random.pick([0, 0.01, 0.05, 0.1, 0.2]));
    const packed = PackedBytes.of(bytes);
    if (packed === undefined) continue;
    packings++;
    if (Buffer.compare(packed.bytes, bytes) !== 0) throw new Error(`${round}: other bytes`);
  }
  expect(packings).toBeGreaterThan(2_000);
});

test("what would save less than a quarter, or is longer than 64 KiB, is not packed", () => {
  const half = new Uint8Array(8_192).fill(1, 0, 4_096);
  expect(PackedBytes.of(half)).toBeDefined();
  expect(PackedBytes.of(half.fill(1, 0, 6_144))).toBeUndefined();
  expect(PackedBytes.of(new Uint8Array(65_537))).toBeUndefined();
});

test("packed bytes are equal if their lengths and contents are", () => {
  const [one, same, longer, other] = [sparse(9_988, 0), sparse(9_988, 0), sparse(9_990, 0), sparse(9_988, 0)];
  other[9_987] = 1;
  const [a, b, c, d] = [one, same, longer, other].map((bytes) => PackedBytes.of(bytes)!);
  expect([a!.equals(b!), a!.equals(c!), a!.equals(d!)]).toEqual([true, false, false]);
});

test("unpacked bytes are the same array while anybody keeps it, and packing others leaves them alone", () => {
  const bytes = sparse(10_136, 0.02);
  const packed = PackedBytes.of(bytes)!;
  const first = packed.bytes;
  PackedBytes.of(sparse(65_536, 0.05))!.bytes.fill(9);
  expect(packed.bytes).toBe(first);
  expect(Buffer.compare(first, bytes)).toBe(0);
});
