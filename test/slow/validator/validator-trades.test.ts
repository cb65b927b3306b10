import { afterAll, beforeAll, describe, it } from "vitest";
import type { Tradewire } from "../../../src/client/tradewire.ts";
import { type JudgedTrade, tradeJudged } from "./judged-trade.ts";
import { report } from "./table.ts";
import { findValidator } from "./validator.ts";
import { ValidatorBench } from "./validator-service.ts";
import { type PlannedTrade, solTokens, tokenTrades, twoMarketTrades } from "./world-trades.ts";

const PART = "trades";
/** Wallets that trade side by side, each on tokens of its own. */
const LANES = 4;

describe.skipIf(findValidator() === undefined)("trades on a real validator", () => {
  let bench: ValidatorBench;
  beforeAll(async () => {
    bench = await ValidatorBench.start();
  });
  afterAll(() => bench?.close());

  const run = async (client: Tradewire, trades: readonly PlannedTrade[]): Promise<JudgedTrade[]> => {
    const judged: JudgedTrade[] = [];
    for (const { what, build } of trades)
      judged.push(await tradeJudged(bench.ledger, client, what, () => build(client)));
    return judged;
  };
  const faultsOf = (judged: readonly JudgedTrade[]) => judged.flatMap(({ faults }) => faults);

  it("every token: buys, sales and swaps in both modes move what was said, and cost what was said", async () => {
    const service = await bench.startService();
    const queue = [...solTokens(bench.made.world)];
    const judged: JudgedTrade[] = [];
    const lane = async () => {
      for (let token = queue.shift(); token !== undefined; token = queue.shift())
        judged.push(...(await run(await bench.newClient(service), tokenTrades(token))));
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    const byVenue = Map.groupBy(judged, ({ trade }) => trade.platform);
    for (const [venue, trades] of byVenue)
      report(PART, `buy, sell, swap on ${venue}`, `${trades.length} trades exact, to the lamport`, faultsOf(trades));
    report(PART, "venues of the world", `${byVenue.size}`, byVenue.size >= 4 ? [] : [[...byVenue.keys()].join()]);
  });

  it("trades over two markets land through a lookup table", async () => {
    const service = await bench.startService();
    const judged = await run(await bench.newClient(service), twoMarketTrades(bench.made.world));
    const looked = judged.filter(
      ({ record }) => record.version === 0 && record.meta.loadedAddresses.writable.length > 0,
    );
    const faults = [...faultsOf(judged), ...(looked.length > 0 ? [] : ["no trade went through the table"])];
    report(PART, "two markets, lookup table", `${judged.length} exact, ${looked.length} through the table`, faults);
  });

  it("the same trades land as version 1 if there is no table", async () => {
    const service = await bench.startService({ TRANSACTION_V1: "on", LOOKUP_TABLES: "none" });
    const judged = await run(await bench.newClient(service), twoMarketTrades(bench.made.world));
    const newer = judged.filter(({ record }) => record.version === 1);
    const faults = [...faultsOf(judged), ...(newer.length > 0 ? [] : ["no trade was of version 1"])];
    report(PART, "two markets, version 1", `${judged.length} exact, ${newer.length} of version 1`, faults);
  });
});
