import { Address } from "../../../primitives/address.ts";
import { TOKEN_PROGRAM } from "../../../solana/programs.ts";
import {
  derivedFrom,
  destination,
  fixed,
  market,
  readOnly,
  type SwapTable,
  source,
  venueAccount,
  wallet,
  written,
} from "./swap-table.ts";

const PROGRAM = Address.of("675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8");

const common = {
  venue: "raydium_amm_v4",
  program: PROGRAM,
  dataLength: 17,
  inAt: 1,
  outAt: 9,
  flags: [],
  zeros: [],
  accounts: [
    readOnly("the token program", fixed(TOKEN_PROGRAM)),
    market,
    readOnly("the pool authority", derivedFrom(PROGRAM, "amm authority")),
    written("the first vault", venueAccount),
    written("the second vault", venueAccount),
    source,
    destination,
    wallet,
  ],
  tails: [[]],
  nativeSol: false,
} as const;

/** @see raydium-amm `instruction.rs`, tags 16 and 17 */
export const raydiumAmmV4Swaps: readonly SwapTable[] = [
  { ...common, name: "SwapBaseInV2", discriminator: Uint8Array.of(16), exact: "in" },
  { ...common, name: "SwapBaseOutV2", discriminator: Uint8Array.of(17), exact: "out" },
];
