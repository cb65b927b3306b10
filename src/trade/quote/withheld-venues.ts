import type { PairMarkets } from "../../market/port.ts";
import type { Intent } from "../intent.ts";
import { UNBOUNDED } from "./route-bounds.ts";
import type { Snapshot } from "./snapshot.ts";

/** Venues with a withheld market that the trade might have used; undefined if there is none, as nearly always. */
export function withheldVenues(intent: Pick<Intent, "bounds">, snapshot: Snapshot): readonly string[] | undefined {
  const { direct, hubs, between } = snapshot;
  const hasNone = direct.withheld === undefined && hubs.length === 0 && (between === undefined || between.length === 0);
  return hasNone ? undefined : venuesIn(intent, snapshot);
}

function venuesIn(
  { bounds = UNBOUNDED }: Pick<Intent, "bounds">,
  { direct, hubs, between = [] }: Snapshot,
): readonly string[] | undefined {
  let found: Set<string> | undefined;
  const note = ({ withheld }: PairMarkets) => {
    if (withheld === undefined) return;
    for (const venue of withheld) if (bounds.allows?.(venue) !== false) found = (found ?? new Set()).add(venue);
  };
  note(direct);
  if (bounds.maxLegs > 1) {
    for (const { toHub, fromHub } of hubs) {
      note(toHub);
      note(fromHub);
    }
  }
  if (bounds.maxLegs > 2) for (const { pair } of between) note(pair);
  return found === undefined ? undefined : [...found];
}
