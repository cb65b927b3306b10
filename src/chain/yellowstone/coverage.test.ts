import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { Coverage } from "./coverage.ts";

test("an account that is yet to be requested, or whose request has yet to take effect, is not covered with the others", () => {
  const [known, pending, fresh] = [1, 2, 3].map((byte) => Address.from(new Uint8Array(32).fill(byte))) as [
    Address,
    Address,
    Address,
  ];
  const coverage = new Coverage();
  coverage.add(known);
  expect(coverage.takeEffect(coverage.request())).toEqual([[known]]);
  coverage.add(pending);
  const generation = coverage.request();
  coverage.add(fresh);
  expect(coverage.covered()).toEqual([known]);
  expect(coverage.takeEffect(generation)).toEqual([[pending]]);
  expect(coverage.covered()).toEqual([known, pending]);
});

test("an account that was left is covered by no request from before it was asked for again", () => {
  const account = Address.from(new Uint8Array(32).fill(1));
  const coverage = new Coverage();
  coverage.add(account);
  const first = coverage.request();
  coverage.delete(account);
  // Between this request and the next, the server reports nothing of it.
  const without = coverage.request();
  coverage.add(account);
  expect(coverage.takeEffect(first)).toEqual([]);
  expect(coverage.takeEffect(without)).toEqual([]);
  expect(coverage.covered()).toEqual([]);
  expect(coverage.takeEffect(coverage.request())).toEqual([[account]]);
  expect(coverage.covered()).toEqual([account]);
});

test("of a server that never says that a request takes effect, so many requests are kept and no more", () => {
  const accounts = Array.from({ length: 200 }, (_, i) => Address.from(new Uint8Array(32).fill(i + 1)));
  const coverage = new Coverage();
  let generation = 0;
  for (const account of accounts) {
    coverage.add(account);
    generation = coverage.request();
  }
  expect(coverage.covered()).toEqual([]);
  const covered = coverage.takeEffect(generation);
  expect(covered.length).toBeLessThanOrEqual(64);
  expect(new Set(covered.flat())).toEqual(new Set(accounts));
});
