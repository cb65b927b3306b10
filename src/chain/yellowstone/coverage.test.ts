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
