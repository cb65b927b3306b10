import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { startTestService } from "../../support/service.ts";
import { lookupTablesOf } from "../../support/world.ts";
import { JudgeLedger } from "./ledger.ts";
import { hasRealPrograms, linkRealPrograms } from "./real-programs.ts";
import { tradeWorld } from "./trade-world.ts";
import { findValidator } from "./validator.ts";
import { ValidatorBench } from "./validator-service.ts";

if (!hasRealPrograms())
  console.warn("No real programs in .venues: pump_fun, pump_swap, pump_fees and raydium_cpmm are not run.");

describe.skipIf(!hasRealPrograms())("the world on the real pump, PumpSwap, pump_fees and CPMM programs", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "tradewire-programs-"));
    linkRealPrograms(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("trades exactly on the embedded chain with SANDBOX_PROGRAMS", async () => {
    const limits = { BUILD_PER_SECOND: "1000", SUBMIT_PER_SECOND: "1000", ADDRESS_OPEN_PER_SECOND: "1000" };
    const service = await startTestService({ ...limits, SANDBOX_PROGRAMS: folder });
    try {
      const { rpcUrl, world } = service.sandbox;
      const lookupTables = lookupTablesOf(world);
      const ledger = new JudgeLedger(rpcUrl);
      await tradeWorld("real programs, embedded chain", ledger, world, async () => {
        const client = await service.newClient(50, { lookupTables });
        // The ledger counts what is confirmed, the airdrop is answered before.
        const address = client.wallet.publicKey.toString();
        await eventually(async () => expect(await ledger.lamports(address)).toBeGreaterThan(0n));
        return client;
      });
    } finally {
      await service.close();
    }
  });

  it.skipIf(findValidator() === undefined)("trades exactly on a real validator", async () => {
    const bench = await ValidatorBench.start({ programsDir: folder });
    try {
      const service = await bench.startService();
      await tradeWorld("real programs, validator", bench.ledger, bench.made.world, () => bench.newClient(service));
    } finally {
      await bench.close();
    }
  });
});
