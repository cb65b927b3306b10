import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type ServicePair, startServicePair } from "../support/service-pair.ts";

const CONFIRMED_AFTER_SLOTS = 20;
let pair: ServicePair;

beforeAll(async () => {
  pair = await startServicePair();
});
afterAll(() => pair?.close());

async function statusOnChain(signature: string): Promise<string | undefined> {
  const { value } = await pair.rpc<{ value: ({ confirmationStatus: string } | null)[] }>("getSignatureStatuses", [
    [signature],
  ]);
  return value[0]?.confirmationStatus;
}

test("a process that does not own a trade reports its progress, step by step", async () => {
  const { sandbox, trader, apps } = pair;
  const [holder, other] = [apps[0]!, apps[1]!];
  const mint = sandbox.world.tokens.find(({ venue }) => venue === "raydium_cpmm")!.mint.toString();
  const built = (await trader.build(holder.url, { path: "buy", body: { mint, solAmount: 0.01 } }))!;
  // After the build: a chain whose confirmed head stands still for twenty slots prices nothing meanwhile.
  await sandbox.setDelays({
    confirmedAfterSlots: CONFIRMED_AFTER_SLOTS,
    finalizedAfterSlots: 2 * CONFIRMED_AFTER_SLOTS,
  });
  const submitted = trader.submit({ name: "holder", url: holder.url }, built);
  const reported = new Map<string, { slot: unknown; tradeResult?: unknown }>();
  for (const step of ["processed", "confirmed", "finalized"]) {
    // The chain stands still at each step until the process has seen it.
    for (await sandbox.pause(); (await statusOnChain(built.signature)) !== step; ) await sandbox.advanceSlots(1);
    await eventually(async () => {
      const { status, data } = await trader.get(other.url, `/v1/tx/${built.signature}`);
      expect(status).toBe(200);
      const trade = data as { status: string; slot: unknown; tradeResult: unknown };
      reported.set(trade.status, trade);
      expect(trade.status).toBe(step);
    });
  }
  await sandbox.resume();
  const { data } = await submitted;
  expect(data).toMatchObject({ status: "confirmed" });
  expect([...reported.keys()].filter((status) => status !== "pending")).toEqual([
    "processed",
    "confirmed",
    "finalized",
  ]);
  for (const status of ["processed", "confirmed", "finalized"]) expect(reported.get(status)!.slot).toBe(data!.slot);
  expect(reported.get("finalized")!.tradeResult).toMatchObject(data!.tradeResult!);

  // A final outcome is the same from every process, for reads and repeated submits: each sees the chain's root in its own time.
  for (const { url } of [holder, other]) {
    await eventually(async () => {
      const again = await trader.submit({ name: "again", url }, built);
      expect(again.data).toEqual({ ...data, status: "finalized" });
    });
    expect((await trader.get(url, `/v1/tx/${built.signature}`)).data).toMatchObject({ status: "finalized" });
  }
});
