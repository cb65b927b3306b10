import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Tradewire } from "../../src/client/tradewire.ts";
import { Address } from "../../src/primitives/address.ts";
import { writeU64 } from "../../src/primitives/bytes.ts";
import { associatedTokenAddress } from "../../src/solana/pda.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, USDC_MINT } from "../../src/solana/programs.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { lookupTablesOf } from "../support/world.ts";

/** What a trade over two markets leaves of the mint it passes through: said before, measured after, and small. */
let service: TestService;
let wallet: Tradewire;

beforeAll(async () => {
  service = await startTestService();
  wallet = await service.newClient(100, { lookupTables: lookupTablesOf(service.sandbox.world) });
});
afterAll(() => service?.close());

type Order = Parameters<Tradewire["buildSwap"]>[0];

/** Base units of USDC the wallet holds, by the chain. */
async function usdcHeld(): Promise<bigint> {
  const account = associatedTokenAddress(wallet.wallet.publicKey as never, USDC_MINT, TOKEN_PROGRAM).toString();
  const { value } = await service.rpc<{ value: { amount: string } }>("getTokenAccountBalance", [
    account,
    { commitment: "confirmed" },
  ]);
  return BigInt(value.amount);
}

async function land(order: Order) {
  return landWith(wallet, order);
}

async function landWith(client: Tradewire, order: Order) {
  const built = await client.buildSwap(order);
  const { body } = await service.call(
    "/v1/tx/quote",
    {
      inputMint: order.inputMint,
      outputMint: order.outputMint,
      amount: order.amount,
      swapMode: order.swapMode,
      slippage: order.slippage,
    },
    client.apiKey,
  );
  const trade = await client.submit(built.submissionToken, await client.sign(built, { maxInputRaw: `${10n ** 18n}` }));
  return { built, estimates: built.estimates!, quoted: body.data!.estimates as never, trade, route: built.route };
}

const orderOf = (
  symbolIn: string,
  symbolOut: string,
  more: Pick<Order, "amount" | "swapMode" | "slippage">,
): Order => ({
  inputMint: symbolIn === "SOL" ? "SOL" : mintOf(symbolIn),
  outputMint: symbolOut === "SOL" ? "SOL" : mintOf(symbolOut),
  priority: "fast",
  ...more,
});
const mintOf = (symbol: string): string =>
  service.sandbox.world.tokens.find((token) => token.symbol === symbol)!.mint.toString();

describe.each(["exactIn", "exactOut"] as const)("over USDC, %s", (swapMode) => {
  test.each([0, 0.005, 0.05, 0.5, 0.99])(
    "slippage %d leaves the announced remainder on the chain",
    async (slippage) => {
      await land(orderOf("SOL", "USDC", { amount: 0.01, swapMode: "exactIn", slippage: 0.05 }));
      const before = await usdcHeld();
      const amount = swapMode === "exactIn" ? 0.1 : 500;
      const { estimates, quoted, trade, route } = await land(orderOf("SOL", "LEVEL", { amount, swapMode, slippage }));
      expect(route).toHaveLength(2);
      const { mint, amountRaw } = estimates.remainder!;
      expect(mint).toBe(USDC_MINT.toString());
      expect(quoted).toMatchObject({ remainder: { mint, amountRaw } });
      expect(trade.tradeResult).toMatchObject({
        inputAmountRaw: estimates.inputAmountRaw,
        outputAmountRaw: estimates.outputAmountRaw,
        remainder: { mint, amountRaw },
      });
      expect((await usdcHeld()) - before).toBe(BigInt(amountRaw));
      const passed = Number(route[1]!.inputAmountRaw);
      expect(Number(amountRaw) / passed).toBeLessThan(swapMode === "exactIn" ? 0.0051 : 0.0201);
      if (slippage === 0) expect(amountRaw).toBe("0");
    },
  );
});

test("slippage may leave only a bounded part of the estimate behind", async () => {
  const outAt = async (slippage: number) => {
    const { estimates } = await wallet.buildSwap(orderOf("SOL", "LEVEL", { amount: 1, swapMode: "exactIn", slippage }));
    return Number(estimates!.outputAmountRaw);
  };
  const none = await outAt(0);
  for (const slippage of [0.05, 0.5, 0.99]) expect(await outAt(slippage)).toBeGreaterThan(none * 0.9949);
  const inAt = async (slippage: number) => {
    const { estimates } = await wallet.buildSwap(
      orderOf("SOL", "LEVEL", { amount: 1_000, swapMode: "exactOut", slippage }),
    );
    return Number(estimates!.inputAmountRaw);
  };
  const least = await inAt(0);
  for (const slippage of [0.05, 0.5, 0.99]) expect(await inAt(slippage)).toBeLessThan(least * 1.0201);
});

test("the remainder of a route over SOL returns as the wallet's SOL", async () => {
  await land(orderOf("SOL", "EMBER", { amount: 1, swapMode: "exactIn", slippage: 0.05 }));
  const { estimates, trade, route } = await land(
    orderOf("EMBER", "ORBIT", { amount: 1_000, swapMode: "exactIn", slippage: 0.5 }),
  );
  expect(route).toHaveLength(2);
  expect(estimates.remainder?.mint).toBe(SOL_MINT.toString());
  expect(BigInt(estimates.remainder!.amountRaw)).toBeGreaterThan(0n);
  expect(trade.tradeResult!.remainder).toEqual({
    mint: SOL_MINT.toString(),
    amountRaw: estimates.remainder!.amountRaw,
  });
});

/** Puts tokens into the wallet's account of a Token-2022 mint, as if another wallet had sent them. */
async function receive(client: Tradewire, mint: Address, amount: bigint): Promise<void> {
  const owner = Address.of(client.wallet.publicKey.toString());
  const data = new Uint8Array(170);
  data.set(mint.bytes, 0);
  data.set(owner.bytes, 32);
  writeU64(data, 64, amount);
  data.set([1], 108);
  data.set([2, 7, 0, 0, 0], 165);
  const address = associatedTokenAddress(owner, mint, TOKEN_2022_PROGRAM);
  await service.sandbox.setAccounts([{ address, owner: TOKEN_2022_PROGRAM, lamports: 10_000_000n, data }]);
  // Reads show sealed blocks alone: this one's ends with its slot.
  await service.sandbox.advanceSlots(1);
}

test("two legs on one program pay for an account they share once, and say so", async () => {
  const fresh = await service.newClient(100, { lookupTables: lookupTablesOf(service.sandbox.world) });
  await receive(fresh, Address.of(mintOf("KITE")), 1_000_000_000n);
  const { built, trade } = await landWith(
    fresh,
    orderOf("KITE", "SPROUT", { amount: 500, swapMode: "exactIn", slippage: 0.05 }),
  );
  expect(built.platform).toBe("pump_fun+pump_fun");
  expect(built.costs!.rentPaid).toBe(trade.costs!.rentPaid);
  expect(trade.tradeResult!.remainder).toEqual({
    mint: SOL_MINT.toString(),
    amountRaw: built.estimates!.remainder!.amountRaw,
  });
});

test("price impacts over two markets carry no floating-point noise, and a trade on one market has no remainder", async () => {
  const two = await wallet.buildSwap(orderOf("SOL", "LEVEL", { amount: 3, swapMode: "exactIn", slippage: 0.01 }));
  expect(`${two.estimates!.priceImpact}`.length).toBeLessThanOrEqual(14);
  const one = await wallet.buildBuy({ mint: mintOf("KITE"), solAmount: 0.1, slippage: 0.01, priority: "fast" });
  expect(one.estimates!.remainder).toBeUndefined();
  const { body } = await service.call(
    "/v1/tx/buy",
    { mint: mintOf("KITE"), solAmount: 0.1, slippage: 0.01, priority: "fast" },
    wallet.apiKey,
  );
  expect(body.data!.estimates).toMatchObject({ remainder: null });
});
