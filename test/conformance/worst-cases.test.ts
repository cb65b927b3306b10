import { describe, expect, it } from "vitest";
import type { Address } from "../../src/primitives/address.ts";
import { createRandom, type Random } from "../../src/primitives/random.ts";
import { setComputeUnitLimit } from "../../src/solana/compute-budget.ts";
import { associatedTokenAddress } from "../../src/solana/pda.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { decodeMint } from "../../src/solana/token/mint.ts";
import { findSandwich, MOST_QUOTES, type Sandwich, type Victim } from "../../src/trade/quote/worst-case/sandwich.ts";
import { venues } from "../../src/venues/registry.ts";
import type { Ask, Market, Quote, SwapMode, Venue } from "../../src/venues/venue.ts";
import { isWhole } from "../support/whole.ts";
import { worldOnSvm } from "../support/world.ts";
import { readMarket } from "./trades.ts";

const SEED = 20_261_122;
const SIGNATURE_FEE = 5_000n;
/** What a drawn size may gain beyond the said one: one in a hundred thousand, and a few units of rounding. */
const TOLERANCE = 100_000n;
const ROUNDING = 16n;
const TRADES_PER_MARKET = isWhole ? 12 : 2;
const DRAWN_SIZES = isWhole ? 400 : 60;

const { world, svm } = worldOnSvm(SEED);
const victim = svm.newWallet(1n << 60n);
const attacker = svm.newWallet(1n << 60n);

const tokenAccount = (wallet: Address, mint: Address): Address =>
  associatedTokenAddress(wallet, mint, decodeMint(svm.get(mint)!).program);

/** What a wallet holds of a mint that it trades on the market. */
function held(wallet: Address, market: Market, mint: Address): bigint {
  if (market.nativeSol && mint === SOL_MINT) return svm.lamports(wallet);
  return svm.tokens(tokenAccount(wallet, mint));
}

/** Executes a swap exactly as it was signed. @returns why it failed */
function execute(wallet: Address, venue: Venue, state: unknown, quote: Quote, threshold: bigint): string | undefined {
  const leg = venue.swap(state, quote, {
    wallet,
    source: tokenAccount(wallet, quote.inMint),
    destination: tokenAccount(wallet, quote.outMint),
    threshold,
    salt: 0,
    exists: (address) => svm.get(address) !== null,
  });
  const done = svm.send(wallet, [setComputeUnitLimit(1_400_000), ...leg.instructions]);
  return done.ok ? undefined : `${done.error} ${done.logs.slice(-3).join(" | ")}`;
}

function search(asked: Victim): { readonly found: Sandwich | undefined; readonly quotes: number } {
  let quotes = 0;
  const counting: Venue = {
    ...asked.hot.venue,
    quote(state, ask) {
      quotes++;
      return asked.hot.venue.quote(state, ask);
    },
  };
  const steps = findSandwich({ ...asked, hot: { ...asked.hot, venue: counting } });
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return { found: value, quotes };
  }
}

/** What trading around the swap with a purchase of `size` gains; undefined if the swap fails then, or nothing is for sale. */
function gainOf({ hot: { venue }, state, inMint, outMint, ask, clock }: Victim, size: bigint): bigint | undefined {
  try {
    const exactIn = (from: Address, to: Address, amount: bigint): Ask => {
      return { mode: "exactIn", inMint: from, outMint: to, amount, clock };
    };
    const bought = venue.quote(state, exactIn(inMint, outMint, size));
    const between = venue.traded!(state, bought, clock);
    const passed = venue.quote(between, { mode: ask.mode, inMint, outMint, amount: ask.amount, clock });
    if (ask.mode === "exactIn" ? passed.outAmount < ask.bound : passed.inAmount > ask.bound) return undefined;
    const sold = venue.quote(venue.traded!(between, passed, clock), exactIn(outMint, inMint, bought.outAmount));
    return sold.outAmount - bought.inAmount;
  } catch {
    return undefined;
  }
}

interface Drawn {
  readonly asked: Victim;
  readonly quote: Quote;
  readonly threshold: bigint;
  readonly what: string;
}

function draw(
  venue: Venue,
  address: Address,
  pair: { a: Address; b: Address },
  random: Random,
  isBuy = random.chance(0.7),
): Drawn | undefined {
  const { market, state } = readMarket(svm, venue, address, pair);
  const [inMint, outMint] = isBuy ? [pair.b, pair.a] : [pair.a, pair.b];
  const mode: SwapMode = random.chance(0.5) ? "exactIn" : "exactOut";
  const clock = svm.clock();
  const quoted = (amount: bigint, wanted: SwapMode) => {
    try {
      return venue.quote(state, { mode: wanted, inMint, outMint, amount, clock });
    } catch {
      return undefined;
    }
  };
  // A trade that moves the price by some percent.
  let amount = 1n << 10n;
  while (amount < 1n << 50n && (quoted(amount * 2n, "exactIn")?.priceImpact ?? (amount < 1n << 20n ? 0 : 1)) < 0.04)
    amount *= 2n;
  const size = quoted(amount, "exactIn");
  const quote = size && quoted(mode === "exactIn" ? size.inAmount : size.outAmount, mode);
  if (quote === undefined) return undefined;
  const slippagePercent = 1n + random.below(5n);
  const threshold =
    mode === "exactIn"
      ? (quote.outAmount * (100n - slippagePercent)) / 100n
      : (quote.inAmount * (100n + slippagePercent)) / 100n;
  const signed = venue.signedAsk?.(quote) ?? { mode, amount: mode === "exactIn" ? quote.inAmount : quote.outAmount };
  const hot = { venue, market, state, slot: 0n };
  const ask = { ...signed, bound: signed.bound ?? threshold };
  const what = `${mode} ${quote.inAmount} of ${inMint} at ${slippagePercent} % on ${address}`;
  return { asked: { hot, state, inMint, outMint, ask, clock }, quote, threshold, what };
}

describe.each(venues.filter(({ id }) => world.tokens.some(({ venue }) => venue === id)))("$id", (venue) => {
  const tokens = world.tokens.filter((token) => token.venue === venue.id);

  it("says to the base unit what trading around a swap takes, and no other size takes more", () => {
    const random = createRandom(SEED);
    const kinds: Record<string, number> = {};
    for (const { market: address, mint, quoteMint } of tokens) {
      for (let trade = 0; trade < TRADES_PER_MARKET; trade++) {
        for (const side of [mint, quoteMint])
          for (const wallet of [victim, attacker]) svm.setTokens(wallet, side, 1n << 60n);
        // First trades each way make the accounts that wallets pay rent for.
        for (const wallet of [victim, attacker]) {
          for (const isBuy of [true, false]) {
            const first = draw(venue, address, { a: mint, b: quoteMint }, random, isBuy);
            if (first === undefined) continue;
            expect(execute(wallet, venue, first.asked.state, first.quote, first.threshold), first.what).toBeUndefined();
          }
        }
        const drawn = draw(venue, address, { a: mint, b: quoteMint }, random);
        if (drawn === undefined) continue;
        const { asked, quote, what } = drawn;
        const { found, quotes } = search(asked);
        expect(quotes, what).toBeLessThanOrEqual(MOST_QUOTES);
        expect(found, what).toBeDefined();
        kinds[found!.kind] = (kinds[found!.kind] ?? 0) + 1;
        const said = found?.kind === "profitable" ? found.taken : 0n;
        for (let size = 0; size < DRAWN_SIZES; size++) {
          const tried = random.magnitude(found?.kind === "profitable" ? found.frontRun * 4n : quote.inAmount * 4n);
          const gained = gainOf(asked, tried) ?? 0n;
          expect(gained <= said + said / TOLERANCE + ROUNDING, `${what}: ${tried} gains ${gained}, said ${said}`).toBe(
            true,
          );
        }
        if (found?.kind !== "profitable") continue;
        expect(runAround(drawn, found.frontRun), what).toBe(found.taken);
      }
    }
    console.log(`${venue.id}: ${JSON.stringify(kinds)}`);
    expect(kinds["profitable"] ?? 0).toBeGreaterThan(0);
  });
});

/** Executes the purchase, the swap as it was signed, and the sale. @returns what the attacker has gained */
function runAround({ asked, quote, threshold, what }: Drawn, size: bigint): bigint {
  const { hot, state, inMint, outMint, ask, clock } = asked;
  const { venue, market } = hot;
  const pair = { a: inMint, b: outMint };
  const [inBefore, outBefore] = [held(attacker, market, inMint), held(attacker, market, outMint)];
  const bought = venue.quote(state, { mode: "exactIn", inMint, outMint, amount: size, clock });
  expect(execute(attacker, venue, state, bought, bought.outAmount), what).toBeUndefined();

  const [paidBefore, gotBefore] = [held(victim, market, inMint), held(victim, market, outMint)];
  expect(execute(victim, venue, state, quote, threshold), what).toBeUndefined();
  const fee = market.nativeSol && inMint === SOL_MINT ? SIGNATURE_FEE : 0n;
  const feeOut = market.nativeSol && outMint === SOL_MINT ? SIGNATURE_FEE : 0n;
  if (ask.mode === "exactIn")
    expect(held(victim, market, outMint) + feeOut - gotBefore, what).toBeGreaterThanOrEqual(ask.bound);
  else expect(paidBefore - held(victim, market, inMint) - fee, what).toBeLessThanOrEqual(ask.bound);

  const rest = held(attacker, market, outMint) + feeOut - outBefore;
  const now = readMarket(svm, venue, market.address, pair).state;
  const sold = venue.quote(now, { mode: "exactIn", inMint: outMint, outMint: inMint, amount: rest, clock });
  expect(execute(attacker, venue, now, sold, sold.outAmount), what).toBeUndefined();
  return held(attacker, market, inMint) + 2n * fee - inBefore;
}
