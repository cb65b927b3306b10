import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { LandedTrades } from "./landed-trades.ts";

const market = Address.from(new Uint8Array(32).fill(4));
const other = Address.from(new Uint8Array(32).fill(5));

function follow() {
  const rechecked: [Address, number | undefined][] = [];
  const logged: object[] = [];
  const landed = new LandedTrades({
    marginPercent: 10,
    recheck: (...one) => rechecked.push(one),
    log: (facts) => logged.push(facts),
  });
  return { landed, rechecked, logged };
}

const report = (isAsQuoted: boolean, used: number | undefined) => ({
  signature: "sig",
  markets: [market, other],
  isAsQuoted,
  // 100,001 units and 10 %, rounded up.
  units: used === undefined ? undefined : { used, limit: 110_002 },
});

test("a trade as quoted within its bound is counted, and nothing more", () => {
  const { landed, rechecked, logged } = follow();
  landed.note(report(true, 100_001));
  landed.note(report(true, undefined));
  expect([rechecked, logged]).toEqual([[], []]);
  expect(landed.counts()).toEqual({ landed: 2, different: 0, overBound: 0 });
});

test("one that moved other amounts has its markets checked again, whatever it used", () => {
  const { landed, rechecked } = follow();
  landed.note(report(false, undefined));
  landed.note(report(false, 105_000));
  expect(rechecked).toEqual([market, other, market, other].map((one) => [one, undefined]));
  expect(landed.counts()).toEqual({ landed: 2, different: 2, overBound: 1 });
});

test("one that took more than its bound is counted and logged with its numbers, and says by how much", () => {
  const { landed, rechecked, logged } = follow();
  landed.note(report(true, 105_000));
  expect(rechecked.map(([one]) => one)).toEqual([market, other]);
  expect(rechecked[0]![1]).toBeCloseTo(1.05, 3);
  expect(logged).toEqual([{ signature: "sig", used: 105_000, limit: 110_002 }]);
  expect(landed.counts()).toEqual({ landed: 1, different: 0, overBound: 1 });
});
