import { expect, test } from "vitest";
import { decodeLifetime } from "./head-answers.ts";

const answer = (blockhash: unknown) => ({ context: { slot: 100 }, value: { blockhash, lastValidBlockHeight: 150 } });

test("a blockhash of any length that is not 32 bytes is refused at once", () => {
  for (const text of ["", "x".repeat(31), "x".repeat(45), "1".repeat(45), "x".repeat(1_000_000), "0".repeat(44), 7]) {
    const startMs = performance.now();
    expect(() => decodeLifetime(answer(text))).toThrowError(expect.objectContaining({ kind: "malformed" }));
    expect(performance.now() - startMs).toBeLessThan(1_000);
  }
  expect(decodeLifetime(answer("1".repeat(32))).blockhash).toEqual(new Uint8Array(32));
  expect(decodeLifetime(answer("x".repeat(43))).blockhash.length).toBe(32);
});
