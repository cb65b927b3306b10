import { Address } from "../../../primitives/address.ts";
import { hex } from "../../../primitives/bytes.ts";
import { MEMO_PROGRAM } from "../../../solana/programs.ts";
import {
  derivedFrom,
  destination,
  eitherMint,
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
const EVENT_AUTHORITY = Address.of("D1ZN9Wj1fRSUQfCjhvnu1hqDMT7hzjzBBpi12nVniYD6");
const BINS_PER_ARRAY = 70;
/** Steps between bins that pairs are made with, in hundredths of a percent. They only tell where to look first. */
const BIN_STEPS = [1, 2, 4, 5, 8, 10, 15, 16, 20, 25, 30, 40, 50, 60, 80, 100, 125, 150, 200, 250, 300, 400];

const common = {
  venue: "meteora_dlmm",
  program: PROGRAM,
  dataLength: 28,
  inAt: 8,
  outAt: 16,
  flags: [],
  // No transfer-hook accounts.
  zeros: [{ at: 24, length: 4 }],
  accounts: [
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
    tokenProgram,
    tokenProgram,
    readOnly("the memo program", fixed(MEMO_PROGRAM)),
    readOnly("the event authority", fixed(EVENT_AUTHORITY)),
    readOnly("the venue's program", fixed(PROGRAM)),
  ],
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

/** @see @meteora-ag/dlmm 1.9.14 IDL: swap2, swap_exact_out2 */
export const meteoraDlmmSwaps: readonly SwapTable[] = [
  { ...common, name: "swap2", discriminator: hex("414b3f4ceb5b5b88"), exact: "in" },
  { ...common, name: "swap_exact_out2", discriminator: hex("2bd7f784893cf351"), exact: "out" },
];
