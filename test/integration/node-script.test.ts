import { afterAll, beforeAll, expect, it } from "vitest";
import { Address } from "../../src/primitives/address.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { CUT_LOG_BYTES, runConditionScript } from "../slow/validator/condition-scripts.ts";
import type { NodeUrls } from "../slow/validator/node-calls.ts";
import { runNodeScript } from "../slow/validator/node-script.ts";

const TXV1_FEATURE = Address.of("txv1aq4pp281K9um3tnPgkfX8UqtFT6wcVW3hNezGLL");
const FEATURE_PROGRAM = Address.of("Feature111111111111111111111111111111111111");

/** As many as one leader has in a row. */
const ABSENT_SLOTS = 4;

let sandbox: Awaited<ReturnType<typeof startSandbox>>;
let node: NodeUrls;
beforeAll(async () => {
  sandbox = await startSandbox({ slotMs: 100 });
  const pool = sandbox.world.accounts.find(({ data }) => data.length === 637)!;
  const { rpcUrl, wsUrl } = sandbox;
  node = { rpcUrl, wsUrl, program: pool.owner.toString(), account: pool.address.toString() };
});
afterAll(() => sandbox?.close());

it("the embedded chain answers the script that a real validator answers, also while leaders are absent", async () => {
  const before = await emptySlots();
  const skipping = setInterval(() => void sandbox.skipSlots(ABSENT_SLOTS), 1_000);
  const results = await runNodeScript(node).finally(() => clearInterval(skipping));
  expect((await emptySlots()) - before).toBeGreaterThanOrEqual(ABSENT_SLOTS);
  expect(results.filter(({ fault }) => fault !== undefined)).toEqual([]);
  expect(results.length).toBeGreaterThanOrEqual(120);
});

it("it drops what a node drops, and cuts what a node cuts", async () => {
  const active = { hasVersion1: true, cutsLogs: false };
  const whole = await runConditionScript(node, active);
  await sandbox.setLogLimit(CUT_LOG_BYTES);
  const pending = { address: TXV1_FEATURE, owner: FEATURE_PROGRAM, lamports: 953_520n, data: new Uint8Array(9) };
  await sandbox.setAccounts([pending]);
  const cut = await runConditionScript(node, { hasVersion1: false, cutsLogs: true });
  expect([...whole, ...cut].filter(({ fault }) => fault !== undefined)).toEqual([]);
  expect(whole.length + cut.length).toBeGreaterThanOrEqual(25);
});

/** Slots without a block so far. */
async function emptySlots(): Promise<number> {
  const response = await fetch(node.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getEpochInfo" }),
  });
  const { result } = (await response.json()) as { result: { absoluteSlot: number; blockHeight: number } };
  return result.absoluteSlot - result.blockHeight;
}
