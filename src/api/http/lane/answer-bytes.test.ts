import { describe, expect, test } from "vitest";
import { createRandom } from "../../../primitives/random.ts";
import { AnswerBytes, type TakenAnswer } from "./answer-bytes.ts";
import { Piece } from "./piece.ts";

describe("the bytes of answers", () => {
  test("keep every answer that is taken as it was until it is released, whatever comes after it", () => {
    const out = new AnswerBytes();
    const random = createRandom(5);
    const taken: { readonly answer: TakenAnswer; readonly expected: Buffer }[] = [];
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
      if (round % 3 > 0) taken.push({ answer: out.take(), expected });
      for (let count = random.u32() % 3; count > 0 && taken.length > 0; count--) {
        const [{ answer, expected: kept }] = taken.splice(random.u32() % taken.length, 1) as [(typeof taken)[number]];
        expect(answer.bytes.equals(kept)).toBe(true);
        if (random.u32() % 8 > 0) answer.release();
      }
    }
    for (const { answer, expected } of taken) expect(answer.bytes.equals(expected)).toBe(true);
  });

  test("share blocks of 8 KiB, so that one that waits keeps little else", () => {
    const out = new AnswerBytes();
    const blocks = new Set<ArrayBufferLike>();
    for (let round = 0; round < 100; round++) {
      out.begin().latin1("x".repeat(3_000));
      blocks.add(out.front("head").take().bytes.buffer);
    }
    expect(blocks.size).toBeLessThanOrEqual(50);
    for (const { byteLength } of blocks) expect(byteLength).toBeLessThanOrEqual(8 * 1_024);
  });

  test("lie in the same few blocks again once they are released", () => {
    const out = new AnswerBytes();
    const blocks = new Set<ArrayBufferLike>();
    for (let pass = 0; pass < 100; pass++) {
      const answers = Array.from({ length: 16 }, () => {
        out.begin().latin1("x".repeat(3_000));
        return out.front("head").take();
      });
      for (const { bytes } of answers) blocks.add(bytes.buffer);
      for (const answer of answers) answer.release();
    }
    expect(blocks.size).toBe(8);
  });

  test.each([1_000, 1_700, 2_150, 2_600, 3_300])(
    "lie in the same few blocks, heads of %i and more bytes written behind their bodies",
    (body) => {
      const out = new AnswerBytes();
      const blocks = new Set<ArrayBufferLike>();
      for (let pass = 0; pass < 100; pass++) {
        const answers = Array.from({ length: 16 }, (_, at) => {
          out.begin().latin1("x".repeat(at % 5 === 0 ? 300 : body + at));
          const front = out.beginFront();
          out.latin1("y".repeat(480));
          return out.endFront(front).take();
        });
        for (const { bytes } of answers) blocks.add(bytes.buffer);
        for (const answer of answers) answer.release();
      }
      expect(blocks.size).toBeLessThanOrEqual(17);
    },
  );

  test("do not keep the block of a long answer for short ones", () => {
    const out = new AnswerBytes();
    for (let round = 0; round < 3; round++) {
      out.begin().latin1("x".repeat(1_000_000));
      out.take().release();
      out.begin().latin1("short");
      expect(out.take().bytes.buffer.byteLength).toBe(8 * 1_024);
    }
  });

  test("writes a text in UTF-8 wherever its block ends", () => {
    for (const text of ["é", `é${"x".repeat(40)}`, `${"x".repeat(40)}é`]) {
      for (let left = 0; left < 64; left++) {
        const out = new AnswerBytes().begin(0);
        const before = "x".repeat(8 * 1_024 - left);
        out.latin1(before);
        out.delimitedText(text);
        out.delimitedText("e");
        const bytes = Buffer.from(text).toString("latin1");
        expect(out.text() === `${before}${String.fromCharCode(bytes.length)}${bytes}\x01e`).toBe(true);
      }
    }
  });

  test("write a text as JSON, in ASCII, wherever their block ends", () => {
    const texts = ["", "digits 0123", 'a"b', "\\", "\n", "\x7f", "\xff", "Ł", "\ud800", "😀", "x".repeat(100)];
    for (const text of texts.flatMap((end) => [
      end,
      `${"y".repeat(30)}${end}`,
      `${"z".repeat(80)}${end}`,
      `${end}z`.repeat(40),
    ])) {
      for (let left = 0; left < 12; left++) {
        const before = "b".repeat(8 * 1_024 - text.length - left);
        const out = new AnswerBytes().begin(0);
        out.latin1(before);
        out.jsonText(text);
        const written = out.text().slice(before.length);
        expect(written).toMatch(/^[ -~]*$/);
        expect(JSON.parse(written)).toBe(text);
        if (/^[ !#-[\]-~]*$/.test(text)) expect(written).toBe(`"${text}"`);
      }
    }
  });

  test("write constant pieces as they are, wherever their block ends", () => {
    const random = createRandom(6);
    const ascii = (length: number) => String.fromCharCode(...random.bytes(length).map((byte) => byte % 0x7f));
    const texts = [...Array.from({ length: 80 }, (_, length) => ascii(length)), "~".repeat(40), "\0".repeat(9)];
    for (const text of texts) {
      const piece = new Piece(text);
      for (let left = 0; left < 96; left += 5) {
        const out = new AnswerBytes().begin(0);
        const before = "b".repeat(8 * 1_024 - left);
        out.latin1(before);
        out.piece(piece);
        out.latin1("after");
        if (out.text() !== `${before}${text}after`) expect(out.text().slice(before.length)).toBe(`${text}after`);
      }
    }
    for (const text of ["\x7f", "é", "\ud800"]) expect(() => new Piece(text)).toThrow("is not ASCII");
  });

  test("escape each character of JSON that needs it, wherever it stands in a text", () => {
    const out = new AnswerBytes();
    const wrong: string[] = [];
    for (let code = 0; code < 0x80; code++) {
      for (let place = 0; place < 12; place++) {
        const text = `${"a~ z".repeat(3).slice(0, place)}${String.fromCharCode(code)}${"}z".repeat(3)}`;
        out.begin(place % 5).jsonText(text);
        const expected = JSON.stringify(text).replace("\x7f", "\\u007f");
        if (out.text() !== expected) wrong.push(expected);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("write thousandths with three places", () => {
    const out = new AnswerBytes();
    for (const value of [0, 1, 10, 99, 100, 999, 1_000, 1_001, 12_345, 1_000_000_007, 60_000_000_050]) {
      out.begin().thousandths(value);
      expect(out.text()).toBe((value / 1_000).toFixed(3));
    }
  });

  test("write numbers as JavaScript does, of whatever size and with however many places", () => {
    const random = createRandom(7);
    const part = () => random.u32() / 2 ** 32;
    const edges = [
      0,
      -0,
      9,
      10,
      2 ** 31 - 1,
      2 ** 31,
      -(2 ** 31),
      2 ** 53,
      1e-6,
      9.99999e-7,
      1.5e-6,
      1e-7,
      999_999.999999999,
    ];
    const further = [1_000_000.5, 999_999_999.999999, 1e15, 1e21, -1, -2.5, 5e-324, Number.MAX_VALUE, 123.0000000001];
    const drawn = Array.from({ length: 40_000 }, () => [
      Math.floor(part() * 10 ** (random.u32() % 18)) / 10 ** (random.u32() % 13),
      part() * 10 ** ((random.u32() % 24) - 9),
      Math.floor(part() * 2 ** (random.u32() % 54)),
      Math.floor(part() * 10 ** (random.u32() % 11)) / 1e15,
      -Math.floor(part() * 2 ** (random.u32() % 33)),
    ]).flat();
    const out = new AnswerBytes();
    const wrong = [...edges, ...further, ...drawn].filter((value) => {
      out.begin(0).number(value);
      return out.text() !== `${value}`;
    });
    expect(wrong).toEqual([]);
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
