import { Address } from "../../../primitives/address.ts";
import { hex } from "../../../primitives/bytes.ts";
import { INSTRUCTIONS_SYSVAR } from "../../../solana/programs.ts";
import {
  derivedFrom,
  destination,
  eitherMint,
  eventAuthority,
  fixed,
  market,
  none,
  readOnly,
  type SwapTable,
  source,
  tokenProgram,
  venueAccount,
  wallet,
  written,
} from "./swap-table.ts";

const PROGRAM = Address.of("dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN");

const common = {
  venue: "meteora_dbc",
  program: PROGRAM,
  name: "swap2",
  discriminator: hex("414b3f4ceb5b5b88"),
  dataLength: 25,
  zeros: [],
  accounts: [
    readOnly("the pool authority", derivedFrom(PROGRAM, "pool_authority")),
    readOnly("the launch configuration", venueAccount),
    market,
    source,
    destination,
    written("the vault of the coin", derivedFrom(PROGRAM, "token_vault", 7, 2)),
    written("the vault of the quote mint", derivedFrom(PROGRAM, "token_vault", 8, 2)),
    eitherMint,
    eitherMint,
    wallet,
    tokenProgram,
    tokenProgram,
    readOnly("no account for a share of the fee", none),
    eventAuthority(PROGRAM),
    readOnly("the venue's program", fixed(PROGRAM)),
  ],
  tails: [[], [readOnly("the list of this transaction's instructions", fixed(INSTRUCTIONS_SYSVAR))]],
  nativeSol: false,
  grossBound: true,
} as const satisfies Partial<SwapTable>;

/** @see @meteora-ag/dynamic-bonding-curve-sdk 1.5.12 IDL, swap2: amount_0, amount_1, mode */
export const meteoraDbcSwaps: readonly SwapTable[] = [
  { ...common, exact: "in", inAt: 8, outAt: 16, flags: [{ at: 24, is: [0] }] },
  { ...common, exact: "out", inAt: 16, outAt: 8, flags: [{ at: 24, is: [2] }] },
];
