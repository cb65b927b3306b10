import { describe, expect, it } from "vitest";
import { Address } from "../../src/primitives/address.ts";
import { readU64 } from "../../src/primitives/bytes.ts";
import { ceilDiv } from "../../src/primitives/integer.ts";
import { createRandom } from "../../src/primitives/random.ts";
import { BUYBACK_RATE } from "../../src/sandbox/world/pump-fees.ts";
import { PUMP_PROGRAM } from "../../src/sandbox/world/pump-fun.ts";
import type { Instruction } from "../../src/solana/instruction.ts";
import { associatedTokenAddress, derive } from "../../src/solana/pda.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import { curveInstruction, readCurve } from "../support/pump-curve.ts";
import { canonicalPool, migrateCurve } from "../support/pump-migration.ts";
import {
  type PumpPool,
  type PumpPoolTrade,
  pumpPoolFeeAccounts,
  pumpPoolInstruction,
  readPumpPool,
} from "../support/pump-pool.ts";
import type { Executed, Svm } from "../support/svm.ts";
import { worldOnSvm } from "../support/world.ts";

const TRADES = 40;
const BPS = 10_000n;

interface Rates {
  readonly lp: bigint;
  readonly protocol: bigint;
  readonly creator: bigint;
}

/** Rates by the world's schedule, stated here on their own: the tiers its pools and their trades reach. */
function ratesOf(svm: Svm, pool: PumpPool): Rates {
  const canonical = pool.creator === derive(PUMP_PROGRAM, "pool-authority", pool.base);
  const earns = pool.coinCreator !== SYSTEM_PROGRAM;
  if (!canonical) return { lp: 25n, protocol: 5n, creator: 0n };
  const supply = readU64(svm.get(pool.base)!.data, 36);
  const cap = (pool.quoteReserve * supply) / pool.baseReserve;
  const sol = pool.quote === SOL_MINT;
  const unit = sol ? 10n ** 9n : 10n ** 6n;
  const thresholds = sol ? [420n, 1_470n, 2_460n, 3_440n, 4_420n] : [59_000n, 300_000n, 500_000n, 700_000n];
  const tier = thresholds.filter((threshold) => cap >= threshold * unit).length;
  expect(tier).toBeLessThan(thresholds.length);
  const creator = [30n, 95n, 90n, 85n, 80n][tier]!;
  return { lp: tier === 0 ? 2n : 20n, protocol: tier === 0 ? 93n : 5n, creator: earns ? creator : 0n };
}

interface Parts extends Rates {
  readonly net: bigint;
}

const feeOf = (amount: bigint, rate: bigint): bigint => ceilDiv(amount * rate, BPS);
const partsOf = (net: bigint, rates: Rates): Parts => ({
  net,
  lp: feeOf(net, rates.lp),
  protocol: feeOf(net, rates.protocol),
  creator: feeOf(net, rates.creator),
});
const feesOf = (parts: Parts): bigint => parts.lp + parts.protocol + parts.creator;

/** A trade of random kind and size with a bound exactly at its outcome, and what it is to move. */
function pickTrade(pool: PumpPool, rates: Rates, dice: number, magnitude: (high: bigint) => bigint) {
  const { baseReserve: base, quoteReserve: quote } = pool;
  if (dice % 3 === 0) {
    const tokens = magnitude(base / 20n);
    const parts = partsOf(ceilDiv(quote * tokens, base - tokens), rates);
    return { trade: { kind: "buy", first: tokens, second: parts.net + feesOf(parts) } as PumpPoolTrade, tokens, parts };
  }
  if (dice % 3 === 1) {
    const budget = magnitude(quote / 20n);
    let net = (budget * BPS) / (BPS + rates.lp + rates.protocol + rates.creator);
    const fees = partsOf(net, rates);
    const excess = net + feesOf(fees) - budget;
    if (excess > 0n) net -= excess;
    const tokens = net > 0n ? (base * (net - 1n)) / (quote + net - 1n) : 0n;
    if (tokens === 0n) return undefined;
    const trade: PumpPoolTrade = { kind: "buyExactQuoteIn", first: budget, second: tokens };
    return { trade, tokens, parts: { ...fees, net } };
  }
  const tokens = magnitude(base / 20n);
  const parts = partsOf((quote * tokens) / (base + tokens), rates);
  const output = parts.net - feesOf(parts);
  if (parts.net === 0n || output < 0n) return undefined;
  return { trade: { kind: "sell", first: tokens, second: output } as PumpPoolTrade, tokens, parts };
}

function holdings(svm: Svm, pool: PumpPool, user: Address, salt: number) {
  const fees = pumpPoolFeeAccounts(pool, user, salt);
  return {
    tokens: svm.tokens(associatedTokenAddress(user, pool.base, pool.baseProgram)),
    quote: svm.tokens(associatedTokenAddress(user, pool.quote, TOKEN_PROGRAM)),
    poolTokens: svm.tokens(pool.baseVault),
    poolQuote: svm.tokens(pool.quoteVault),
    protocol: svm.tokens(fees.protocol),
    buyback: svm.tokens(fees.buyback),
    creator: svm.tokens(pool.cashback ? fees.userVolumeQuote : fees.creatorVault),
  };
}

function newTrader(svm: Svm, pool: PumpPool): Address {
  const user = svm.newWallet();
  svm.setTokens(user, pool.base, 10n ** 15n);
  svm.setTokens(user, pool.quote, 10n ** 13n);
  return user;
}

/** Random trades, each refused with a bound one unit tighter and moving exactly what the formulas say with its own. */
function expectExactTrades(svm: Svm, address: Address, seed: number): void {
  const random = createRandom(seed);
  const user = newTrader(svm, readPumpPool(svm, address));
  for (let index = 0; index < TRADES; index++) {
    const pool = readPumpPool(svm, address);
    const salt = random.u32() % 8;
    const picked = pickTrade(pool, ratesOf(svm, pool), random.u32(), random.magnitude);
    if (picked === undefined) continue;
    const { trade, tokens, parts } = picked;
    const bound = trade.kind === "buy" ? trade.second - 1n : trade.second + 1n;
    const slippage = { buy: 6004, buyExactQuoteIn: 6040, sell: 6004 }[trade.kind];
    const refused = svm.simulate(user, [pumpPoolInstruction(pool, user, { ...trade, second: bound }, salt)]);
    expect(refused.logs.join("\n"), `trade ${index}`).toContain(`Error Number: ${slippage}.`);

    const before = holdings(svm, pool, user, salt);
    const done = svm.send(user, [pumpPoolInstruction(pool, user, trade, salt)]);
    expectDone(done);
    const buyback = (parts.protocol * BUYBACK_RATE) / BPS;
    const selling = trade.kind === "sell";
    const sign = selling ? -1n : 1n;
    const paid = selling ? parts.net - feesOf(parts) : parts.net + feesOf(parts);
    const kept = selling ? parts.net - parts.lp : parts.net + parts.lp;
    expect(holdings(svm, pool, user, salt), `trade ${index}: ${trade.kind} ${trade.first}`).toEqual({
      tokens: before.tokens + sign * tokens,
      quote: before.quote - sign * paid,
      poolTokens: before.poolTokens - sign * tokens,
      poolQuote: before.poolQuote + sign * kept,
      protocol: before.protocol + parts.protocol - buyback,
      buyback: before.buyback + buyback,
      creator: before.creator + parts.creator,
    });
    expect(done.computeUnits).toBeLessThan(150_000);
  }
}

describe("the PumpSwap stand-in", () => {
  const { world, svm } = worldOnSvm(6);
  const tokens = world.tokens.filter((token) => token.venue === "pump_swap");

  for (const token of tokens) {
    it(`moves exactly what the published formulas say: ${token.symbol}`, () => {
      expectExactTrades(svm, token.market, 17);
    });
  }

  for (const symbol of ["BRINK", "DIME"]) {
    it(`takes over a completed curve and trades on: ${symbol}`, () => {
      const coin = world.tokens.find((one) => one.symbol === symbol)!;
      const curve = readCurve(svm, coin.mint);
      const user = svm.newWallet();
      svm.setTokens(user, coin.mint, 0n);
      if (!curve.native) svm.setTokens(user, curve.quote, 10n ** 15n);
      const withdrawAuthority = Address.from(svm.get(derive(PUMP_PROGRAM, "global"))!.data, 113);
      const migration = migrateCurve(
        {
          mint: coin.mint,
          mintProgram: coin.program,
          quoteMint: coin.quoteMint,
          quoteProgram: TOKEN_PROGRAM,
          withdrawAuthority,
        },
        user,
      );
      expectError(svm.send(user, [migration]), 6006, "BondingCurveNotComplete");
      const all = { kind: "buy", first: curve.realToken, second: 1n << 60n } as const;
      expectDone(svm.send(user, [curveInstruction(curve, user, all, 0)]));

      const full = readCurve(svm, coin.mint);
      const left = svm.tokens(associatedTokenAddress(curve.address, coin.mint, coin.program));
      const done = svm.send(user, [migration]);
      expectDone(done);
      expect(done.computeUnits).toBeLessThan(200_000);
      const pool = readPumpPool(svm, canonicalPool(coin.mint, coin.quoteMint));
      const migrationFee = curve.native ? 15_000_001n : 0n;
      expect(pool).toMatchObject({
        base: coin.mint,
        quote: coin.quoteMint,
        creator: derive(PUMP_PROGRAM, "pool-authority", coin.mint),
        coinCreator: curve.creator,
        baseReserve: left,
        quoteReserve: full.realQuote - migrationFee,
      });
      expect(readCurve(svm, coin.mint)).toMatchObject({ complete: true, virtualToken: 0n, virtualQuote: 0n });
      expectError(svm.send(user, [migration]), 6081, "BondingCurveAlreadyMigrated");
      expectExactTrades(svm, pool.address, 23);
    });
  }

  // As on the program: the accounts behind the named ones are then those of a trade without a creator.
  it.each([
    { symbol: "REBATE", ofCreator: 3 },
    { symbol: "ORBIT", ofCreator: 1 },
  ])("counts the creator whom a sale for nothing pays nothing as none: $symbol", ({ symbol, ofCreator }) => {
    const pool = readPumpPool(svm, tokens.find((one) => one.symbol === symbol)!.market);
    const user = newTrader(svm, pool);
    const [sale, bounded] = [0n, 1n].map((second) =>
      pumpPoolInstruction(pool, user, { kind: "sell", first: 1n, second }, 0),
    );
    expectError(svm.simulate(user, [bounded!]), 6004, "ExceededSlippage");
    expectError(svm.simulate(user, [sale!]), 6053, "BuybackFeeRecipientNotAuthorized");
    expectDone(svm.simulate(user, [{ ...sale!, accounts: sale!.accounts.toSpliced(21, ofCreator) }]));
  });

  it("reports each refusal with its own error", () => {
    const token = tokens.find((one) => one.symbol === "REBATE")!;
    const pool = readPumpPool(svm, token.market);
    const user = newTrader(svm, pool);
    const send = (trade: PumpPoolTrade, change: (whole: Instruction) => Instruction = (same) => same): Executed =>
      svm.simulate(user, [change(pumpPoolInstruction(pool, user, trade, 0))]);
    const small: PumpPoolTrade = { kind: "sell", first: 1_000_000n, second: 0n };
    const without = (from: number, count: number) => (whole: Instruction) => ({
      ...whole,
      accounts: whole.accounts.toSpliced(from, count),
    });

    expectDone(send(small));
    expectError(send({ ...small, first: 0n }), 6001, "ZeroBaseAmount");
    expectError(send({ kind: "buyExactQuoteIn", first: 1_000n, second: 0n }), 6001, "ZeroBaseAmount");
    expectError(send({ kind: "buyExactQuoteIn", first: 0n, second: 1n }), 6002, "ZeroQuoteAmount");
    expectError(send({ kind: "buyExactQuoteIn", first: 1n, second: 1n }), 6039, "BuyNotEnoughQuoteTokensToCoverFees");
    expectError(
      send({ kind: "buy", first: pool.baseReserve, second: 1n << 60n }),
      6016,
      "BuyMoreBaseAmountThanPoolReserves",
    );
    expectError(send(small, without(21, 5)), 6059, "MissingCashbackAccounts");
    expectError(send(small, without(23, 3)), 6062, "InvalidPoolV2");
    expectError(send(small, without(24, 2)), 6058, "BuybackFeeRecipientMissing");
    expectError(
      send(small, (whole) => ({ ...whole, data: new Uint8Array(24) })),
      101,
      "InstructionFallbackNotFound",
    );
  });
});

function expectDone(executed: Executed): void {
  expect(executed.ok, `${executed.error}\n${executed.logs.join("\n")}`).toBe(true);
}

function expectError(executed: Executed, number: number, name: string): void {
  expect(executed.ok).toBe(false);
  const logs = executed.logs.join("\n");
  expect(logs).toMatch(
    new RegExp(`AnchorError .*Error Code: ${name}\\. Error Number: ${number}\\. Error Message: .+\\.`),
  );
  expect(logs).toContain(`custom program error: 0x${number.toString(16)}`);
}
