import { afterAll, beforeAll, describe, it } from "vitest";
import { report } from "./table.ts";
import { faultsOf, tradeAll, tradeWorld } from "./trade-world.ts";
import { findValidator } from "./validator.ts";
import { ValidatorBench } from "./validator-service.ts";
import { routedTrades, twoMarketTrades } from "./world-trades.ts";

const PART = "trades";

describe.skipIf(findValidator() === undefined)("trades on a real validator", () => {
  let bench: ValidatorBench;
  beforeAll(async () => {
    bench = await ValidatorBench.start();
  });
  afterAll(() => bench?.close());

  it("every token: buys, sales and swaps in both modes move and cost what was stated", async () => {
    const service = await bench.startService();
    await tradeWorld(PART, bench.ledger, bench.made.world, () => bench.newClient(service));
  });

  it("trades over two markets land through a lookup table", async () => {
    const service = await bench.startService();
    const judged = await tradeAll(bench.ledger, await bench.newClient(service), twoMarketTrades(bench.made.world));
    const looked = judged.filter(
      ({ record }) => record.version === 0 && record.meta.loadedAddresses.writable.length > 0,
    );
    const faults = [...faultsOf(judged), ...(looked.length > 0 ? [] : ["no trade went through the table"])];
    report(PART, "two markets, lookup table", `${judged.length} exact, ${looked.length} through the table`, faults);
  });

  it("the same trades land as version 1 if there is no table", async () => {
    const service = await bench.startService({ TRANSACTION_V1: "on", LOOKUP_TABLES: "none" });
    const judged = await tradeAll(bench.ledger, await bench.newClient(service), twoMarketTrades(bench.made.world));
    const newer = judged.filter(({ record }) => record.version === 1);
    const faults = [...faultsOf(judged), ...(newer.length > 0 ? [] : ["no trade was of version 1"])];
    report(PART, "two markets, version 1", `${judged.length} exact, ${newer.length} of version 1`, faults);
  });

  it("divided trades and trades over three markets land, and leave the stated remainders", async () => {
    const service = await bench.startService({ TRANSACTION_V1: "on" });
    const judged = await tradeAll(bench.ledger, await bench.newClient(service), routedTrades(bench.made.world));
    const routes = judged.map(({ trade }) => trade);
    // Every path begins with the input's mint; a leg between two other mints is the middle one of three.
    const divided = routes.filter(
      ({ route, inputMint }) => route.filter((leg) => leg.inputMint === inputMint).length > 1,
    ).length;
    const long = routes.filter(({ route, inputMint, outputMint }) =>
      route.some((leg) => leg.inputMint !== inputMint && leg.outputMint !== outputMint),
    ).length;
    const faults = [
      ...faultsOf(judged),
      ...(divided > 0 ? [] : ["no trade was divided"]),
      ...(long > 0 ? [] : ["no trade went over three markets"]),
    ];
    report(PART, "splits, three markets", `${judged.length} exact, ${divided} divided, ${long} over three`, faults);
  });
});
