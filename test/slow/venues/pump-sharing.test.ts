import { describe, expect, it } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { hex, viewOf } from "../../../src/primitives/bytes.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { SOL_MINT, USDC_MINT } from "../../../src/solana/programs.ts";
import { PUMP_PROGRAM, sharingConfigOf } from "../../../src/venues/pump-fun/layout.ts";
import { pumpFun } from "../../../src/venues/pump-fun/venue.ts";
import { PUMP_FEE_PROGRAM } from "../../../src/venues/shared/pump-fees.ts";
import { judge, readMarket, runTrades } from "../../conformance/trades.ts";
import { Svm } from "../../support/svm.ts";
import { type PumpBuilds, pumpBuildsOf } from "./support/pump-builds.ts";
import { writeCoin, writePumpSettings } from "./support/pump-fun.ts";
import { newKey } from "./support/random-keys.ts";

/** Coins whose creator shares the fee with up to ten others: every trade by today's instructions tells of each. */
const BUILDS = pumpBuildsOf("pump_fun");
const TRADES = 24;
const QUOTE = 41_000_000_000n;

interface Sharing {
  readonly build: PumpBuilds;
  readonly quote: Address;
  readonly among: number;
  /** False: the settings exist, but the curve names another creator. */
  readonly isCreator: boolean;
}

function writeSharing(svm: Svm, mint: Address, among: number, random: Random): Address {
  const { address, bump } = sharingConfigOf(mint);
  const data = new Uint8Array(80 + 34 * among);
  data.set(hex("d84a0900388c5d4b"));
  data.set([bump, 1, 1], 8);
  data.set(mint.bytes, 11);
  data.set(newKey(random).bytes, 43);
  data[75] = 1;
  viewOf(data).setUint32(76, among, true);
  for (let index = 0; index < among; index++) {
    data.set(newKey(random).bytes, 80 + 34 * index);
    viewOf(data).setUint16(112 + 34 * index, 10_000 / among, true);
  }
  return svm.setAccount({ address, owner: PUMP_FEE_PROGRAM, data });
}

function tradeShared({ build, quote, among, isCreator }: Sharing) {
  const random = createRandom(among);
  const svm = new Svm();
  svm.addProgram(PUMP_PROGRAM, build.fun);
  svm.addProgram(PUMP_FEE_PROGRAM, build.fees);
  if (quote === USDC_MINT) svm.newMint({ decimals: 6, address: USDC_MINT });
  writePumpSettings(svm, { quoteMints: quote === SOL_MINT ? [] : [quote] });
  const mint = svm.newMint({ decimals: 6, supply: 10n ** 15n, address: newKey(random) });
  const sharing = writeSharing(svm, mint, among, random);
  const market = writeCoin(svm, {
    mint,
    quoteMint: quote,
    virtualTokens: 779_900_000_000_000n,
    virtualQuote: QUOTE,
    realTokens: 500_000_000_000_000n,
    realQuote: 11_000_000_000n,
    creator: isCreator ? sharing : newKey(random),
  });
  const wallet = svm.newWallet(1n << 60n);
  return runTrades({
    svm,
    venue: pumpFun,
    market,
    pair: { a: quote, b: mint },
    wallet,
    random,
    count: TRADES,
    limit: (side) => (side === quote ? QUOTE / 10n : 10n ** 13n),
    before: () => {
      svm.setTokens(wallet, mint, 1n << 60n);
      if (quote !== SOL_MINT) svm.setTokens(wallet, quote, 1n << 55n);
    },
  });
}

describe.skipIf(BUILDS.length === 0).each(BUILDS)("coins with a shared creator's fee ($path)", (build) => {
  const cases = [SOL_MINT, USDC_MINT].flatMap((quote) =>
    [1, 10].flatMap((among) => [true, false].map((isCreator) => ({ build, quote, among, isCreator }))),
  );
  it.each(cases)("priced in $quote, among $among, of the curve's creator: $isCreator", (shared) => {
    const { faults, trades, worstUnitRatio } = judge(tradeShared(shared));
    expect(faults).toEqual([]);
    expect(trades).toBeGreaterThan(TRADES / 2);
    expect(worstUnitRatio).toBeLessThanOrEqual(1.22);
  });
});

describe.skipIf(BUILDS.length === 0)("a curve whose account names wrapped SOL", () => {
  it("is not traded, because its program moves the token instead of lamports", () => {
    const svm = new Svm();
    writePumpSettings(svm);
    const mint = svm.newMint({ decimals: 6, supply: 10n ** 15n });
    const amounts = { virtualTokens: 10n ** 15n, realTokens: 10n ** 14n, virtualQuote: QUOTE, realQuote: QUOTE / 4n };
    const market = writeCoin(svm, { mint, ...amounts });
    const account = svm.get(market)!;
    account.data.set(SOL_MINT.bytes, 83);
    svm.setAccount(account);
    const { state } = readMarket(svm, pumpFun, market, { a: SOL_MINT, b: mint });
    const ask = { mode: "exactIn", inMint: SOL_MINT, outMint: mint, amount: 1_000_000n, clock: svm.clock() } as const;
    expect(() => pumpFun.quote(state, ask)).toThrow("is priced in wrapped SOL as a token");
  });
});
