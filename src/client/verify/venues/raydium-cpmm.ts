import { Address } from "../../../primitives/address.ts";
import { hex } from "../../../primitives/bytes.ts";
import {
  derivedFrom,
  destination,
  inMint,
  market,
  outMint,
  readOnly,
  type SwapTable,
  source,
  tokenProgram,
  venueAccount,
  wallet,
  written,
} from "./swap-table.ts";

const PROGRAM = Address.of("CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C");

const accounts = [
  wallet,
  readOnly("the pool authority", derivedFrom(PROGRAM, "vault_and_lp_mint_auth_seed")),
  readOnly("the fee configuration", venueAccount),
  market,
  source,
  destination,
  written("the vault of what goes in", derivedFrom(PROGRAM, "pool_vault", 3, 10)),
  written("the vault of what comes out", derivedFrom(PROGRAM, "pool_vault", 3, 11)),
  tokenProgram,
  tokenProgram,
  inMint,
  outMint,
  written("the price record", derivedFrom(PROGRAM, "observation", 3)),
];
const common = {
  venue: "raydium_cpmm",
  program: PROGRAM,
  dataLength: 24,
  inAt: 8,
  outAt: 16,
  flags: [],
  zeros: [],
  accounts,
  tails: [[]],
  nativeSol: false,
} as const;

/** @see raydium-cp-swap `instructions/swap_base_input.rs`, `swap_base_output.rs` */
export const raydiumCpmmSwaps: readonly SwapTable[] = [
  { ...common, name: "swap_base_input", discriminator: hex("8fbe5adac41e33de"), exact: "in" },
  { ...common, name: "swap_base_output", discriminator: hex("37d96256a34ab4ad"), exact: "out" },
];
