import { existsSync } from "node:fs";
import type { Address } from "../../../src/primitives/address.ts";
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
import { METAPLEX_PROGRAM } from "../venues/support/meteora-damm-v1.ts";
import { pumpBuildsOf } from "../venues/support/pump-builds.ts";
import { writeAmmV4Pool } from "../venues/support/raydium-amm-v4.ts";
import { createCpmmPool, writeCpmmConfig } from "../venues/support/raydium-cpmm.ts";
import { drawClmm, drawDlmm, drawWhirlpool, WHIRLPOOL_FILE } from "./drawn-concentrated.ts";
import { drawDammV1, drawDammV2, drawDbc } from "./drawn-meteora.ts";
import { drawPumpCoin, drawPumpPool } from "./drawn-pump.ts";
import { type Draw, depth, isToken2022, type Maker, type Place } from "./market-draw.ts";

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

/** A venue's programs, by file in `.venues`, and how a market of it is drawn. */
interface Drawn {
  readonly programs: readonly (readonly [Address, string])[];
  readonly make: Maker;
}

const DRAWN: Readonly<Partial<Record<VenueId, Drawn>>> = {
  raydium_cpmm: { programs: [[CPMM_PROGRAM, "raydium_cpmm"]], make: drawCpmm },
  raydium_clmm: { programs: [[CLMM_PROGRAM, "raydium_clmm"], METAPLEX], make: drawClmm },
  raydium_amm_v4: { programs: [[AMM_V4_PROGRAM, "raydium_amm_v4"]], make: drawAmmV4 },
  orca_whirlpool: { programs: [[WHIRLPOOL_PROGRAM, WHIRLPOOL_FILE]], make: drawWhirlpool },
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
