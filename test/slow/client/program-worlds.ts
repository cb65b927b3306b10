import { existsSync } from "node:fs";
import type { HotMarket } from "../../../src/market/port.ts";
import { Address } from "../../../src/primitives/address.ts";
import { hex, writeU64 } from "../../../src/primitives/bytes.ts";
import { binaryPath } from "../../../src/sandbox/programs/manifest.ts";
import { derive } from "../../../src/solana/pda.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, USDC_MINT } from "../../../src/solana/programs.ts";
import { DAMM_V1_PROGRAM, VAULT_PROGRAM } from "../../../src/venues/meteora-damm-v1/layout.ts";
import { DAMM_V2_PROGRAM } from "../../../src/venues/meteora-damm-v2/layout.ts";
import { DBC_PROGRAM } from "../../../src/venues/meteora-dbc/layout.ts";
import { DLMM_PROGRAM } from "../../../src/venues/meteora-dlmm/layout.ts";
import { WHIRLPOOL_PROGRAM } from "../../../src/venues/orca-whirlpool/layout.ts";
import { PUMP_PROGRAM } from "../../../src/venues/pump-fun/layout.ts";
import { PUMP_SWAP_PROGRAM } from "../../../src/venues/pump-swap/layout.ts";
import { AMM_V4_PROGRAM } from "../../../src/venues/raydium-amm-v4/layout.ts";

import { CLMM_PROGRAM } from "../../../src/venues/raydium-clmm/layout.ts";
import { clmmSqrtPrice } from "../../../src/venues/raydium-clmm/ticks/tick-price.ts";
import { CPMM_PROGRAM } from "../../../src/venues/raydium-cpmm/layout.ts";
import { LAUNCHLAB_AUTHORITY, LAUNCHLAB_PROGRAM } from "../../../src/venues/raydium-launchlab/layout.ts";
import { venues } from "../../../src/venues/registry.ts";
import { PUMP_FEE_PROGRAM } from "../../../src/venues/shared/pump-fees.ts";
import type { VenueId } from "../../../src/venues/venue.ts";
import { readMarket } from "../../conformance/trades.ts";
import { Svm } from "../../support/svm.ts";
import { loadDumpedAccounts } from "../venues/support/dumped-accounts.ts";
import { appendExtensions } from "../venues/support/extended-mint.ts";
import { createDammV1Pool, METAPLEX_PROGRAM } from "../venues/support/meteora-damm-v1.ts";
import { createDammV2Pool, timeFee } from "../venues/support/meteora-damm-v2.ts";
import { createDbcPool } from "../venues/support/meteora-dbc.ts";
import { addLiquidity as addBins, createDlmmPair, STRATEGIES } from "../venues/support/meteora-dlmm.ts";
import { addLiquidity, createWhirlpool } from "../venues/support/orca-whirlpool.ts";
import { pumpBuildsOf } from "../venues/support/pump-builds.ts";
import { writeCoin, writePumpSettings } from "../venues/support/pump-fun.ts";
import { writePumpPool, writePumpSwapSettings } from "../venues/support/pump-swap.ts";
import { writeAmmV4Pool } from "../venues/support/raydium-amm-v4.ts";
import { addClmmLiquidity, createClmmPool, writeClmmConfig } from "../venues/support/raydium-clmm.ts";
import { createCpmmPool, writeCpmmConfig } from "../venues/support/raydium-cpmm.ts";

/** Markets on programs that run in this process: honest builds of them can be made, changed and executed by the thousand. */
export interface ProgramWorld {
  readonly name: string;
  readonly svm: Svm;
  /** The two mints that orders name. */
  readonly pair: readonly [Address, Address];
  readonly markets: readonly WorldMarket[];
}

export interface WorldMarket {
  readonly hot: HotMarket;
  readonly mints: readonly [Address, Address];
}

/** How to make a world, and the programs it runs on. */
interface WorldPlan {
  readonly name: string;
  readonly programs: readonly (readonly [Address, string])[];
  /** Folder of dumped accounts that it needs. */
  readonly dump?: string;
  readonly make: (svm: Svm) => readonly Place[];
}

/** Where a market of a new world is. */
interface Place {
  readonly venue: VenueId;
  readonly address: Address;
  readonly mints: readonly [Address, Address];
}

const ONE = 1n << 64n;
/** Base units of either side. */
const DEPTH = 10n ** 12n;
const HELD = 1n << 60n;
const METAPLEX = [METAPLEX_PROGRAM, ".venues/metaplex_token_metadata.so"] as const;
/** The newest builds of Pump's programs. */
const PUMP_BUILDS = pumpBuildsOf("pump_fun").at(-1);
const PUMP_FEES = [PUMP_FEE_PROGRAM, PUMP_BUILDS?.fees ?? ".venues/pump_fees_2026.so"] as const;
/** Pools of today open in a moment. Seconds. */
const LATER = 60n;

const usdc = (svm: Svm): Address => svm.newMint({ address: USDC_MINT, decimals: 6 });
const spl = (svm: Svm, decimals = 6): Address => svm.newMint({ decimals });
const plain2022 = (svm: Svm): Address => svm.newMint({ decimals: 6, program: TOKEN_2022_PROGRAM });
/** One whose amounts wallets show scaled, by one here. */
function scaled(svm: Svm): Address {
  const mint = plain2022(svm);
  const value = new Uint8Array(56);
  for (const at of [32, 48]) new DataView(value.buffer).setFloat64(at, 1, true);
  appendExtensions(svm, mint, [[25, value]]);
  return mint;
}
const taxed = (svm: Svm, bps: number, maximum = 1n << 62n): Address =>
  svm.newMint({ decimals: 9, program: TOKEN_2022_PROGRAM, transferFee: { bps, maximum } });

function provider(svm: Svm, ...mints: readonly Address[]): Address {
  const wallet = svm.newWallet(HELD);
  for (const mint of mints) svm.setTokens(wallet, mint, HELD);
  return wallet;
}

const withSol = (venue: VenueId, address: Address, mint: Address): Place[] => [
  { venue, address, mints: [SOL_MINT, mint] },
];

function cpmm(svm: Svm, mints: readonly [Address, Address]): Place {
  const config = writeCpmmConfig(svm, 0, { trade: 2_500n, protocol: 120_000n, fund: 40_000n, creator: 500n });
  const address = createCpmmPool(svm, { creator: svm.newWallet(), config, mints, amounts: [DEPTH, DEPTH] });
  return { venue: "raydium_cpmm", address, mints };
}

function clmm(svm: Svm, mints: readonly [Address, Address], spacing: number, reaches: readonly number[]): Place {
  const wallet = provider(svm, ...mints);
  const config = writeClmmConfig(svm, 1, spacing, 2_500);
  const pool = createClmmPool(svm, wallet, config, spacing, mints, clmmSqrtPrice(0));
  for (const reach of reaches) addClmmLiquidity(svm, wallet, pool, -reach, reach, DEPTH);
  return { venue: "raydium_clmm", address: pool.address, mints };
}

function whirlpool(svm: Svm, mints: readonly [Address, Address], spacing: number, reaches: readonly number[]): Place {
  const wallet = provider(svm, ...mints);
  const creator = svm.newWallet();
  const pool = createWhirlpool(svm, { creator, mints, tickSpacing: spacing, feeRate: 2_500, sqrtPrice: ONE });
  for (const reach of reaches) addLiquidity(svm, wallet, pool, -reach, reach, DEPTH);
  return { venue: "orca_whirlpool", address: pool.address, mints };
}

function dlmm(
  svm: Svm,
  mints: readonly [Address, Address],
  binStep: number,
  more: readonly number[] = [],
  activeId = 0,
): Place {
  const wallet = provider(svm, ...mints);
  const fees = { variableFeeControl: 0, maxVolatility: 0, filterPeriod: 0, decayPeriod: 1, reductionFactor: 0 };
  const shape = { ...fees, binStep, baseFactor: 10_000, limitOrders: false, collectFeeMode: 0, activeId };
  const bench = createDlmmPair(svm, wallet, ...mints, shape);
  for (const low of [-125, -75, -25, 25, 75, ...more]) {
    const bins = { low: activeId + low, high: activeId + low + 49, activeId, strategy: STRATEGIES.spot };
    addBins(bench, low + 49 >= 0 ? DEPTH / 4n : 0n, low <= 0 ? DEPTH / 4n : 0n, bins);
  }
  return { venue: "meteora_dlmm", address: bench.pair, mints };
}

function dammV1(svm: Svm, mints: readonly [Address, Address], isStable: boolean): Place {
  const [mintA, mintB] = mints;
  const address = createDammV1Pool(svm, provider(svm, ...mints), {
    mintA,
    mintB,
    amountA: DEPTH,
    amountB: DEPTH,
    ...(isStable
      ? { fee: { tierBps: 1n }, stable: { amplification: 100n, multipliers: [1n, 1n] as const, precision: 9 } }
      : { fee: { numerator: 250 } }),
  });
  return { venue: "meteora_damm_v1", address, mints };
}

/** Mainnet's pool of SOL and mSOL, long after it last remembered what mSOL is worth. */
function stakedSol(svm: Svm): Place[] {
  loadDumpedAccounts(svm, STAKED_SOL.dump);
  const { slot, epoch } = svm.clock();
  svm.setClock({ slot, epoch, unixTimestamp: STAKED_SOL.readAt });
  return [{ venue: "meteora_damm_v1", address: STAKED_SOL.pool, mints: [SOL_MINT, STAKED_SOL.mint] }];
}

function dammV2(svm: Svm, mints: readonly [Address, Address]): Place {
  const [mintA, mintB] = mints;
  const address = createDammV2Pool(svm, provider(svm, ...mints), {
    mintA,
    mintB,
    baseFee: timeFee(2_500_000n, 0, 0n, 0n, false),
    sqrtPrice: ONE,
    liquidity: DEPTH << 64n,
    countsSeconds: true,
    collectFeeMode: 0,
  });
  return { venue: "meteora_damm_v2", address, mints };
}

function dbc(svm: Svm, token2022: boolean, quoteMint = SOL_MINT): Place[] {
  const { address, baseMint } = createDbcPool(svm, svm.newWallet(HELD), {
    quoteMint,
    baseFee: { cliff: 10_000_000n, first: 0, second: 0n, third: 0n, mode: 0 },
    volatility: false,
    collectFeeMode: 0,
    countsSeconds: true,
    token2022,
    decimals: 9,
    migrationThreshold: (DEPTH * 3n) / 2n,
    sqrtStartPrice: ONE,
    curve: [
      { sqrtPrice: (ONE * 12n) / 10n, liquidity: (2n * DEPTH) << 64n },
      { sqrtPrice: 3n * ONE, liquidity: (3n * DEPTH) << 64n },
    ],
  });
  return [{ venue: "meteora_dbc", address, mints: [quoteMint, baseMint] }];
}

function pumpCoin(
  svm: Svm,
  mint: Address,
  { quoteMint = SOL_MINT, cashback = false }: { readonly cashback?: boolean; readonly quoteMint?: Address } = {},
): Place[] {
  writePumpSettings(svm, { quoteMints: quoteMint === SOL_MINT ? [] : [quoteMint] });
  const amounts = { virtualTokens: 2n * DEPTH, virtualQuote: 2n * DEPTH, realTokens: DEPTH, realQuote: DEPTH };
  const address = writeCoin(svm, { mint, quoteMint, ...amounts, cashback, creator: svm.newAddress() });
  return [{ venue: "pump_fun", address, mints: [quoteMint, mint] }];
}

function pumpPool(
  svm: Svm,
  base: Address,
  options: { readonly cashback?: boolean; readonly size?: number; readonly quote?: Address } = {},
): Place[] {
  const { quote = SOL_MINT } = options;
  writePumpSwapSettings(svm, { quoteMint: quote });
  const coinCreator = svm.newAddress();
  const amounts = { baseAmount: DEPTH, quoteAmount: DEPTH };
  const address = writePumpPool(svm, { ...amounts, ...options, base, quote, coinCreator });
  return [{ venue: "pump_swap", address, mints: [quote, base] }];
}

function ammV4(svm: Svm, mints: readonly [Address, Address]): Place {
  const address = writeAmmV4Pool(svm, {
    mints,
    amounts: [DEPTH, DEPTH],
    fee: [25n, 10_000n],
    owed: [0n, 0n],
    status: 6n,
    openTime: 0n,
  });
  return { venue: "raydium_amm_v4", address, mints };
}

function launchlab(svm: Svm, mint: Address): Place[] {
  const [config, platform, creator] = [svm.newAddress(), svm.newAddress(), svm.newAddress()];
  const address = derive(LAUNCHLAB_PROGRAM, "pool", mint, SOL_MINT);
  const account = (at: Address, length: number, discriminator: string, fill: (data: Uint8Array) => void): void => {
    const data = new Uint8Array(length);
    data.set(hex(discriminator));
    fill(data);
    svm.setAccount({ address: at, owner: LAUNCHLAB_PROGRAM, data });
  };
  account(config, 371, "95089ccaa0fcb0d9", (data) => writeU64(data, 27, 2_500n));
  account(platform, 952, "a04e8000f853e6a0", (data) => writeU64(data, 104, 7_500n));
  account(address, 429, "f7ede3f5d7c3de46", (data) => {
    data.set([9, 9], 18);
    const amounts = [3n, 3n, 1n, 1n, 1n, 2n].map((share) => share * DEPTH);
    for (const [place, amount] of amounts.entries()) writeU64(data, 29 + 8 * place, amount);
    const vaults = [mint, SOL_MINT].map((side) =>
      svm.setTokens(LAUNCHLAB_AUTHORITY, side, 4n * DEPTH, derive(LAUNCHLAB_PROGRAM, "pool_vault", address, side)),
    );
    for (const [place, key] of [config, platform, mint, SOL_MINT, ...vaults, creator].entries())
      data.set(key.bytes, 141 + 32 * place);
  });
  return withSol("raydium_launchlab", address, mint);
}

const CPMM = [CPMM_PROGRAM, ".venues/raydium_cpmm.so"] as const;
const CLMM = [[CLMM_PROGRAM, ".venues/raydium_clmm.so"], METAPLEX] as const;
const WHIRLPOOL = [[WHIRLPOOL_PROGRAM, ".venues/orca_whirlpool.so"]] as const;
/** A build that makes pools of scaled amounts. */
const NEWEST_WHIRLPOOL = [[WHIRLPOOL_PROGRAM, ".venues/whirlpool/whirlpool-20250911-366188902.so"]] as const;
const DLMM = [[DLMM_PROGRAM, ".venues/meteora_dlmm.so"]] as const;
const DAMM_V1 = [
  [DAMM_V1_PROGRAM, ".venues/meteora_damm_v1.so"],
  [VAULT_PROGRAM, ".venues/meteora_dynamic_vault.so"],
  METAPLEX,
] as const;
const DAMM_V2 = [[DAMM_V2_PROGRAM, ".venues/meteora_damm_v2.so"]] as const;
const DBC = [[DBC_PROGRAM, ".venues/meteora_dbc.so"], METAPLEX] as const;
const AMM_V4 = [AMM_V4_PROGRAM, ".venues/raydium_amm_v4.so"] as const;
const PUMP = [[PUMP_PROGRAM, PUMP_BUILDS?.fun ?? ".venues/pump_fun_2026.so"], PUMP_FEES] as const;
const PUMP_SWAP = [[PUMP_SWAP_PROGRAM, PUMP_BUILDS?.swap ?? ".venues/pump_swap_2026.so"], PUMP_FEES] as const;
/** The project's own build of a program of which no public one is known. */
const LAUNCHLAB = [[LAUNCHLAB_PROGRAM, binaryPath("raydium_launchlab")]] as const;

const STAKED_SOL = {
  dump: ".venues/accounts/damm_v1",
  pool: Address.of("HcjZvfeSNJbNkfLD4eEcRBr96AD3w1GpmMppaeRZf7ur"),
  mint: Address.of("mSoLzYCxHdYgdzU16g5QSh3i5K3z3KZK7ytfqcJm7So"),
  readAt: 1_800_000_000n,
} as const;

/** Every venue, and the shapes of pools that clients have refused or been robbed through. */
const PLANS: readonly WorldPlan[] = [
  { name: "raydium_amm_v4", programs: [AMM_V4], make: (svm) => [ammV4(svm, [SOL_MINT, spl(svm)])] },
  { name: "raydium_cpmm", programs: [CPMM], make: (svm) => [cpmm(svm, [SOL_MINT, spl(svm)])] },
  {
    name: "raydium_cpmm, 1.5 % transfer fee",
    programs: [CPMM],
    make: (svm) => [cpmm(svm, [SOL_MINT, taxed(svm, 150)])],
  },
  {
    name: "raydium_cpmm, two tokens",
    programs: [CPMM],
    make: (svm) => [cpmm(svm, [spl(svm), taxed(svm, 500, 12_345n)])],
  },
  { name: "raydium_clmm", programs: CLMM, make: (svm) => [clmm(svm, [SOL_MINT, spl(svm)], 10, [300, 900, 2_700])] },
  { name: "raydium_clmm, full range", programs: CLMM, make: (svm) => [clmm(svm, [SOL_MINT, spl(svm)], 1, [443_636])] },
  {
    name: "raydium_clmm, full range at 120 ticks",
    programs: CLMM,
    make: (svm) => [clmm(svm, [SOL_MINT, spl(svm)], 120, [443_520])],
  },
  {
    name: "raydium_clmm, Token-2022",
    programs: CLMM,
    make: (svm) => [clmm(svm, [SOL_MINT, plain2022(svm)], 60, [600, 443_580])],
  },
  {
    name: "orca_whirlpool",
    programs: WHIRLPOOL,
    make: (svm) => [whirlpool(svm, [SOL_MINT, spl(svm)], 8, [352, 1_056, 443_632])],
  },
  {
    name: "orca_whirlpool, Splash",
    programs: WHIRLPOOL,
    make: (svm) => [whirlpool(svm, [SOL_MINT, spl(svm)], 32_896, [427_648])],
  },
  {
    name: "orca_whirlpool, 1.5 % transfer fee",
    programs: WHIRLPOOL,
    make: (svm) => [whirlpool(svm, [SOL_MINT, taxed(svm, 150)], 64, [443_584])],
  },
  {
    name: "orca_whirlpool, scaled amounts",
    programs: NEWEST_WHIRLPOOL,
    make: (svm) => [whirlpool(svm, [SOL_MINT, scaled(svm)], 64, [443_584])],
  },
  {
    name: "raydium_clmm, arrays far from one another",
    programs: CLMM,
    make: (svm) => [clmm(svm, [SOL_MINT, spl(svm)], 1, [60, 12_000])],
  },
  {
    name: "meteora_dlmm, arrays far from one another",
    programs: DLMM,
    make: (svm) => [dlmm(svm, [SOL_MINT, spl(svm)], 25, [-1_500, 1_450])],
  },
  { name: "meteora_dlmm", programs: DLMM, make: (svm) => [dlmm(svm, [SOL_MINT, spl(svm)], 25)] },
  {
    name: "meteora_dlmm, beyond its own bitmap",
    programs: DLMM,
    make: (svm) => [dlmm(svm, [SOL_MINT, spl(svm)], 1, [], 39_200)],
  },
  {
    name: "meteora_dlmm, 1 % transfer fee",
    programs: DLMM,
    make: (svm) => [dlmm(svm, [taxed(svm, 100), SOL_MINT], 100)],
  },
  { name: "meteora_damm_v1, stable", programs: DAMM_V1, make: (svm) => [dammV1(svm, [spl(svm, 9), SOL_MINT], true)] },
  { name: "meteora_damm_v1", programs: DAMM_V1, make: (svm) => [dammV1(svm, [spl(svm), SOL_MINT], false)] },
  { name: "meteora_damm_v1, staked SOL", programs: DAMM_V1, dump: STAKED_SOL.dump, make: stakedSol },
  { name: "meteora_damm_v2", programs: DAMM_V2, make: (svm) => [dammV2(svm, [spl(svm), SOL_MINT])] },
  {
    name: "meteora_damm_v2, 1.5 % transfer fee",
    programs: DAMM_V2,
    make: (svm) => [dammV2(svm, [taxed(svm, 150), SOL_MINT])],
  },
  { name: "meteora_dbc", programs: DBC, make: (svm) => dbc(svm, false) },
  { name: "meteora_dbc, Token-2022", programs: DBC, make: (svm) => dbc(svm, true) },
  { name: "meteora_dbc, in USDC", programs: DBC, make: (svm) => dbc(svm, true, usdc(svm)) },
  { name: "pump_fun", programs: PUMP, make: (svm) => pumpCoin(svm, spl(svm)) },
  {
    name: "pump_fun, cashback, Token-2022",
    programs: PUMP,
    make: (svm) => pumpCoin(svm, plain2022(svm), { cashback: true }),
  },
  {
    name: "pump_fun, cashback, in USDC",
    programs: PUMP,
    make: (svm) => pumpCoin(svm, plain2022(svm), { cashback: true, quoteMint: usdc(svm) }),
  },
  { name: "pump_swap", programs: PUMP_SWAP, make: (svm) => pumpPool(svm, spl(svm)) },
  {
    name: "pump_swap, cashback, Token-2022",
    programs: PUMP_SWAP,
    make: (svm) => pumpPool(svm, plain2022(svm), { cashback: true }),
  },
  {
    name: "pump_swap, an older pool",
    programs: PUMP_SWAP,
    make: (svm) => pumpPool(svm, spl(svm), { size: 211 }),
  },
  {
    name: "pump_swap, cashback, in USDC",
    programs: PUMP_SWAP,
    make: (svm) => pumpPool(svm, plain2022(svm), { cashback: true, quote: usdc(svm) }),
  },
  { name: "raydium_launchlab", programs: LAUNCHLAB, make: (svm) => launchlab(svm, spl(svm, 9)) },
  {
    name: "raydium_amm_v4 and raydium_cpmm over USDC",
    programs: [AMM_V4, CPMM],
    make: (svm) => {
      const hub = usdc(svm);
      return [ammV4(svm, [SOL_MINT, hub]), cpmm(svm, [hub, spl(svm)])];
    },
  },
  {
    name: "orca_whirlpool and meteora_dlmm over USDC",
    programs: [...WHIRLPOOL, ...DLMM],
    make: (svm) => {
      const hub = usdc(svm);
      return [whirlpool(svm, [SOL_MINT, hub], 8, [352, 443_632]), dlmm(svm, [hub, plain2022(svm)], 25)];
    },
  },
  {
    name: "meteora_damm_v2 and raydium_clmm over SOL",
    programs: [...DAMM_V2, ...CLMM],
    make: (svm) => [dammV2(svm, [spl(svm), SOL_MINT]), clmm(svm, [SOL_MINT, spl(svm)], 10, [900, 443_630])],
  },
  {
    name: "pump_fun over SOL to raydium_cpmm",
    programs: [...PUMP, CPMM],
    make: (svm) => [...pumpCoin(svm, spl(svm)), cpmm(svm, [SOL_MINT, spl(svm)])],
  },
  {
    name: "raydium_amm_v4 over USDC and SOL to pump_fun",
    programs: [AMM_V4, ...PUMP],
    make: (svm) => {
      const hub = usdc(svm);
      return [ammV4(svm, [spl(svm), hub]), ammV4(svm, [hub, SOL_MINT]), ...pumpCoin(svm, spl(svm))];
    },
  },
  {
    name: "pump_fun beside raydium_cpmm over SOL to pump_swap beside meteora_damm_v1",
    programs: [...PUMP, ...PUMP_SWAP, CPMM, ...DAMM_V1],
    make: (svm) => {
      const [coin, other] = [spl(svm), spl(svm)];
      const near = [...pumpCoin(svm, coin), cpmm(svm, [SOL_MINT, coin])];
      return [...near, ...pumpPool(svm, other), dammV1(svm, [other, SOL_MINT], false)];
    },
  },
  {
    name: "raydium_cpmm beside meteora_damm_v2",
    programs: [CPMM, ...DAMM_V2],
    make: (svm) => {
      const mint = spl(svm);
      return [cpmm(svm, [SOL_MINT, mint]), dammV2(svm, [mint, SOL_MINT])];
    },
  },
  {
    name: "pump_fun beside raydium_cpmm",
    programs: [...PUMP, CPMM],
    make: (svm) => {
      const mint = spl(svm);
      return [...pumpCoin(svm, mint), cpmm(svm, [SOL_MINT, mint])];
    },
  },
  {
    name: "pump_fun, meteora_damm_v1, raydium_cpmm and raydium_amm_v4",
    programs: [...PUMP, ...DAMM_V1, CPMM, AMM_V4],
    make: (svm) => {
      const mint = spl(svm);
      const others = [dammV1(svm, [mint, SOL_MINT], false), cpmm(svm, [SOL_MINT, mint]), ammV4(svm, [SOL_MINT, mint])];
      return [...pumpCoin(svm, mint), ...others];
    },
  },
  {
    name: "raydium_cpmm beside two of them over USDC",
    programs: [CPMM],
    make: (svm) => {
      const [hub, mint] = [usdc(svm), spl(svm)];
      return [cpmm(svm, [SOL_MINT, mint]), cpmm(svm, [SOL_MINT, hub]), cpmm(svm, [hub, mint])];
    },
  },
];

const isPresent = ({ programs, dump }: WorldPlan): boolean =>
  programs.every(([, path]) => existsSync(path)) && (dump === undefined || existsSync(dump));

/** The worlds whose programs are on this machine, and those that are not. */
export const WORLD_NAMES: readonly string[] = PLANS.filter(isPresent).map(({ name }) => name);
export const ABSENT_WORLDS: readonly string[] = PLANS.filter((plan) => !isPresent(plan)).map(({ name }) => name);

const made = new Map<string, ProgramWorld>();

/** The world of this name, made on first use. @throws Error with a program's logs */
export function programWorld(name: string): ProgramWorld {
  const known = made.get(name);
  if (known !== undefined) return known;
  const plan = PLANS.find((one) => one.name === name)!;
  const svm = new Svm();
  for (const [id, path] of plan.programs) svm.addProgram(id, path);
  const places = plan.make(svm);
  const { slot, epoch, unixTimestamp } = svm.clock();
  svm.setClock({ slot: slot + LATER * 5n, epoch, unixTimestamp: unixTimestamp + LATER });
  const markets = places.map((place) => ({ mints: place.mints, hot: hotMarket(svm, place) }));
  const world = { name, svm, markets, pair: endsOf(places) };
  made.set(name, world);
  return world;
}

function hotMarket(svm: Svm, { venue: id, address, mints }: Place): HotMarket {
  const venue = venues.find((one) => one.id === id)!;
  const { market, state } = readMarket(svm, venue, address, { a: mints[0], b: mints[1] });
  return { venue, market, state, slot: svm.clock().slot };
}

/** The two mints that trade against one other mint each, or else those of the first market. */
function endsOf(places: readonly Place[]): readonly [Address, Address] {
  const partners = new Map<Address, Set<Address>>();
  for (const [a, b] of places.flatMap(({ mints: [a, b] }) => [[a, b] as const, [b, a] as const])) {
    partners.set(a, (partners.get(a) ?? new Set()).add(b));
  }
  const [first, last] = [...partners].filter(([, others]) => others.size === 1).map(([mint]) => mint);
  return first === undefined || last === undefined ? places[0]!.mints : [first, last];
}
