import { expect, test } from "vitest";
import type { MarketFault } from "../../market/port.ts";
import { noRoute } from "./no-route.ts";

test("a refusal names the first withheld market and counts the others", () => {
  const withheld: MarketFault = { venue: "raydium_cpmm", market: undefined, reason: "it differs", isWithheld: true };
  const told = (count: number) => noRoute([], Array<MarketFault>(count).fill(withheld), []).message;
  expect([1, 2, 3].map(told)).toEqual([
    "raydium_cpmm is withheld: it differs.",
    "raydium_cpmm is withheld: it differs. So is another.",
    "raydium_cpmm is withheld: it differs. So are 2 more.",
  ]);
});

test("a refusal says to ask again, unless no market will ever be offered", () => {
  const withheld: MarketFault = { venue: "raydium_cpmm", market: undefined, reason: "it differs", isWithheld: true };
  const unchecked: MarketFault = { ...withheld, isForGood: true };
  expect(noRoute([], [unchecked, withheld], [])).toMatchObject({ retryable: true, facts: { retryAfterMs: 2_000 } });
  const never = noRoute([], [unchecked, unchecked], []);
  expect([never.code, never.retryable, never.facts.retryAfterMs]).toEqual(["VENUE_DEGRADED", false, undefined]);
});
