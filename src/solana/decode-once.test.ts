import { expect, test } from "vitest";
import type { Account } from "./account.ts";
import { decodeOnceFor } from "./decode-once.ts";

const account = (first: number) => ({ data: Uint8Array.of(first) }) as Account;

test("decodes an account again for other terms, and another account with the same bytes", () => {
  let decoded = 0;
  const sumOf = decodeOnceFor(({ data }: Account, a: number, b: number) => {
    decoded += 1;
    return { sum: data[0]! + a + b };
  });
  const one = account(1);
  expect(sumOf(one, 2, 3)).toBe(sumOf(one, 2, 3));
  expect(decoded).toBe(1);
  expect(sumOf(one, 3, 3)).toEqual({ sum: 7 });
  expect(sumOf(one, 2, 3)).toEqual({ sum: 6 });
  expect(decoded).toBe(3);
  expect(sumOf(account(1), 2, 3)).toEqual({ sum: 6 });
  expect(decoded).toBe(4);
});
