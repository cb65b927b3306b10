import type { HotMarket, PairMarkets } from "../../market/port.ts";
import { maxOf, minOf } from "../../primitives/integer.ts";
import type { RouteProof } from "../trade.ts";
import type { Route } from "./route.ts";

/** How a route is backed by execution: as its least backed market. Undefined if nothing is checked. */
export function proofOf({ steps }: Pick<Route, "steps">): RouteProof | undefined {
  let proof: RouteProof | undefined = steps[0]!.hot.backing;
  for (let index = 1; index < steps.length; index++) proof = joined(proof, steps[index]!.hot.backing);
  return proof;
}

function joined(a: RouteProof | undefined, b: RouteProof | undefined): RouteProof | undefined {
  if (a === undefined || b === undefined) return undefined;
  return {
    programSlot: both(a.programSlot, b.programSlot, maxOf),
    shadowSlot: both(a.shadowSlot, b.shadowSlot, minOf),
    checked: a.checked && b.checked,
  };
}

function both(
  a: bigint | undefined,
  b: bigint | undefined,
  join: (a: bigint, b: bigint) => bigint,
): bigint | undefined {
  return a === undefined || b === undefined ? undefined : join(a, b);
}

/** Markets without their unchecked ones; kept, because caches of a pair use its object as key. */
const checkedOf = new WeakMap<PairMarkets, PairMarkets>();

/** The pair without the markets whose quotes were not checked on the deployed programs; those are faults in it. */
export function onlyChecked(pair: PairMarkets): PairMarkets {
  let kept = checkedOf.get(pair);
  if (kept === undefined) {
    const isChecked = ({ backing }: HotMarket) => backing?.checked === true;
    const faults = pair.markets
      .filter((hot) => !isChecked(hot))
      .map(({ venue, market, backing }) => ({
        venue: venue.id,
        market: market.address.toString(),
        reason:
          backing === undefined
            ? "this service checks no market on the deployed programs"
            : "not checked on the deployed program yet",
        isWithheld: true,
        isForGood: backing === undefined,
      }));
    // Not what is known of the pair's markets by their places: here they have others.
    const { searched, withheld } = pair;
    kept = { markets: pair.markets.filter(isChecked), faults: [...pair.faults, ...faults], searched, withheld };
    checkedOf.set(pair, kept);
  }
  return kept;
}
