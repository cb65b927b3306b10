import { describe, expect, test } from "vitest";
import { createRandom } from "../../../primitives/random.ts";
import { AnswerBytes } from "./answer-bytes.ts";

describe("the bytes of answers", () => {
  test("keep every answer that is taken as it was, whatever comes after it", () => {
    const out = new AnswerBytes();
    const random = createRandom(5);
    const taken: { readonly bytes: Buffer; readonly expected: Buffer }[] = [];
    for (let round = 0; round < 2_000; round++) {
      out.begin(random.u32() % 600);
      let expected = Buffer.alloc(0);
      for (let piece = random.u32() % 12; piece > 0; piece--) {
        const bytes = random.bytes(random.u32() % (piece === 3 && round % 50 === 0 ? 40_000 : 300));
        const text = Buffer.from(bytes).toString("latin1");
        const kind = random.u32() % 3;
        if (kind === 0) out.bytes(bytes);
        else if (kind === 1) out.latin1(text);
        else out.front(text);
        expected = kind === 2 ? Buffer.concat([bytes, expected]) : Buffer.concat([expected, bytes]);
      }
      expect(out.length).toBe(expected.length);
      expect(out.text() === expected.toString("latin1")).toBe(true);
      if (round % 3 > 0) taken.push({ bytes: out.take(), expected });
    }
    for (const { bytes, expected } of taken) expect(bytes.equals(expected)).toBe(true);
  });

  test("share blocks of 8 KiB, so that one that waits keeps little else", () => {
    const out = new AnswerBytes();
    const blocks = new Set<ArrayBufferLike>();
    for (let round = 0; round < 100; round++) {
      out.begin().latin1("x".repeat(3_000));
      blocks.add(out.front("head").take().buffer);
    }
    expect(blocks.size).toBeLessThanOrEqual(50);
    for (const { byteLength } of blocks) expect(byteLength).toBeLessThanOrEqual(8 * 1_024);
  });

  test("writes a text in UTF-8 wherever its block ends", () => {
    for (let left = 0; left < 16; left++) {
      const out = new AnswerBytes().begin(0);
      const before = "x".repeat(8 * 1_024 - left);
      out.latin1(before);
      out.delimitedText("é");
      out.delimitedText("e");
      expect(out.text() === `${before}\x02\xc3\xa9\x01e`).toBe(true);
    }
  });

  test("puts the length of a part before it, however long", () => {
    for (const length of [0, 1, 127, 128, 16_383, 16_384, 40_000]) {
      const out = new AnswerBytes().begin();
      out.latin1("before");
      const part = out.beginPart();
      out.latin1("x".repeat(length));
      out.endPart(part);
      out.latin1("after");
      const expected = new AnswerBytes().begin();
      expected.latin1("before");
      expected.varint(length);
      expected.latin1(`${"x".repeat(length)}after`);
      expect(out.text()).toBe(expected.text());
    }
  });
});
