import { expect, test } from "vitest";
import { createRandom } from "../random.ts";
import { Base64Writer } from "./base64.ts";

const random = createRandom(64);
const writer = Base64Writer.open()!;
const written = (bytes: Uint8Array) => writer.text.toString("latin1", 0, writer.write(bytes));

test("writes what Node writes, of every length and from every place", () => {
  for (let length = 0; length <= 2_000; length++) {
    const bytes = random.bytes(length + 5).subarray(random.u32() % 6);
    expect(written(bytes)).toBe(Buffer.from(bytes).toString("base64"));
  }
  const longest = random.bytes(Base64Writer.most);
  expect(written(longest)).toBe(Buffer.from(longest).toString("base64"));
});

test("writes all characters, at every place", () => {
  for (let shift = 0; shift < 64; shift++) {
    const sextets = Array.from({ length: 64 }, (_, at) => (at + shift) & 63);
    const bytes = Buffer.alloc(48);
    for (let at = 0; at < 64; at += 4)
      bytes.writeUIntBE(
        sextets.slice(at, at + 4).reduce((sum, one) => sum * 64 + one, 0),
        (at / 4) * 3,
        3,
      );
    const text = written(bytes);
    expect(text).toBe(bytes.toString("base64"));
    expect(new Set(text).size).toBe(64);
  }
});

test("nothing of an earlier text stays", () => {
  written(random.bytes(600));
  for (let length = 0; length < 30; length++) {
    const bytes = new Uint8Array(length).fill(255);
    expect(written(bytes)).toBe(Buffer.from(bytes).toString("base64"));
  }
});
