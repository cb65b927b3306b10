import { setTimeout as sleep } from "node:timers/promises";
import type { Tradewire } from "../../../src/client/tradewire.ts";
import type { World } from "../../../src/sandbox/world/world.ts";
import { type JudgedTrade, tradeJudged } from "./judged-trade.ts";
import type { JudgeLedger } from "./ledger.ts";
import { report } from "./table.ts";
import { type PlannedTrade, solTokens, tokenTrades } from "./world-trades.ts";

/** Wallets that trade side by side, each on tokens of its own. */
const WORKERS = 4;

/**
 * Makes the trades one after the other.
 *
 * @param pauseMs time before each: a node that is cut off may know a change as late as STATE_MAX_AGE_MS allows
 */
export async function tradeAll(
  ledger: JudgeLedger,
  client: Tradewire,
  trades: readonly PlannedTrade[],
  pauseMs = 0,
): Promise<JudgedTrade[]> {
  const judged: JudgedTrade[] = [];
  for (const { what, build } of trades) {
    await sleep(pauseMs);
    judged.push(await tradeJudged(ledger, client, what, () => build(client)));
  }
  return judged;
}

/** Trades the tokens against SOL, every one of the world if not given, and reports a row for each venue. */
export async function tradeWorld(
  part: string,
  ledger: JudgeLedger,
  world: World,
  newClient: () => Promise<Tradewire>,
  tokens = solTokens(world),
): Promise<void> {
  const queue = [...tokens];
  const judged: JudgedTrade[] = [];
  const work = async () => {
    for (let token = queue.shift(); token !== undefined; token = queue.shift())
      judged.push(...(await tradeAll(ledger, await newClient(), tokenTrades(token))));
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  const byVenue = Map.groupBy(judged, ({ trade }) => trade.platform);
  for (const [venue, trades] of byVenue)
    report(part, `buy, sell, swap on ${venue}`, `${trades.length} trades exact, to the lamport`, faultsOf(trades));
  const real = world.programs.filter(({ isStandIn }) => !isStandIn).map(({ name }) => name);
  const measured = `${byVenue.size}; real programs: ${real.join(", ") || "none"}`;
  report(part, "venues of the world", measured, byVenue.size >= 4 ? [] : [[...byVenue.keys()].join()]);
}

export const faultsOf = (judged: readonly JudgedTrade[]) => judged.flatMap(({ faults }) => faults);
