import { existsSync } from "node:fs";
import type { Address } from "../../../src/primitives/address.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import { DAMM_V1_PROGRAM, VAULT_PROGRAM } from "../../../src/venues/meteora-damm-v1/layout.ts";
import { DAMM_V2_PROGRAM } from "../../../src/venues/meteora-damm-v2/layout.ts";
import { DBC_PROGRAM } from "../../../src/venues/meteora-dbc/layout.ts";
import { DLMM_PROGRAM } from "../../../src/venues/meteora-dlmm/layout.ts";
import { WHIRLPOOL_PROGRAM } from "../../../src/venues/orca-whirlpool/layout.ts";
import { PUMP_PROGRAM } from "../../../src/venues/pump-fun/layout.ts";
import { PUMP_SWAP_PROGRAM } from "../../../src/venues/pump-swap/layout.ts";
import { AMM_V4_PROGRAM } from "../../../src/venues/raydium-amm-v4/layout.ts";
import { CLMM_PROGRAM } from "../../../src/venues/raydium-clmm/layout.ts";
import { CPMM_PROGRAM } from "../../../src/venues/raydium-cpmm/layout.ts";
import { PUMP_FEE_PROGRAM } from "../../../src/venues/shared/pump-fees.ts";
import type { VenueId } from "../../../src/venues/venue.ts";
import { createDammV1Pool, METAPLEX_PROGRAM } from "../venues/support/meteora-damm-v1.ts";
import { createDammV2Pool, timeFee } from "../venues/support/meteora-damm-v2.ts";
import { createDbcPool } from "../venues/support/meteora-dbc.ts";
import { pumpBuildsOf } from "../venues/support/pump-builds.ts";
import { CURVE_SIZES, writeCoin, writePumpSettings } from "../venues/support/pump-fun.ts";
import { writePumpPool, writePumpSwapSettings } from "../venues/support/pump-swap.ts";
import { writeAmmV4Pool } from "../venues/support/raydium-amm-v4.ts";
import { createCpmmPool, writeCpmmConfig } from "../venues/support/raydium-cpmm.ts";
import { drawClmm, drawDlmm, drawWhirlpool } from "./drawn-concentrated.ts";
import {
  type Draw,
  depth,
  hasExtensions,
  isToken2022,
  type Maker,
  ONE,
  type Place,
  provided,
  tokenOf,
} from "./market-draw.ts";

const METAPLEX = [METAPLEX_PROGRAM, "metaplex_token_metadata"] as const;
/** The newest builds of Pump's programs. */
const PUMP = pumpBuildsOf("pump_fun").at(-1);
const pumpFile = (program: "fun" | "swap" | "fees"): string =>
  PUMP === undefined ? `pump_${program}_2026` : PUMP[program].slice(".venues/".length, -".so".length);
const PUMP_FEES = [PUMP_FEE_PROGRAM, pumpFile("fees")] as const;

function drawCpmm(draw: Draw): Place {
  const { svm, random, mints, index, insider } = draw;
  const trade = random.pick([0n, 100n, 2_500n, 40_000n, 999_000n]);
  const config = writeCpmmConfig(svm, index, { trade, protocol: 120_000n, fund: 40_000n, creator: 500n });
  const amounts = [depth(random), depth(random)] as const;
  return { venue: "raydium_cpmm", address: createCpmmPool(svm, { creator: insider, config, mints, amounts }), mints };
}

const DECIMALS_OFFSET = 44;

function drawDammV1(draw: Draw): Place | undefined {
  const { svm, random, mints } = draw;
  if (mints.some((mint) => isToken2022(svm, mint))) return undefined;
  const [mintA, mintB] = mints;
  const [precision, other] = mints.map((mint) => svm.get(mint)!.data[DECIMALS_OFFSET]!);
  const amountA = depth(random);
  const shape =
    precision === other && random.chance(0.5)
      ? {
          amountB: amountA,
          fee: { tierBps: 1n },
          stable: { amplification: 100n, multipliers: [1n, 1n] as const, precision: precision! },
        }
      : { amountB: depth(random), fee: { numerator: random.pick([250, 1_000, 6_000]) } };
  return {
    venue: "meteora_damm_v1",
    address: createDammV1Pool(svm, provided(draw), { mintA, mintB, amountA, ...shape }),
    mints,
  };
}

function drawDammV2(draw: Draw): Place {
  const { svm, random, mints } = draw;
  const baseFee = random.pick([
    timeFee(2_500_000n, 0, 0n, 0n, false),
    timeFee(500_000_000n, 100, 60n, 4_000_000n, false),
    timeFee(500_000_000n, 100, 20n, 300n, true),
    timeFee(100_000n, 0, 0n, 0n, false),
    timeFee(990_000_000n, 0, 0n, 0n, false),
  ]);
  const address = createDammV2Pool(svm, provided(draw), {
    mintA: mints[0],
    mintB: mints[1],
    baseFee,
    volatility: random.chance(0.4),
    sqrtPrice: random.pick([ONE, ONE * 5n, ONE / 11n]),
    liquidity: depth(random) << 64n,
    countsSeconds: random.chance(0.5),
    collectFeeMode: random.pick([0, 1]),
  });
  return { venue: "meteora_damm_v2", address, mints };
}

function drawDbc({ svm, random, mints, insider }: Draw): Place | undefined {
  if (tokenOf(mints) === undefined) return undefined;
  const size = depth(random);
  const { address, baseMint } = createDbcPool(svm, insider, {
    quoteMint: SOL_MINT,
    baseFee: random.pick([
      { cliff: 10_000_000n, first: 0, second: 0n, third: 0n, mode: 0 },
      { cliff: 500_000_000n, first: 100, second: 60n, third: 4_000_000n, mode: 0 },
    ]),
    volatility: random.chance(0.4),
    collectFeeMode: random.pick([0, 1]),
    countsSeconds: true,
    token2022: random.chance(0.5),
    decimals: random.pick([6, 9]),
    migrationThreshold: (size * 3n) / 2n,
    sqrtStartPrice: ONE,
    curve: [
      { sqrtPrice: (ONE * 12n) / 10n, liquidity: (2n * size) << 64n },
      { sqrtPrice: 3n * ONE, liquidity: (3n * size) << 64n },
    ],
  });
  return { venue: "meteora_dbc", address, mints: [SOL_MINT, baseMint] };
}

/** Of the input: what nearly every pool takes, nothing, much, and nearly all. */
const AMM_V4_FEES = [
  [25n, 10_000n],
  [25n, 10_000n],
  [0n, 10_000n],
  [1n, 25n],
  [9_999n, 10_000n],
] as const;

function drawAmmV4({ svm, random, mints }: Draw): Place | undefined {
  if (mints.some((mint) => isToken2022(svm, mint))) return undefined;
  const owed = random.pick([[0n, 0n] as const, [1_000n, 777n] as const]);
  const amounts = [depth(random), depth(random)] as const;
  const address = writeAmmV4Pool(svm, {
    mints,
    amounts,
    fee: random.pick(AMM_V4_FEES),
    owed,
    status: 6n,
    openTime: 0n,
  });
  return { venue: "raydium_amm_v4", address, mints };
}

function drawPumpCoin({ svm, random, mints, insider }: Draw): Place | undefined {
  const mint = tokenOf(mints);
  if (mint === undefined || hasExtensions(svm, mint)) return undefined;
  writePumpSettings(svm);
  const realTokens = depth(random);
  const realQuote = random.chance(0.3) ? 0n : depth(random);
  const address = writeCoin(svm, {
    mint,
    virtualTokens: realTokens + depth(random),
    virtualQuote: realQuote + depth(random),
    realTokens,
    realQuote,
    creator: random.chance(0.5) ? insider : svm.newAddress(),
    cashback: random.chance(0.3),
    mayhem: random.chance(0.2),
    holderReward: random.chance(0.2),
    size: random.pick(CURVE_SIZES),
  });
  return { venue: "pump_fun", address, mints: [SOL_MINT, mint] };
}

function drawPumpPool({ svm, random, mints, insider }: Draw): Place | undefined {
  const base = tokenOf(mints);
  if (base === undefined || hasExtensions(svm, base)) return undefined;
  writePumpSwapSettings(svm, { quoteMint: SOL_MINT });
  const coinCreator = random.chance(0.7) ? insider : undefined;
  const address = writePumpPool(svm, {
    base,
    quote: SOL_MINT,
    baseAmount: depth(random),
    quoteAmount: depth(random),
    cashback: random.chance(0.3),
    ...(random.chance(0.3) ? { size: 211 } : {}),
    ...(coinCreator === undefined ? {} : { coinCreator, withoutVault: random.chance(0.2) }),
  });
  return { venue: "pump_swap", address, mints: [SOL_MINT, base] };
}

/** A venue's programs, by file in `.venues`, and how a market of it is drawn. */
interface Drawn {
  readonly programs: readonly (readonly [Address, string])[];
  readonly make: Maker;
}

const DRAWN: Readonly<Partial<Record<VenueId, Drawn>>> = {
  raydium_cpmm: { programs: [[CPMM_PROGRAM, "raydium_cpmm"]], make: drawCpmm },
  raydium_clmm: { programs: [[CLMM_PROGRAM, "raydium_clmm"], METAPLEX], make: drawClmm },
  raydium_amm_v4: { programs: [[AMM_V4_PROGRAM, "raydium_amm_v4"]], make: drawAmmV4 },
  orca_whirlpool: { programs: [[WHIRLPOOL_PROGRAM, "orca_whirlpool"]], make: drawWhirlpool },
  meteora_dlmm: { programs: [[DLMM_PROGRAM, "meteora_dlmm"]], make: drawDlmm },
  meteora_damm_v1: {
    programs: [[DAMM_V1_PROGRAM, "meteora_damm_v1"], [VAULT_PROGRAM, "meteora_dynamic_vault"], METAPLEX],
    make: drawDammV1,
  },
  meteora_damm_v2: { programs: [[DAMM_V2_PROGRAM, "meteora_damm_v2"]], make: drawDammV2 },
  meteora_dbc: { programs: [[DBC_PROGRAM, "meteora_dbc"], METAPLEX], make: drawDbc },
  pump_fun: { programs: [[PUMP_PROGRAM, pumpFile("fun")], PUMP_FEES], make: drawPumpCoin },
  pump_swap: { programs: [[PUMP_SWAP_PROGRAM, pumpFile("swap")], PUMP_FEES], make: drawPumpPool },
};

const path = (file: string): string => `.venues/${file}.so`;
const ids = Object.keys(DRAWN) as VenueId[];
const isPresent = (id: VenueId): boolean => DRAWN[id]!.programs.every(([, file]) => existsSync(path(file)));

/** The venues whose programs are on this machine, and those that are not. */
export const PRESENT: readonly VenueId[] = ids.filter(isPresent);
export const ABSENT: readonly VenueId[] = ids.filter((id) => !isPresent(id));

/** Draws a market of a venue, installing its programs. Undefined if the venue has none of these mints, or refuses what was drawn. */
export function drawMarket(venue: VenueId, draw: Draw): Place | undefined {
  const { programs, make } = DRAWN[venue]!;
  for (const [id, file] of programs) if (draw.svm.get(id) === null) draw.svm.addProgram(id, path(file));
  try {
    return make(draw);
  } catch {
    return undefined;
  }
}
