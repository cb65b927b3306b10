import { expect, test } from "vitest";
import { createRandom } from "../random.ts";
import { Base64Writer } from "./base64.ts";

const random = createRandom(64);

for (const variant of ["base64", "base64url"] as const) {
  test(`${variant} is what Node writes, of every length and from every place`, () => {
    const writer = new Base64Writer(variant, 200, 8);
    for (let length = 0; length <= 200; length++) {
      const bytes = random.bytes(length + 5);
      const from = random.u32() % 6;
      const end = writer.write(bytes, from, from + length);
      const expected = Buffer.from(bytes.subarray(from, from + length)).toString(variant);
      expect(writer.text.toString("latin1", writer.front, end)).toBe(expected);
    }
  });
}

test("all characters of both alphabets are written", () => {
  const all = Uint8Array.from({ length: 48 }, (_, at) => {
    const bits = [0, 1, 2, 3].reduce((sum, place) => sum * 64 + ((at - (at % 3)) / 3) * 4 + place, 0);
    return bits >> (16 - 8 * (at % 3));
  });
  const writer = new Base64Writer("base64", all.length);
  expect(writer.text.toString("latin1", 0, writer.write(all))).toBe(Buffer.from(all).toString("base64"));
  expect(new Set(Buffer.from(all).toString("base64")).size).toBe(64);
});

test("the front is left as it is", () => {
  const writer = new Base64Writer("base64url", 3, 4);
  writer.text.write("tw1.", "latin1");
  expect(writer.text.toString("latin1", 0, writer.write(Uint8Array.of(0, 0, 0)))).toBe("tw1.AAAA");
});
