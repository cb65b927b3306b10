import { Address } from "../../../primitives/address.ts";
import { hex } from "../../../primitives/bytes.ts";
import { MEMO_PROGRAM, TOKEN_PROGRAM } from "../../../solana/programs.ts";
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

/** @param pool where the market stands  @param pricedMint where its first mint does; absent: it is not named */
const tickArrayOf = (pool: number, pricedMint: number | undefined): AccountPlace =>
  written("a tick array", {
    kind: "ladder",
    program: PROGRAM,
    seeds: ["tick_array", pool],
    encoding: "text",
    step: TICKS_PER_ARRAY,
    limit: LAST_TICK,
    bases: [1.0001],
    strides: [1, 4, 8, 64, 2, 16, 32, 96, 128, 256, 512, SPLASH_SPACING],
    perRung: 1,
    pricedMint,
  });
const firstVault = written("the first vault", venueAccount);
const secondVault = written("the second vault", venueAccount);
const accountsOf = (a: AccountPlace, b: AccountPlace): readonly AccountPlace[] => [
  tokenProgram,
  tokenProgram,
  readOnly("the memo program", fixed(MEMO_PROGRAM)),
  wallet,
  market,
  eitherMint,
  eitherMint,
  a,
  firstVault,
  b,
  secondVault,
  ...Array.from({ length: 3 }, () => tickArrayOf(4, 5)),
  written("the price record", derivedFrom(PROGRAM, "oracle", 4)),
];
/** Names no mint: the wallet's accounts are of those that are traded, and a pool's first mint is the lesser address. */
const olderAccountsOf = (a: AccountPlace, b: AccountPlace): readonly AccountPlace[] => [
  readOnly("the token program", fixed(TOKEN_PROGRAM)),
  wallet,
  market,
  a,
  firstVault,
  b,
  secondVault,
  ...Array.from({ length: 3 }, () => tickArrayOf(2, undefined)),
  written("the price record", derivedFrom(PROGRAM, "oracle", 2)),
];

const INPUT_IS_EXACT = 40;
const A_TO_B = 41;
const common = {
  venue: "orca_whirlpool",
  program: PROGRAM,
  tails: [[]],
  nativeSol: false,
} as const satisfies Partial<SwapTable>;
const noPriceLimit = { at: 24, length: 16 };
const newest = {
  ...common,
  name: "swap_v2",
  discriminator: hex("2b04ed0b1ac91e62"),
  dataLength: 43,
  // And no further accounts announced.
  zeros: [noPriceLimit, { at: 42, length: 1 }],
  // It reads a mint no further than an extension it does not know: a fee behind one it leaves out.
  grossBound: true,
} as const;
const older = {
  ...common,
  name: "swap",
  discriminator: hex("f8c69e91e17587c8"),
  dataLength: 42,
  zeros: [noPriceLimit],
} as const;
const flags = (exact: 0 | 1, direction: 0 | 1) => [
  { at: INPUT_IS_EXACT, is: [exact] },
  { at: A_TO_B, is: [direction] },
];

/** Exact in and exact out, each in both directions. */
const formsOf = (form: typeof newest | typeof older, accounts: typeof accountsOf): readonly SwapTable[] => {
  const aToB = accounts(source, destination);
  const bToA = accounts(destination, source);
  return [
    { ...form, exact: "in", inAt: 8, outAt: 16, flags: flags(1, 1), accounts: aToB },
    { ...form, exact: "in", inAt: 8, outAt: 16, flags: flags(1, 0), accounts: bToA },
    { ...form, exact: "out", inAt: 16, outAt: 8, flags: flags(0, 1), accounts: aToB },
    { ...form, exact: "out", inAt: 16, outAt: 8, flags: flags(0, 0), accounts: bToA },
  ];
};

/** @see Orca whirlpools, program of October 2024, `instructions/v2/swap.rs`: amount, threshold, price limit, is_input, a_to_b */
export const orcaWhirlpoolSwaps: readonly SwapTable[] = [
  ...formsOf(newest, accountsOf),
  ...formsOf(older, olderAccountsOf),
];
