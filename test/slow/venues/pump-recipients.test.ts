import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import { PUMP_PROGRAM } from "../../../src/venues/pump-fun/layout.ts";
import { pumpFun } from "../../../src/venues/pump-fun/venue.ts";
import { PUMP_SWAP_PROGRAM } from "../../../src/venues/pump-swap/layout.ts";
import { pumpSwap } from "../../../src/venues/pump-swap/venue.ts";
import { PUMP_FEE_PROGRAM } from "../../../src/venues/shared/pump-fees.ts";
import type { Venue } from "../../../src/venues/venue.ts";
import { judge, readMarket, runTrades } from "../../conformance/trades.ts";
import { Svm } from "../../support/svm.ts";
import { extendMint } from "./support/extended-mint.ts";
import { type PumpBuilds, pumpBuildsOf } from "./support/pump-builds.ts";
import { BUYBACK_GROUP, recipientAddress, writeCoin, writePumpSettings } from "./support/pump-fun.ts";
import { writePumpPool, writePumpSwapSettings } from "./support/pump-swap.ts";
import { newKey, newWallet } from "./support/random-keys.ts";

/**
 * Markets priced in a token that Pump itself does not trade: anyone makes one, and a recipient of fees has an account for the token only
 * if somebody has opened it. A trade that names another fails on `pump_fun`; on `pump_swap` it opens the account at the wallet's expense,
 * with up to 48,000 compute units beyond the trade's own.
 */
const BUILDS = pumpBuildsOf("pump_fun");
const FEE_GROUP = 1;
/** Those with an account, by their group and place. */
const OPEN = [
  [FEE_GROUP, 3],
  [FEE_GROUP, 6],
  [BUYBACK_GROUP, 5],
] as const;
/** Has one that the issuer of the token has frozen. */
const FROZEN = [FEE_GROUP, 1] as const;
const STATE_OFFSET = 108;
const TRADES = 60;

beforeEach(() => void vi.stubEnv("VENUE_RUNS", undefined));
afterEach(() => void vi.unstubAllEnvs());

/** The token that a market is priced in: its program, and how many extensions its mint has. */
interface QuoteKind {
  readonly name: string;
  readonly program: Address;
  readonly extensions: number;
}

interface Place {
  readonly svm: Svm;
  readonly venue: Venue;
  readonly market: Address;
  readonly coin: Address;
  readonly quote: Address;
}

function tokensOn(svm: Svm, random: Random, { program, extensions }: QuoteKind) {
  const elsewhere = svm.newMint({ decimals: 6, address: newKey(random) });
  const quote = svm.newMint({ decimals: 6, program, address: newKey(random) });
  if (extensions > 0) extendMint(svm, quote, extensions);
  const coin = svm.newMint({ decimals: 6, supply: 10n ** 15n, address: newKey(random) });
  return { elsewhere, quote, coin };
}

function onCurve(build: PumpBuilds, random: Random, kind: QuoteKind): Place {
  const svm = new Svm();
  svm.addProgram(PUMP_PROGRAM, build.fun);
  svm.addProgram(PUMP_FEE_PROGRAM, build.fees);
  const { elsewhere, quote, coin } = tokensOn(svm, random, kind);
  writePumpSettings(svm, { quoteMints: [elsewhere] });
  const market = writeCoin(svm, {
    mint: coin,
    quoteMint: quote,
    virtualTokens: 900_000_000_000_000n,
    virtualQuote: 50_000_000_000n,
    realTokens: 600_000_000_000_000n,
    realQuote: 20_000_000_000n,
    creator: newKey(random),
  });
  return { svm, venue: pumpFun as Venue, market, coin, quote };
}

function inPool(build: PumpBuilds, random: Random, kind: QuoteKind): Place {
  const svm = new Svm();
  svm.addProgram(PUMP_SWAP_PROGRAM, build.swap);
  svm.addProgram(PUMP_FEE_PROGRAM, build.fees);
  const { elsewhere, quote, coin } = tokensOn(svm, random, kind);
  writePumpSwapSettings(svm, { quoteMint: elsewhere });
  const market = writePumpPool(svm, {
    base: coin,
    quote,
    baseAmount: 200_000_000_000_000n,
    quoteAmount: 90_000_000_000n,
    coinCreator: newKey(random),
  });
  return { svm, venue: pumpSwap as Venue, market, coin, quote };
}

const QUOTES: readonly QuoteKind[] = [
  { name: "a token", program: TOKEN_PROGRAM, extensions: 0 },
  ...[0, 1, 9].map((extensions) => ({
    name: `a token of Token-2022 with ${extensions} extensions`,
    program: TOKEN_2022_PROGRAM,
    extensions,
  })),
];
const KINDS = [
  { name: "pump_fun", open: onCurve },
  { name: "pump_swap", open: inPool },
].flatMap(({ name, open }) =>
  BUILDS.flatMap((build) =>
    QUOTES.map((kind) => ({ build, path: build.path, name: `${name}, priced in ${kind.name}`, open, kind })),
  ),
);

function openAccounts({ svm, quote }: Place): void {
  for (const [group, place] of OPEN) svm.setTokens(recipientAddress(group, place), quote, 0n);
  const frozen = svm.get(svm.setTokens(recipientAddress(...FROZEN), quote, 0n))!;
  frozen.data[STATE_OFFSET] = 2;
  svm.setAccount(frozen);
}

describe.skipIf(KINDS.length === 0).each(KINDS)("$name ($path)", ({ build, name, open, kind }) => {
  it("pays its fees to recipients that have an account for the token, and opens none for them", () => {
    const random = createRandom(name.length);
    const place = open(build, random, kind);
    openAccounts(place);
    const { svm, venue, market, coin, quote } = place;
    const wallet = newWallet(svm, random);
    const outcomes = runTrades({
      svm,
      venue,
      market,
      pair: { a: coin, b: quote },
      wallet,
      random,
      count: TRADES,
      limit: (mint) => (mint === coin ? 10n ** 13n : 10n ** 9n),
      before: () => {
        svm.setTokens(wallet, coin, 10n ** 16n);
        svm.setTokens(wallet, quote, 10n ** 13n);
      },
    });
    const { faults, trades } = judge(outcomes);
    expect(faults).toEqual([]);
    expect(trades).toBeGreaterThan(TRADES / 2);
  });

  it("is not traded while no recipient has one", () => {
    const { svm, venue, market, coin, quote } = open(build, createRandom(7), kind);
    const { state } = readMarket(svm, venue, market, { a: coin, b: quote });
    for (const [inMint, outMint] of [
      [coin, quote],
      [quote, coin],
    ] as const) {
      const ask = { mode: "exactIn", inMint, outMint, amount: 1_000_000n, clock: svm.clock() } as const;
      expect(() => venue.quote(state, ask)).toThrow("nobody whom they go to has an account");
    }
  });
});
