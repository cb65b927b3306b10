import { existsSync } from "node:fs";
import type { Address } from "../../../../src/primitives/address.ts";
import { associatedTokenAddress } from "../../../../src/solana/pda.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../../../src/solana/programs.ts";
import { createTokenAccount } from "../../../../src/solana/token/token-instructions.ts";
import { meteoraDammV1 } from "../../../../src/venues/meteora-damm-v1/venue.ts";
import { meteoraDammV2 } from "../../../../src/venues/meteora-damm-v2/venue.ts";
import { DBC_PROGRAM } from "../../../../src/venues/meteora-dbc/layout.ts";
import { meteoraDbc } from "../../../../src/venues/meteora-dbc/venue.ts";
import { meteoraDlmm } from "../../../../src/venues/meteora-dlmm/venue.ts";
import { WHIRLPOOL_PROGRAM } from "../../../../src/venues/orca-whirlpool/layout.ts";
import { orcaWhirlpool } from "../../../../src/venues/orca-whirlpool/venue.ts";
import type { MintPair, Venue } from "../../../../src/venues/venue.ts";
import { Svm } from "../../../support/svm.ts";
import { allBuildsOf } from "./builds.ts";
import { reportProfit } from "./meteora-damm-v1.ts";
import { createDammV2Pool, limiterFee, marketCapFee, type NewDammV2Pool, timeFee } from "./meteora-damm-v2.ts";
import { createDbcPool, METAPLEX_PROGRAM, type NewDbcPool } from "./meteora-dbc.ts";
import { fundPlenty, installPrograms, missingFor, PLAIN_MARKETS } from "./open-markets.ts";
import { addLiquidity, createWhirlpool } from "./orca-whirlpool.ts";

/** A market on a chain of its own whose terms change with time, and a wallet that trades on it. */
export interface TimedBench {
  readonly svm: Svm;
  readonly venue: Venue;
  readonly market: Address;
  readonly pair: MintPair;
  readonly wallet: Address;
  /** Gives the wallet its tokens back. */
  fund(): void;
}

/** A kind of market whose terms change with time. */
export interface TimedMarket {
  readonly name: string;
  /** True: without another's trade, it never gives less later than quoted. */
  readonly onlyFalls: boolean;
  /** The limit on the size of buys, if it has one: the first step's input, which mint of the pair pays, and how much of it moves the price by some percent. */
  readonly limit?: { readonly reference: bigint; readonly buysWith: "a" | "b"; readonly push: bigint };
  /** Files of programs. */
  readonly needs: readonly string[];
  open(): TimedBench;
}

const ONE = 1n << 64n;
const HELD = 10n ** 18n;
const DEPTH = 10n ** 13n;
const plainOf = (name: string) => PLAIN_MARKETS.find((market) => market.name === name)!;

/** A chain with the program of a plain market, two mints of six decimals, and a wallet that holds both. */
export function bench(name: string) {
  const svm = new Svm();
  installPrograms(svm, plainOf(name));
  const wallet = svm.newWallet(10n ** 15n);
  const mints = [svm.newMint({ decimals: 6, supply: HELD }), svm.newMint({ decimals: 6, supply: HELD })] as const;
  const fund = () => fundPlenty(svm, wallet, mints);
  fund();
  return { svm, wallet, mints, fund, pair: { a: mints[0], b: mints[1] } };
}

const dammV2 = (name: string, shape: Partial<NewDammV2Pool> & Pick<NewDammV2Pool, "baseFee">): TimedMarket => ({
  name: `meteora_damm_v2, ${name}`,
  onlyFalls: true,
  needs: missingFor(plainOf("meteora_damm_v2")),
  open() {
    const { mints, ...opened } = bench("meteora_damm_v2");
    const market = createDammV2Pool(opened.svm, opened.wallet, {
      mintA: mints[0],
      mintB: mints[1],
      sqrtPrice: ONE,
      liquidity: DEPTH << 64n,
      countsSeconds: true,
      collectFeeMode: 0,
      ...shape,
    });
    return { ...opened, venue: meteoraDammV2, market };
  },
});

const dbc = (name: string, shape: Pick<NewDbcPool, "baseFee" | "volatility">): TimedMarket => ({
  name: `meteora_dbc, ${name}`,
  onlyFalls: true,
  needs: [".venues/meteora_dbc.so", ".venues/metaplex_token_metadata.so"].filter((path) => !existsSync(path)),
  open() {
    const svm = new Svm();
    svm.addProgram(DBC_PROGRAM, ".venues/meteora_dbc.so");
    svm.addProgram(METAPLEX_PROGRAM, ".venues/metaplex_token_metadata.so");
    const wallet = svm.newWallet(10n ** 15n);
    const { address: market, baseMint } = createDbcPool(svm, wallet, {
      quoteMint: SOL_MINT,
      collectFeeMode: 0,
      countsSeconds: true,
      token2022: false,
      decimals: 6,
      migrationThreshold: 200_000_000_000_000n,
      sqrtStartPrice: (ONE * 3n) / 100n,
      curve: [{ sqrtPrice: (ONE * 6n) / 100n, liquidity: (10n ** 16n) << 64n }],
      ...shape,
    });
    const coins = associatedTokenAddress(wallet, baseMint, TOKEN_PROGRAM);
    const made = svm.send(wallet, [createTokenAccount(coins, wallet, baseMint, TOKEN_PROGRAM)]);
    if (!made.ok) throw new Error(made.error);
    const fund = () => void svm.setTokens(wallet, SOL_MINT, 10n ** 14n);
    fund();
    return { svm, venue: meteoraDbc, market, pair: { a: SOL_MINT, b: baseMint }, wallet, fund };
  },
});

/** The newest build of Whirlpools here: fees that follow volatility came in May 2025. */
const [newestWhirlpool] = allBuildsOf("orca_whirlpool")
  .map(({ path }) => path)
  .filter((path) => /2025(0[7-9]|1)\d+-/.test(path))
  .reverse();

const whirlpool: TimedMarket = {
  name: "orca_whirlpool, fee that follows volatility",
  onlyFalls: false,
  needs: newestWhirlpool === undefined ? ["a build of orca_whirlpool since July 2025"] : [],
  open() {
    const { mints, ...opened } = bench("orca_whirlpool");
    const { svm, wallet } = opened;
    svm.addProgram(WHIRLPOOL_PROGRAM, newestWhirlpool!);
    const adaptive = {
      filterPeriod: 30,
      decayPeriod: 600,
      reductionFactor: 5_000,
      controlFactor: 4_000,
      maximumVolatility: 350_000,
      groupSize: 64,
      majorSwapTicks: 64,
    };
    const pool = createWhirlpool(svm, {
      creator: wallet,
      mints,
      tickSpacing: 64,
      feeRate: 3_000,
      sqrtPrice: ONE,
      adaptive,
    });
    addLiquidity(svm, wallet, pool, -9_600, 9_600, 3n * DEPTH);
    return { ...opened, venue: orcaWhirlpool, market: pool.address };
  },
};

const dlmm: TimedMarket = {
  name: "meteora_dlmm, fee that follows volatility",
  onlyFalls: false,
  needs: missingFor(plainOf("meteora_dlmm")),
  open() {
    const { mints, ...opened } = bench("meteora_dlmm");
    const market = plainOf("meteora_dlmm").open(opened.svm, opened.wallet, mints, DEPTH);
    return { ...opened, venue: meteoraDlmm, market };
  },
};

const dammV1: TimedMarket = {
  name: "meteora_damm_v1, profit that unlocks in its vaults",
  onlyFalls: false,
  needs: missingFor(plainOf("meteora_damm_v1")),
  open() {
    const { mints, ...opened } = bench("meteora_damm_v1");
    const market = plainOf("meteora_damm_v1").open(opened.svm, opened.wallet, mints, DEPTH);
    // A tenth of one vault, in six hours.
    reportProfit(opened.svm, mints[0], DEPTH / 10n, 46_296_296n, opened.svm.clock().unixTimestamp);
    return { ...opened, venue: meteoraDammV1, market };
  },
};

const flat = timeFee(2_500_000n, 0, 0n, 0n, false);

/** A pool that ends at a price, and whose fee on the input of buys falls each minute. */
export const RANGED_POOL = dammV2("linear schedule in a range of prices", {
  baseFee: timeFee(500_000_000n, 100, 60n, 4_900_000n, false),
  minSqrtPrice: ONE / 2n,
  maxSqrtPrice: ONE * 2n,
  collectFeeMode: 1,
});

/** Schedules against early buyers, limits on size, fees that follow volatility, profit that unlocks. */
export const TIMED_MARKETS: readonly TimedMarket[] = [
  dammV2("linear schedule", { baseFee: timeFee(500_000_000n, 100, 60n, 4_900_000n, false) }),
  dammV2("exponential schedule", { baseFee: timeFee(900_000_000n, 120, 30n, 250n, true), collectFeeMode: 1 }),
  dammV2("exponential schedule by slots", {
    baseFee: timeFee(900_000_000n, 65_000, 1n, 1n, true),
    countsSeconds: false,
  }),
  {
    ...dammV2("rate limiter", {
      baseFee: limiterFee(10_000_000n, 100, 1_200, 5_000, 1_000_000_000n),
      collectFeeMode: 1,
    }),
    limit: { reference: 1_000_000_000n, buysWith: "b", push: 50_000_000_000n },
  },
  dammV2("linear market-cap schedule", {
    baseFee: marketCapFee(300_000_000n, 50, 100, 1_200, 5_000_000n, false),
    collectFeeMode: 1,
  }),
  dammV2("exponential market-cap schedule", { baseFee: marketCapFee(400_000_000n, 80, 50, 1_200, 300n, true) }),
  dammV2("fee that follows volatility", { baseFee: flat, volatility: true }),
  dbc("linear schedule", {
    baseFee: { cliff: 500_000_000n, first: 100, second: 60n, third: 4_900_000n, mode: 0 },
    volatility: false,
  }),
  dbc("exponential schedule", {
    baseFee: { cliff: 900_000_000n, first: 120, second: 30n, third: 250n, mode: 1 },
    volatility: false,
  }),
  {
    ...dbc("rate limiter", {
      baseFee: { cliff: 10_000_000n, first: 100, second: 1_200n, third: 500_000_000n, mode: 2 },
      volatility: false,
    }),
    limit: { reference: 500_000_000n, buysWith: "a", push: 90_000_000_000_000n },
  },
  dbc("fee that follows volatility", {
    baseFee: { cliff: 10_000_000n, first: 0, second: 0n, third: 0n, mode: 0 },
    volatility: true,
  }),
  whirlpool,
  dlmm,
  dammV1,
];
