import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type CutProxy, startCutProxy } from "../../support/cut-proxy.ts";
import { eventually } from "../../support/eventually.ts";
import type { TestService } from "../../support/service.ts";
import { findGeyserPlugin, geyserArguments } from "./geyser-plugin.ts";
import { report } from "./table.ts";
import { faultsOf, tradeAll, tradeWorld } from "./trade-world.ts";
import { findValidator } from "./validator.ts";
import { ValidatorBench } from "./validator-service.ts";
import { tokenPerVenue, tokenTrades } from "./world-trades.ts";

const PART = "Yellowstone";
const STRICT = { STATE_MAX_AGE_MS: "2000", BLOCKHASH_MAX_AGE_MS: "10000", SOLANA_RPC_TIMEOUT_MS: "4000" };

/** Above STATE_MAX_AGE_MS. */
const STALE_MS = 2_200;

const plugin = findGeyserPlugin();
if (plugin === undefined)
  console.warn("No Geyser plugin: build test/slow/validator/geyser with cargo. YELLOWSTONE_URL is not run.");

describe.skipIf(findValidator() === undefined || plugin === undefined)("a validator's own Geyser notices", () => {
  let folder: string;
  let bench: ValidatorBench;
  let proxy: CutProxy;
  let service: TestService;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tradewire-geyser-"));
    const port = await freePort();
    bench = await ValidatorBench.start({ arguments: geyserArguments(folder, plugin!, port) });
    proxy = await startCutProxy(`http://127.0.0.1:${port}`);
    service = await bench.startService({ ...STRICT, YELLOWSTONE_URL: proxy.url });
  });
  afterAll(async () => {
    await bench?.close();
    await proxy?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const metric = async (name: string) => {
    const text = await (await fetch(`${service.app.admin.url}/metrics`)).text();
    return Number(new RegExp(`^tradewire_${name} (.*)$`, "m").exec(text)?.[1]);
  };
  const firstToken = () => tokenPerVenue(bench.made.world)[1]!;

  it("every token trades exactly on the stream's state, which a node's own reads confirm", async () => {
    await tradeWorld(PART, bench.ledger, bench.made.world, () => bench.newClient(service));
    const [streamed, updates] = [await metric("accounts_streamed"), await metric("state_updates_total")];
    await eventually(async () => {
      if ((await metric("state_audited_total")) === 0) throw new Error("nothing audited yet");
    });
    const [audited, differences] = [await metric("state_audited_total"), await metric("state_audit_differences_total")];
    const gaps = await metric("state_gaps_total");
    const faults = [
      ...(streamed > 50 && updates > 100 ? [] : [`${streamed} accounts streamed, ${updates} updates`]),
      ...(differences === 0 ? [] : [`${differences} differ`]),
      ...(gaps === 0 ? [] : [`${gaps} gaps`]),
    ];
    const measured = `${streamed} accounts, ${updates} updates; ${audited} compared, ${differences} differ, ${gaps} gaps`;
    report(PART, "accounts over the stream", measured, faults);
  });

  it("trades go on while the stream is cut again and again, and every change missed is replayed or read", async () => {
    const client = await bench.newClient(service);
    const before = proxy.connections();
    const cutting = setInterval(() => proxy.cut(), 1_500);
    const trades = await tradeAll(bench.ledger, client, [...tokenTrades(firstToken()), ...tokenTrades(firstToken())]);
    clearInterval(cutting);
    const differences = await metric("state_audit_differences_total");
    const faults = [
      ...faultsOf(trades),
      ...(differences === 0 ? [] : [`${differences} differ`]),
      ...(proxy.connections() > before ? [] : ["it was never opened again"]),
    ];
    report(
      PART,
      "stream cut every 1.5 s",
      `${trades.length} exact, ${proxy.connections() - before} connections`,
      faults,
    );
  });

  it("trades go on while the stream is silent, its connection open", async () => {
    const client = await bench.newClient(service);
    proxy.silence(true);
    const trades = await tradeAll(bench.ledger, client, tokenTrades(firstToken()), STALE_MS);
    proxy.silence(false);
    report(PART, "stream silent", `${trades.length} exact`, faultsOf(trades));
  });

  it("trades go on after the validator was killed and started on its ledger", async () => {
    const client = await bench.newClient(service);
    const before = await tradeAll(bench.ledger, client, tokenTrades(firstToken()).slice(0, 1));
    await bench.validator.restart("sameLedger");
    const after = await tradeAll(bench.ledger, client, tokenTrades(firstToken()).slice(0, 3));
    report(PART, "kill -9, same ledger", `${after.length} exact`, [...faultsOf(before), ...faultsOf(after)]);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
