import { Address } from "../../../primitives/address.ts";
import { hex } from "../../../primitives/bytes.ts";
import { MEMO_PROGRAM } from "../../../solana/programs.ts";
import {
  type AccountPlace,
  derivedFrom,
  destination,
  eitherMint,
  fixed,
  market,
  readOnly,
  type SwapTable,
  source,
  tokenProgram,
  venueAccount,
  wallet,
  written,
} from "./swap-table.ts";

const PROGRAM = Address.of("whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc");
const TICKS_PER_ARRAY = 88;
const LAST_TICK = 443_636;
/** Of pools that hold full ranges only, which Orca calls Splash. */
const SPLASH_SPACING = 32_896;

const tickArray = written("a tick array", {
  kind: "ladder",
  program: PROGRAM,
  seeds: ["tick_array", 4],
  encoding: "text",
  step: TICKS_PER_ARRAY,
  limit: LAST_TICK,
  bases: [1.0001],
  strides: [1, 4, 8, 64, 2, 16, 32, 96, 128, 256, 512, SPLASH_SPACING],
  perRung: 1,
  pricedMint: 5,
});
const accountsOf = (a: AccountPlace, b: AccountPlace): readonly AccountPlace[] => [
  tokenProgram,
  tokenProgram,
  readOnly("the memo program", fixed(MEMO_PROGRAM)),
  wallet,
  market,
  eitherMint,
  eitherMint,
  a,
  written("the first vault", venueAccount),
  b,
  written("the second vault", venueAccount),
  tickArray,
  tickArray,
  tickArray,
  written("the price record", derivedFrom(PROGRAM, "oracle", 4)),
];

const INPUT_IS_EXACT = 40;
const A_TO_B = 41;
const common = {
  venue: "orca_whirlpool",
  program: PROGRAM,
  name: "swap_v2",
  discriminator: hex("2b04ed0b1ac91e62"),
  dataLength: 43,
  // No price limit, and no further accounts announced.
  zeros: [
    { at: 24, length: 16 },
    { at: 42, length: 1 },
  ],
  tails: [[]],
  nativeSol: false,
} as const satisfies Partial<SwapTable>;
const aToB = accountsOf(source, destination);
const bToA = accountsOf(destination, source);
const flags = (exact: 0 | 1, direction: 0 | 1) => [
  { at: INPUT_IS_EXACT, is: [exact] },
  { at: A_TO_B, is: [direction] },
];

/** @see Orca whirlpools, program of October 2024, `instructions/v2/swap.rs`: amount, threshold, price limit, is_input, a_to_b */
export const orcaWhirlpoolSwaps: readonly SwapTable[] = [
  { ...common, exact: "in", inAt: 8, outAt: 16, flags: flags(1, 1), accounts: aToB },
  { ...common, exact: "in", inAt: 8, outAt: 16, flags: flags(1, 0), accounts: bToA },
  { ...common, exact: "out", inAt: 16, outAt: 8, flags: flags(0, 1), accounts: aToB },
  { ...common, exact: "out", inAt: 16, outAt: 8, flags: flags(0, 0), accounts: bToA },
];
