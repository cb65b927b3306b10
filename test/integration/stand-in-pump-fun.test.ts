import { describe, expect, it } from "vitest";
import type { Address } from "../../src/primitives/address.ts";
import { readU64 } from "../../src/primitives/bytes.ts";
import { createRandom } from "../../src/primitives/random.ts";
import { rentExempt } from "../../src/sandbox/world/genesis-ledger.ts";
import { BUYBACK_RATE } from "../../src/sandbox/world/pump-fees.ts";
import { PUMP_PROGRAM } from "../../src/sandbox/world/pump-fun.ts";
import { type Instruction, writable } from "../../src/solana/instruction.ts";
import { associatedTokenAddress } from "../../src/solana/pda.ts";
import { TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import {
  boughtFor,
  type Curve,
  type CurveParts,
  type CurveRates,
  type CurveTrade,
  costOf,
  curveAccounts,
  curveInstruction,
  partsOf,
  readCurve,
  worthOf,
} from "../support/pump-curve.ts";
import type { Executed, Svm } from "../support/svm.ts";
import { worldOnSvm } from "../support/world.ts";

const TRADES = 40;
const USER_VOLUME_SIZE = 137;
const SIGNATURE_FEE = 5_000n;
const ENOUGH = 1n << 60n;

/** Rates by the world's schedule, stated here on their own: below 420 SOL or 59 000 USDC of market cap, and above. */
function ratesOf(svm: Svm, curve: Curve): CurveRates {
  const supply = curve.mayhem ? curve.totalSupply : readU64(svm.get(curve.mint)!.data, 36);
  const cap = (curve.virtualQuote * supply) / curve.virtualToken;
  const second = cap >= (curve.native ? 420n * 10n ** 9n : 59_000n * 10n ** 6n);
  expect(cap).toBeLessThan(curve.native ? 1_470n * 10n ** 9n : 300_000n * 10n ** 6n);
  const creator = curve.creatorFee !== 0n ? curve.creatorFee : second ? 95n : 30n;
  return { protocol: second ? 25n : 95n, creator };
}

interface Holdings {
  readonly tokens: bigint;
  readonly quote: bigint;
  readonly curveTokens: bigint;
  readonly curveQuote: bigint;
  readonly protocol: bigint;
  readonly buyback: bigint;
  readonly creator: bigint;
}

function holdings(svm: Svm, curve: Curve, user: Address, salt: number): Holdings {
  const { feeRecipient, buyback, creatorVault, userVolume } = curveAccounts(curve, user, salt);
  const quoteOf = (owner: Address): bigint =>
    curve.native ? svm.lamports(owner) : svm.tokens(associatedTokenAddress(owner, curve.quote, TOKEN_PROGRAM));
  const tokensOf = (owner: Address): bigint => svm.tokens(associatedTokenAddress(owner, curve.mint, curve.baseProgram));
  return {
    tokens: tokensOf(user),
    quote: quoteOf(user),
    curveTokens: tokensOf(curve.address),
    curveQuote: quoteOf(curve.address),
    protocol: quoteOf(feeRecipient),
    buyback: quoteOf(buyback),
    creator: quoteOf(curve.cashback ? userVolume : creatorVault),
  };
}

/** A wallet with token accounts for the coin and, where the quote is a token, plenty of it. */
function newTrader(svm: Svm, curve: Curve, tokens: bigint): Address {
  const user = svm.newWallet();
  svm.setTokens(user, curve.mint, tokens);
  if (!curve.native) svm.setTokens(user, curve.quote, 10n ** 15n);
  return user;
}

describe("the bonding curve stand-in", () => {
  const { world, svm } = worldOnSvm(3);
  const coins = world.tokens.filter((token) => token.venue === "pump_fun");

  it("has a coin of every kind", () => {
    const curves = coins.map((coin) => readCurve(svm, coin.mint));
    expect(curves.some((curve) => curve.cashback)).toBe(true);
    expect(curves.some((curve) => curve.mayhem)).toBe(true);
    expect(curves.some((curve) => curve.creatorFee > 0n)).toBe(true);
    expect(curves.some((curve) => !curve.native)).toBe(true);
    expect(new Set(curves.map((curve) => curve.baseProgram)).size).toBe(2);
  });

  for (const coin of coins) {
    it(`moves exactly what the published formulas say: ${coin.symbol}`, () => {
      const random = createRandom(99);
      const user = newTrader(svm, readCurve(svm, coin.mint), 0n);
      // The first trade also makes accounts: its rent is looked at in a test of its own.
      const first: CurveTrade = { kind: "buyExactQuoteIn", first: 50_000_000n, second: 1n };
      expectDone(svm.send(user, [curveInstruction(readCurve(svm, coin.mint), user, first, 0)]));

      for (let index = 0; index < TRADES; index++) {
        const curve = readCurve(svm, coin.mint);
        const salt = random.u32() % 8;
        const rates = ratesOf(svm, curve);
        const before = holdings(svm, curve, user, salt);
        const { trade, tokens, parts } = pickTrade(curve, rates, before.tokens, random.u32(), random.magnitude);
        if (trade === undefined) continue;
        const bound = trade.kind === "buy" ? trade.second - 1n : trade.second + 1n;
        const refused = svm.simulate(user, [curveInstruction(curve, user, { ...trade, second: bound }, salt)]);
        const slippage = { buy: 6002, buyExactQuoteIn: 6042, sell: 6003 }[trade.kind];
        expect(refused.logs.join("\n"), `trade ${index}`).toContain(`Error Number: ${slippage}.`);

        const done = svm.send(user, [curveInstruction(curve, user, trade, salt)]);
        expectDone(done);
        const selling = trade.kind === "sell";
        const sign = selling ? -1n : 1n;
        const total = selling ? parts.net - parts.protocol - parts.creator : parts.net + parts.protocol + parts.creator;
        const buyback = curve.mayhem ? 0n : (parts.protocol * BUYBACK_RATE) / 10_000n;
        expect(holdings(svm, curve, user, salt), `trade ${index}: ${trade.kind} ${trade.first}`).toEqual({
          tokens: before.tokens + sign * tokens,
          quote: before.quote - sign * total - (curve.native ? SIGNATURE_FEE : 0n),
          curveTokens: before.curveTokens - sign * tokens,
          curveQuote: before.curveQuote + sign * parts.net,
          protocol: before.protocol + parts.protocol - buyback,
          buyback: before.buyback + buyback,
          creator: before.creator + parts.creator,
        });
        expect(readCurve(svm, coin.mint)).toEqual({
          ...curve,
          virtualToken: curve.virtualToken - sign * tokens,
          virtualQuote: curve.virtualQuote + sign * parts.net,
          realToken: curve.realToken - sign * tokens,
          realQuote: curve.realQuote + sign * parts.net,
        });
        expect(done.computeUnits).toBeLessThan(150_000);
      }
    });
  }

  it("completes when its last token is sold, and stops trading", () => {
    const coin = coins.find((one) => one.symbol === "BRINK")!;
    const curve = readCurve(svm, coin.mint);
    const user = newTrader(svm, curve, 0n);
    const beyond: CurveTrade = { kind: "buyExactQuoteIn", first: 100n * 10n ** 9n, second: 1n };
    expectError(svm.send(user, [curveInstruction(curve, user, beyond, 0)]), 6021, "NotEnoughTokensToBuy");
    const trade: CurveTrade = { kind: "buy", first: curve.realToken, second: ENOUGH };
    expectDone(svm.send(user, [curveInstruction(curve, user, trade, 0)]));
    const done = readCurve(svm, coin.mint);
    expect(done).toMatchObject({ complete: true, realToken: 0n });
    expect(svm.tokens(associatedTokenAddress(user, coin.mint, curve.baseProgram))).toBe(curve.realToken);
    const after: CurveTrade = { kind: "sell", first: 1_000n, second: 0n };
    expectError(svm.send(user, [curveInstruction(done, user, after, 0)]), 6005, "BondingCurveComplete");
  });

  it("charges the first buyer the rent of the accounts it creates", () => {
    const fresh = worldOnSvm(4);
    const coin = fresh.world.tokens.find((one) => one.symbol === "SPROUT")!;
    const curve = readCurve(fresh.svm, coin.mint);
    const user = newTrader(fresh.svm, curve, 0n);
    const { parts } = boughtFor(curve, 10n ** 9n, ratesOf(fresh.svm, curve))!;
    const before = fresh.svm.lamports(user);
    const trade: CurveTrade = { kind: "buyExactQuoteIn", first: 10n ** 9n, second: 1n };
    expectDone(fresh.svm.send(user, [curveInstruction(curve, user, trade, 0)]));
    const rent = rentExempt(0) + rentExempt(USER_VOLUME_SIZE);
    const paid = parts.net + parts.protocol + parts.creator;
    expect(before - fresh.svm.lamports(user)).toBe(paid + rent + SIGNATURE_FEE);
    const { creatorVault, userVolume } = curveAccounts(curve, user, 0);
    expect(fresh.svm.lamports(creatorVault)).toBe(rentExempt(0) + parts.creator);
    expect(fresh.svm.get(userVolume)).toMatchObject({ owner: PUMP_PROGRAM, lamports: rentExempt(USER_VOLUME_SIZE) });
  });

  it("reports each refusal with its own error", () => {
    const coin = coins.find((one) => one.symbol === "KITE")!;
    const curve = readCurve(svm, coin.mint);
    const user = newTrader(svm, curve, 5_000n);
    const send = (trade: CurveTrade, change: (instruction: Instruction) => Instruction = (same) => same): Executed =>
      svm.simulate(user, [change(curveInstruction(curve, user, trade, 0))]);
    const swapped = (index: number, address: Address) => (instruction: Instruction) => ({
      ...instruction,
      accounts: instruction.accounts.map((meta, at) => (at === index ? writable(address) : meta)),
    });
    const small: CurveTrade = { kind: "buy", first: 1_000n, second: ENOUGH };

    expectError(send({ ...small, first: 0n }), 6020, "BuyZeroAmount");
    expectError(send({ ...small, first: curve.realToken + 1n }), 6021, "NotEnoughTokensToBuy");
    expectError(send({ kind: "sell", first: 0n, second: 0n }), 6022, "SellZeroAmount");
    expectError(send({ kind: "sell", first: 5_001n, second: 0n }), 6023, "NotEnoughTokensToSell");
    expectError(send({ kind: "buyExactQuoteIn", first: 1_000n, second: 0n }), 6020, "BuyZeroAmount");
    expectError(send({ kind: "buyExactQuoteIn", first: 1n, second: 1n }), 6041, "BuyNotEnoughSolToCoverFees");
    expectError(send(small, swapped(6, svm.newAddress())), 6000, "NotAuthorized");
    expectError(send(small, swapped(8, svm.newAddress())), 6057, "BuybackFeeRecipientNotAuthorized");
    expectError(send(small, swapped(16, svm.newAddress())), 2006, "ConstraintSeeds");
    expectError(
      send(small, (instruction) => ({ ...instruction, data: new Uint8Array(24) })),
      101,
      "InstructionFallbackNotFound",
    );
    expectError(
      send(small, (instruction) => ({ ...instruction, data: instruction.data.slice(0, 16) })),
      102,
      "InstructionDidNotDeserialize",
    );

    const poor = svm.newWallet(1_500_000_000n);
    svm.setTokens(poor, curve.mint, 0n);
    const all: CurveTrade = { kind: "buyExactQuoteIn", first: 1_499_900_000n, second: 1n };
    expectError(svm.simulate(poor, [curveInstruction(curve, poor, all, 0)]), 6040, "BuyNotEnoughSolToCoverRent");
  });
});

/** A trade of random kind and size with a bound exactly at its outcome, and what it is to move. */
function pickTrade(
  curve: Curve,
  rates: CurveRates,
  held: bigint,
  dice: number,
  magnitude: (high: bigint) => bigint,
): { trade: CurveTrade | undefined; tokens: bigint; parts: CurveParts } {
  const nothing = { trade: undefined, tokens: 0n, parts: { net: 0n, protocol: 0n, creator: 0n } };
  if (dice % 3 === 0) {
    const tokens = magnitude(curve.realToken / 2n);
    const parts = partsOf(costOf(curve, tokens), rates);
    const total = parts.net + parts.protocol + parts.creator;
    return { trade: { kind: "buy", first: tokens, second: total }, tokens, parts };
  }
  if (dice % 3 === 1) {
    const budget = magnitude(curve.realQuote / 20n);
    const bought = boughtFor(curve, budget, rates);
    if (bought === undefined || bought.tokens === 0n) return nothing;
    return { trade: { kind: "buyExactQuoteIn", first: budget, second: bought.tokens }, ...bought };
  }
  if (held === 0n) return nothing;
  const tokens = magnitude(held);
  const parts = partsOf(worthOf(curve, tokens), rates);
  const output = parts.net - parts.protocol - parts.creator;
  if (output < 0n) return nothing;
  return { trade: { kind: "sell", first: tokens, second: output }, tokens, parts };
}

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
