import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Tradewire } from "../../src/client/tradewire.ts";
import { concatBytes, viewOf } from "../../src/primitives/bytes.ts";
import type { WorldAccount } from "../../src/sandbox/world/genesis-ledger.ts";
import { PATIENCE_MS } from "../support/eventually.ts";
import { startTestService, type TestService } from "../support/service.ts";

/** A live token turns untradable and back. */
let service: TestService;
let wallet: Tradewire;
let mint: string;
let plain: WorldAccount;

beforeAll(async () => {
  service = await startTestService();
  wallet = await service.newClient(50);
  mint = service.mintOn("raydium_cpmm", "LUMEN");
  plain = service.sandbox.world.accounts.find(({ address }) => address.toString() === mint)!;
});
afterAll(() => service?.close());

/** The mint with one more extension: type and length, then the value. */
async function extend(type: number, value: Uint8Array): Promise<void> {
  const head = new Uint8Array(4);
  viewOf(head).setUint16(0, type, true);
  viewOf(head).setUint16(2, value.length, true);
  const data = concatBytes(plain.data, head, value);
  await service.sandbox.setAccounts([{ ...plain, data, lamports: plain.lamports + 10_000_000n }]);
}

const bytesWith = (length: number, at: number, value: number): Uint8Array =>
  new Uint8Array(length).fill(value, at, at + 1);
const order = () => ({ mint, solAmount: 0.1, slippage: 0.05, priority: "fast" }) as const;

/** The answer of each way to trade the token. */
async function answers() {
  const sides = { amount: 0.5, swapMode: "exactIn", slippage: 0.05 };
  const bodies = {
    buy: order(),
    sell: { mint, tokenAmount: 0.5, slippage: 0.05, priority: "fast" },
    swap: { ...sides, inputMint: mint, outputMint: "SOL", priority: "fast" },
    quote: { ...sides, inputMint: "SOL", outputMint: mint },
  };
  return Promise.all(
    Object.entries(bodies).map(async ([path, body]) => {
      const { status, body: answered } = await service.call(`/v1/tx/${path}`, body, wallet.apiKey);
      return { path, status, error: answered.error };
    }),
  );
}

/** Waits until the service sees the change. */
async function untilQuoted(isRefused: boolean): Promise<void> {
  const check = async () => {
    for (const { path, error } of await answers())
      expect([path, error?.code === "UNSUPPORTED_TOKEN_EXTENSION"]).toEqual([path, isRefused]);
  };
  await vi.waitFor(check, { timeout: PATIENCE_MS, interval: 20 });
}

const HOOK = 14;
const NON_TRANSFERABLE = [9, new Uint8Array(0)] as const;
const FROZEN = 2;
const INITIALIZED = 1;

describe.each([
  ["an active transfer hook", HOOK, bytesWith(64, 40, 1), "it has an active transfer hook"],
  ["the non-transferable mark", ...NON_TRANSFERABLE, "it cannot be transferred"],
  ["accounts that start frozen", 6, Uint8Array.of(FROZEN), "its token accounts start frozen"],
  ["transfers that are paused", 26, bytesWith(33, 32, 1), "its transfers are paused"],
])("a token with %s", (_, type, value, reason) => {
  test("is refused everywhere with the reason, and trades again once the extension is gone", async () => {
    await wallet.buy(order());
    await extend(type, value);
    await untilQuoted(true);
    for (const { path, status, error } of await answers()) {
      expect([path, status, error?.code]).toEqual([path, 422, "UNSUPPORTED_TOKEN_EXTENSION"]);
      expect(error?.message).toContain(reason);
      expect(error?.message).toContain(mint);
      expect(error?.field).toMatch(/^(mint|inputMint|outputMint)$/);
    }
    await service.sandbox.setAccounts([plain]);
    await untilQuoted(false);
    const trade = await wallet.buy(order());
    expect(BigInt(trade.tradeResult!.outputAmountRaw)).toBeGreaterThan(0n);
  });
});

describe.each([
  ["a transfer hook that names no program", HOOK, bytesWith(64, 0, 1)],
  ["accounts that start usable", 6, Uint8Array.of(INITIALIZED)],
  ["pausable transfers that are not paused", 26, bytesWith(33, 0, 1)],
])("a token with %s", (_, type, value) => {
  test("trades", async () => {
    // What is refused until it is replaced shows that the service has seen what replaced it.
    await extend(...NON_TRANSFERABLE);
    await untilQuoted(true);
    await extend(type, value);
    await untilQuoted(false);
    const built = await wallet.buildBuy(order());
    const trade = await wallet.submit(built.submissionToken, await wallet.sign(built));
    expect(trade.tradeResult!.outputAmountRaw).toBe(built.estimates!.outputAmountRaw);
  });
});
