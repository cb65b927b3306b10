import { expect, test } from "vitest";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import { readSampleMarkets } from "../../../test/support/sample-markets.ts";
import { readTransaction } from "../../client/verify/read-transaction.ts";
import type { HotMarket } from "../../market/port.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import { associatedTokenAddress } from "../../solana/pda.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { PUMP_PROGRAM } from "../../venues/pump-fun/layout.ts";
import { quoteTrade } from "../quote/quote-trade.ts";
import { buildTrade } from "./build-trade.ts";
import { measureRoutes } from "./route-fit.ts";

const { mint, clock, markets } = readSampleMarkets();
const WALLET = Address.from(createRandom(77).bytes(32));
const held = { address: associatedTokenAddress(WALLET, mint, TOKEN_PROGRAM), amount: 1n << 50n };

/** A purchase for 16,000 SOL over the deepest sample of each venue, and the accounts that the swap on `pump_fun` names. */
async function build(ids: readonly string[], change: (hot: HotMarket) => HotMarket = (hot) => hot) {
  const hot = ids.map((id) => change(markets.find(({ venue }) => venue.id === id)!.hot));
  const ports = memoryPorts({ mint, clock, wallet: WALLET, markets: hot, tokens: held });
  const built = await buildTrade(
    { ...ports, settings: { ...ports.settings, transactionV1: true } },
    {
      principal: { accountId: "test", keyId: "test", wallet: WALLET },
      inMint: SOL_MINT,
      outMint: mint,
      mode: "exactIn",
      amount: 16_000,
      slippage: 0.01,
      priority: "fast",
      maxPriceImpact: undefined,
      maxPriorityCost: undefined,
      maxTransactionVersion: 1,
    },
  );
  const { instructions } = readTransaction(built.unsignedTransaction);
  const pump = instructions.find(({ program }) => program === PUMP_PROGRAM);
  return { legs: built.route.length, named: pump?.accounts.length, fitLoss: built.estimates.fitLoss };
}

/** What a quote of the same purchase says of the routes that do not fit. */
async function unfitReasons(ids: readonly string[], refusesLean: HotMarket["refusesLean"]): Promise<readonly string[]> {
  const hot = ids.map((id) => ({ ...markets.find(({ venue }) => venue.id === id)!.hot, refusesLean }));
  const base = memoryPorts({ mint, clock, wallet: WALLET, markets: hot, tokens: held });
  const ports = { ...base, settings: { ...base.settings, transactionV1: true } };
  const { faults } = await quoteTrade(
    { ...ports, measureRoutes: (...asked) => measureRoutes(ports, ...asked) },
    {
      inMint: SOL_MINT,
      outMint: mint,
      mode: "exactIn",
      amount: 16_000,
      slippage: 0.01,
      maxPriceImpact: undefined,
      maxPriorityCost: undefined,
      maxTransactionVersion: 1,
    },
  );
  return faults.map(({ reason }) => reason);
}

const withoutLean = (hot: HotMarket): HotMarket => {
  const { older: _, lean: __, ...venue } = hot.venue;
  return { ...hot, venue };
};

test("a route that fits only by pump_fun's older instruction is built with it, and one that fits is not", async () => {
  const wide = ["pump_fun", "pump_swap", "raydium_clmm", "meteora_damm_v1"];
  expect(await build(["pump_fun"])).toMatchObject({ legs: 1, named: 27 });
  expect(await build(wide)).toEqual({ legs: 4, named: 18, fitLoss: undefined });
  const narrower = { legs: 3, named: 27, fitLoss: expect.closeTo(0.0208, 4) };
  expect(await build(wide, withoutLean)).toMatchObject(narrower);
  // Shadow execution has found that the deployed program does not know it.
  expect(await build(wide, (hot) => ({ ...hot, refusesLean: "older" }))).toMatchObject(narrower);
  expect((await unfitReasons(wide, undefined)).join()).not.toContain("leaner form");
  expect((await unfitReasons(wide, "older")).join()).toContain("a deployed program refuses its leaner form");
});

test("samples of both of pump's programs list the same buyback recipients, as the chain does", () => {
  const named = ["pump_fun", "pump_swap"].map((id) => {
    const { venue, hot } = markets.find((sample) => sample.venue.id === id)!;
    const quote = venue.quote(hot.state, {
      mode: "exactIn",
      inMint: SOL_MINT,
      outMint: mint,
      amount: 1_000_000n,
      clock,
    });
    const terms = {
      wallet: WALLET,
      source: held.address,
      destination: held.address,
      threshold: 1n,
      exists: () => true,
    };
    return Array.from({ length: 8 }, (_, index) => {
      const { instructions } = venue.swap(hot.state, quote, { ...terms, salt: index << 8 });
      return instructions.at(-1)!.accounts.map(({ address }) => address.toString());
    });
  });
  const [fun, swap] = named as [string[][], string[][]];
  const recipients = fun.map((accounts) => accounts[8]!);
  expect(new Set(recipients).size).toBe(8);
  expect(swap.map((accounts) => accounts.at(-2))).toEqual(recipients);
});
