import { expect, test } from "vitest";
import type { Account } from "./account.ts";
import { decodeOnceFor, decodeTogether } from "./decode-once.ts";

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

test("decodes the accounts of a market together again if one of them, its place or the market is another", () => {
  let decoded = 0;
  const listOf = decodeTogether((_: object, places, accounts: readonly (Account | undefined)[]) => {
    decoded += 1;
    return places.map((place, at) => `${place}:${accounts[at]?.data[0]}`);
  });
  const market = {};
  const [one, two] = [account(1), account(2)];
  const first = listOf(market, [0, 60], [one, two]);
  expect(listOf(market, [0, 60], [one, two])).toBe(first);
  expect(decoded).toBe(1);
  expect(listOf(market, [0, 60], [one, account(3)])).toEqual(["0:1", "60:3"]);
  expect(listOf(market, [0, 60], [two, one])).toEqual(["0:2", "60:1"]);
  // Accounts that do not exist are alike wherever they are missing.
  expect(listOf(market, [0, 60], [undefined, undefined])).toEqual(["0:undefined", "60:undefined"]);
  expect(listOf(market, [60, 120], [undefined, undefined])).toEqual(["60:undefined", "120:undefined"]);
  expect(listOf(market, [60], [undefined])).toEqual(["60:undefined"]);
  expect(decoded).toBe(6);
  expect(listOf({}, [60], [undefined])).toEqual(["60:undefined"]);
  expect(decoded).toBe(7);
});
