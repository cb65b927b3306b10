import { Address } from "../../../primitives/address.ts";
import { hex } from "../../../primitives/bytes.ts";
import { MEMO_PROGRAM, TOKEN_PROGRAM } from "../../../solana/programs.ts";
import {
  type AccountPlace,
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
  wallet,
  written,
} from "./swap-table.ts";

const PROGRAM = Address.of("LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo");
const BINS_PER_ARRAY = 70;
/** Steps between bins that pairs are made with, in hundredths of a percent. They only tell where to look first. */
const BIN_STEPS = [1, 2, 4, 5, 8, 10, 15, 16, 20, 25, 30, 40, 50, 60, 80, 100, 125, 150, 200, 250, 300, 400];

/** What all instructions begin with, up to the token programs, and end with, before the bin arrays. */
const start: readonly AccountPlace[] = [
  market,
  written("the bitmap of bin arrays", { ...derivedFrom(PROGRAM, "bitmap", 0), orNone: true }),
  written("the first reserve", derivedFrom(PROGRAM, 0, 6)),
  written("the second reserve", derivedFrom(PROGRAM, 0, 7)),
  source,
  destination,
  eitherMint,
  eitherMint,
  written("the price record", derivedFrom(PROGRAM, "oracle", 0)),
  readOnly("no account for a share of the fee", none),
  wallet,
];
const end: readonly AccountPlace[] = [eventAuthority(PROGRAM), readOnly("the venue's program", fixed(PROGRAM))];
const splToken = readOnly("the token program", fixed(TOKEN_PROGRAM));

const common = {
  venue: "meteora_dlmm",
  program: PROGRAM,
  inAt: 8,
  outAt: 16,
  flags: [],
  tails: [[]],
  repeated: {
    place: written("a bin array", {
      kind: "ladder",
      program: PROGRAM,
      seeds: ["bin_array", 0],
      encoding: "i64le",
      step: 1,
      limit: 6_400,
      bases: BIN_STEPS.map((step) => 1 + step / 10_000),
      strides: [1],
      perRung: BINS_PER_ARRAY,
      pricedMint: 6,
    }),
    least: 1,
    most: 12,
  },
  nativeSol: false,
} as const satisfies Partial<SwapTable>;

const newest = {
  ...common,
  dataLength: 28,
  // No transfer-hook accounts.
  zeros: [{ at: 24, length: 4 }],
  accounts: [...start, tokenProgram, tokenProgram, readOnly("the memo program", fixed(MEMO_PROGRAM)), ...end],
} as const;
const older = { ...common, dataLength: 24, zeros: [], accounts: [...start, splToken, splToken, ...end] } as const;

/** @see @meteora-ag/dlmm 1.9.14 IDL: swap2, swap_exact_out2; swap, swap_exact_out */
export const meteoraDlmmSwaps: readonly SwapTable[] = [
  { ...newest, name: "swap2", discriminator: hex("414b3f4ceb5b5b88"), exact: "in" },
  { ...newest, name: "swap_exact_out2", discriminator: hex("2bd7f784893cf351"), exact: "out" },
  { ...older, name: "swap", discriminator: hex("f8c69e91e17587c8"), exact: "in" },
  { ...older, name: "swap_exact_out", discriminator: hex("fa49652126cf4bb8"), exact: "out" },
];
