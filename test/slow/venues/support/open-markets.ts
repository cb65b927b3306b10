import { existsSync } from "node:fs";
import type { Address } from "../../../../src/primitives/address.ts";
import { SOL_MINT } from "../../../../src/solana/programs.ts";
import { DAMM_V1_PROGRAM, VAULT_PROGRAM } from "../../../../src/venues/meteora-damm-v1/layout.ts";
import { meteoraDammV1 } from "../../../../src/venues/meteora-damm-v1/venue.ts";
import { DAMM_V2_PROGRAM } from "../../../../src/venues/meteora-damm-v2/layout.ts";
import { meteoraDammV2 } from "../../../../src/venues/meteora-damm-v2/venue.ts";
import { DLMM_PROGRAM } from "../../../../src/venues/meteora-dlmm/layout.ts";
import { meteoraDlmm } from "../../../../src/venues/meteora-dlmm/venue.ts";
import { WHIRLPOOL_PROGRAM } from "../../../../src/venues/orca-whirlpool/layout.ts";
import { orcaWhirlpool } from "../../../../src/venues/orca-whirlpool/venue.ts";
import { CLMM_PROGRAM } from "../../../../src/venues/raydium-clmm/layout.ts";
import { raydiumClmm } from "../../../../src/venues/raydium-clmm/venue.ts";
import { CPMM_PROGRAM } from "../../../../src/venues/raydium-cpmm/layout.ts";
import { raydiumCpmm } from "../../../../src/venues/raydium-cpmm/venue.ts";
import type { Venue } from "../../../../src/venues/venue.ts";
import type { Svm } from "../../../support/svm.ts";
import { createDammV1Pool, METAPLEX_PROGRAM } from "./meteora-damm-v1.ts";
import { createDammV2Pool, timeFee } from "./meteora-damm-v2.ts";
import { addLiquidity as addBins, createDlmmPair, STRATEGIES } from "./meteora-dlmm.ts";
import { addLiquidity as addPosition, createWhirlpool } from "./orca-whirlpool.ts";
import { addClmmLiquidity, createClmmPool, writeClmmConfig } from "./raydium-clmm.ts";
import { createCpmmPool, writeCpmmConfig } from "./raydium-cpmm.ts";

/** A plain market of a venue, made by its own program: price about 1 between base units, about `depth` of them on each side. */
export interface PlainMarket {
  readonly venue: Venue;
  readonly program: Address;
  /** File of the program, without its folder and ending: what its other builds are found by. */
  readonly name: string;
  /** Programs that it calls, with their files. */
  readonly calls: readonly (readonly [Address, string])[];
  /** Makes one. `owner` holds plenty of both mints. @returns its address */
  open(svm: Svm, owner: Address, mints: readonly [Address, Address], depth: bigint): Address;
  /** Makes a market what it is while this build is deployed, if that differs. */
  readonly keptBy?: (build: string, svm: Svm, market: Address) => void;
}

const ONE = 1n << 64n;
/** The first copy of `meteora_damm_v2` that keeps a layout version, and where: pools of earlier ones have none. */
const LAYOUT_SINCE = ".venues/builds/meteora_damm_v2/20260301";
const LAYOUT_VERSION = 696;
const METAPLEX = [METAPLEX_PROGRAM, "metaplex_token_metadata"] as const;
/** Ticks on each side of the price: a factor of 2.6. */
const REACH = 9_600;
const TICK_SPACING = 64;

export const PLAIN_MARKETS: readonly PlainMarket[] = [
  {
    venue: raydiumCpmm,
    program: CPMM_PROGRAM,
    name: "raydium_cpmm",
    calls: [],
    open(svm, creator, mints, depth) {
      const config = writeCpmmConfig(svm, 0, { trade: 2_500n, protocol: 120_000n, fund: 40_000n, creator: 0n });
      return createCpmmPool(svm, { creator, config, mints, amounts: [depth, depth], address: svm.newAddress() });
    },
  },
  {
    venue: orcaWhirlpool,
    program: WHIRLPOOL_PROGRAM,
    name: "orca_whirlpool",
    calls: [],
    open(svm, creator, mints, depth) {
      const tier = { tickSpacing: TICK_SPACING, feeRate: 3_000, sqrtPrice: ONE };
      const pool = createWhirlpool(svm, { creator, mints, ...tier });
      addPosition(svm, creator, pool, -REACH, REACH, 3n * depth);
      addPosition(svm, creator, pool, -TICK_SPACING * 20, TICK_SPACING * 10, depth);
      return pool.address;
    },
  },
  {
    venue: raydiumClmm,
    program: CLMM_PROGRAM,
    name: "raydium_clmm",
    calls: [METAPLEX],
    open(svm, owner, mints, depth) {
      const config = writeClmmConfig(svm, 7, TICK_SPACING, 500);
      const pool = createClmmPool(svm, owner, config, TICK_SPACING, mints, ONE + 12_345n);
      addClmmLiquidity(svm, owner, pool, -REACH, REACH, 3n * depth);
      return pool.address;
    },
  },
  {
    venue: meteoraDammV1,
    program: DAMM_V1_PROGRAM,
    name: "meteora_damm_v1",
    calls: [[VAULT_PROGRAM, "meteora_dynamic_vault"], METAPLEX],
    open: (svm, owner, [mintA, mintB], depth) =>
      createDammV1Pool(svm, owner, { mintA, mintB, amountA: depth, amountB: depth, fee: { tierBps: 25n } }),
  },
  {
    venue: meteoraDammV2,
    program: DAMM_V2_PROGRAM,
    name: "meteora_damm_v2",
    calls: [],
    open: (svm, owner, [mintA, mintB], depth) =>
      createDammV2Pool(svm, owner, {
        mintA,
        mintB,
        baseFee: timeFee(2_500_000n, 0, 0n, 0n, false),
        sqrtPrice: ONE,
        liquidity: depth << 64n,
        countsSeconds: true,
        collectFeeMode: 0,
      }),
    keptBy(build, svm, market) {
      if (build >= LAYOUT_SINCE) return;
      const account = svm.get(market)!;
      account.data[LAYOUT_VERSION] = 0;
      svm.setAccount(account);
    },
  },
  {
    venue: meteoraDlmm,
    program: DLMM_PROGRAM,
    name: "meteora_dlmm",
    calls: [],
    open(svm, owner, [x, y], depth) {
      const bench = createDlmmPair(svm, owner, x, y, DLMM_SHAPE);
      for (const low of [-90, -40, 10, 60]) {
        const high = low + 49;
        const span = { low, high, activeId: 0, strategy: STRATEGIES.spot };
        addBins(bench, high >= 0 ? depth / 3n : 0n, low <= 0 ? depth / 3n : 0n, span);
      }
      return bench.pair;
    },
  },
];

const DLMM_SHAPE = {
  binStep: 25,
  baseFactor: 10_000,
  variableFeeControl: 7_500,
  maxVolatility: 150_000,
  filterPeriod: 30,
  decayPeriod: 600,
  reductionFactor: 5_000,
  limitOrders: false,
  collectFeeMode: 0,
  activeId: 0,
};

const fileOf = (name: string): string => `.venues/${name}.so`;

/** Files that a market's program needs and that are absent. */
export function missingFor({ name, calls }: PlainMarket): readonly string[] {
  return [name, ...calls.map(([, file]) => file)].map(fileOf).filter((path) => !existsSync(path));
}

/** Installs the program of a market in its main build, and those that it calls. */
export function installPrograms(svm: Svm, { program, name, calls }: PlainMarket): void {
  for (const [id, file] of [[program, name] as const, ...calls]) svm.addProgram(id, fileOf(file));
}

const HELD = 10n ** 18n;

/** Gives a wallet plenty of each mint. */
export function fundPlenty(svm: Svm, owner: Address, mints: readonly Address[]): void {
  for (const mint of mints) svm.setTokens(owner, mint, mint === SOL_MINT ? HELD / 10n : HELD);
}
