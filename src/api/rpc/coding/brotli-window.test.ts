import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createRandom } from "../../../primitives/random.ts";
import { withNarrowWindow } from "./brotli-window.ts";
import { inflaterOf } from "./inflate.ts";

const LIMIT = 16 * 1024;
const BOMB = brotliCompressSync(Buffer.alloc(50_000_000, 0x20));
const random = createRandom(7932);

/** Messages of many kinds: words of Brotli's own dictionary, JSON, noise, and what repeats from far back. */
function message(length: number): Buffer {
  const noise = random.bytes(Math.max(1, length >> 2));
  const text = `{"mint":"So11111111111111111111111111111111111111112","the":"time of their government"}`;
  const kinds = [Buffer.from(noise), Buffer.from(text.repeat(200)), Buffer.concat([noise, Buffer.from(text), noise])];
  return kinds[random.u32() % kinds.length]!.subarray(0, length);
}

describe("a Brotli stream whose window is narrowed", () => {
  it("holds the same message, whatever its window and quality", () => {
    for (let window = constants.BROTLI_MIN_WINDOW_BITS; window <= constants.BROTLI_MAX_WINDOW_BITS; window++) {
      for (let quality = 0; quality <= constants.BROTLI_MAX_QUALITY; quality++) {
        const plain = message(1 + (random.u32() % LIMIT));
        const params = { [constants.BROTLI_PARAM_LGWIN]: window, [constants.BROTLI_PARAM_QUALITY]: quality };
        const stream = brotliCompressSync(plain, { params });
        expect(inflaterOf({ "content-encoding": "br" }, "content-encoding", LIMIT)!(stream).equals(plain)).toBe(true);
        expect((withNarrowWindow(stream, LIMIT)[0]! & 0b1111) <= 0b0011 || window < 18).toBe(true);
      }
    }
  });

  it("is left alone if the message may be longer than the narrow window", () => {
    expect(withNarrowWindow(BOMB, 1 << 20)).toBe(BOMB);
    expect(withNarrowWindow(new Uint8Array(), LIMIT)).toHaveLength(0);
  });

  it("costs little if it holds more than is read", () => {
    const inflate = inflaterOf({ "content-encoding": "br" }, "content-encoding", LIMIT)!;
    const narrow = () => expect(() => inflate(BOMB)).toThrow("larger than 16384 bytes");
    const wide = () => expect(() => brotliDecompressSync(BOMB, { maxOutputLength: LIMIT })).toThrow();
    narrow();
    wide();
    // In turns, by processor time, the least of each: other work on the machine takes the caches of most rounds, not of all.
    const times: [narrow: number, wide: number][] = [];
    for (let round = 0; round < 11; round++) times.push([processorMs(narrow), processorMs(wide)]);
    const least = (at: 0 | 1) => Math.min(...times.map((pair) => pair[at]));
    expect(least(0)).toBeLessThan(least(1) / 4);
  });
});

/** Processor time that some work takes on this thread. Milliseconds. */
function processorMs(work: () => void): number {
  const used = () => {
    // Linux brings a thread's own figure up to date when that of its process is asked for.
    process.cpuUsage();
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  const before = used();
  work();
  return used() - before;
}
