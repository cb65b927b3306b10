import { randomFillSync } from "node:crypto";
import { expect, test } from "vitest";
import { createRandomTexts } from "./random-text.ts";

test("draws texts of eleven characters that never repeat, across draws of the pool", () => {
  let draws = 0;
  const next = createRandomTexts((bytes) => {
    draws++;
    randomFillSync(bytes);
  });
  const texts = Array.from({ length: 5_000 }, next);
  expect(draws).toBe(10);
  expect(new Set(texts).size).toBe(texts.length);
  for (const text of texts) expect(text).toMatch(/^[\w-]{11}$/);
});

test("uses every bit of the source once", () => {
  const next = createRandomTexts((bytes) => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = (i * 7) & 0xff;
  });
  const expected = Buffer.from(Uint8Array.from({ length: 4_125 }, (_, i) => (i * 7) & 0xff)).toString("base64url");
  expect(Array.from({ length: 500 }, next).join("")).toBe(expected);
});
