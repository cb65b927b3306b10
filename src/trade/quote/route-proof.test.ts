import { expect, it } from "vitest";
import type { HotMarket, PairMarkets } from "../../market/port.ts";
import { onlyChecked } from "./route-proof.ts";

const market = (backing?: HotMarket["backing"]) => ({ venue: { id: "pump_swap" }, market: { address: "A" }, backing });

function reasonsFor(...markets: object[]): string[] {
  return onlyChecked({ markets, faults: [] } as unknown as PairMarkets).faults.map(({ reason }) => reason);
}

it("promises a check of a market only where markets are checked", () => {
  const unchecked = { programSlot: undefined, shadowSlot: undefined, checked: false };
  expect(reasonsFor(market(unchecked))).toEqual(["not checked on the deployed program yet"]);
  expect(reasonsFor(market())).toEqual(["this service checks no market on the deployed programs"]);
  expect(reasonsFor(market({ ...unchecked, checked: true }))).toEqual([]);
});

it("withholds for good only where nothing is ever checked", () => {
  const unchecked = { programSlot: undefined, shadowSlot: undefined, checked: false };
  const isForGood = (backing?: HotMarket["backing"]) =>
    onlyChecked({ markets: [market(backing)], faults: [] } as unknown as PairMarkets).faults[0]?.isForGood;
  expect([isForGood(unchecked), isForGood()]).toEqual([false, true]);
});

it("takes nothing over that is known of the pair's markets by their places", () => {
  const unchecked = { programSlot: undefined, shadowSlot: undefined, checked: false };
  const markets = [market(unchecked), market({ ...unchecked, checked: true })];
  const pair = { markets, faults: [], searched: ["pump_swap"], versions: [1, 2], bounds: {}, line: {} };
  const checked = onlyChecked(pair as unknown as PairMarkets);
  expect(checked).toMatchObject({ markets: [markets[1]], searched: ["pump_swap"] });
  expect([checked.versions, checked.bounds, checked.line]).toEqual([undefined, undefined, undefined]);
});
