import { Address } from "../../../primitives/address.ts";
import { hex } from "../../../primitives/bytes.ts";
import { MEMO_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../solana/programs.ts";
import {
  type AccountPlace,
  derivedFrom,
  destination,
  fixed,
  inMint,
  market,
  ofInMint,
  ofOutMint,
  outMint,
  readOnly,
  type SwapTable,
  source,
  venueAccount,
  wallet,
  written,
} from "./swap-table.ts";

const PROGRAM = Address.of("CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK");
const TICKS_PER_ARRAY = 60;
const LAST_TICK = 443_636;

const tickArray = written("a tick array", {
  kind: "ladder",
  program: PROGRAM,
  seeds: ["tick_array", 2],
  encoding: "i32be",
  step: TICKS_PER_ARRAY,
  limit: LAST_TICK,
  bases: [1.0001],
  strides: [1, 10, 60, 120, 2, 4, 5, 15, 20, 50, 100],
  perRung: 1,
  pricedMint: undefined,
});
/** What both instructions begin with, up to the token program. */
const start: readonly AccountPlace[] = [
  wallet,
  readOnly("the fee configuration", venueAccount),
  market,
  source,
  destination,
  written("the vault of what goes in", derivedFrom(PROGRAM, "pool_vault", 2, ofInMint)),
  written("the vault of what comes out", derivedFrom(PROGRAM, "pool_vault", 2, ofOutMint)),
  written("the price record", derivedFrom(PROGRAM, "observation", 2)),
  readOnly("the token program", fixed(TOKEN_PROGRAM)),
];
const common = {
  venue: "raydium_clmm",
  program: PROGRAM,
  dataLength: 41,
  // No price limit: with one, the trade may stop half-way.
  zeros: [{ at: 24, length: 16 }],
  tails: [[written("the bitmap of tick arrays", derivedFrom(PROGRAM, "pool_tick_array_bitmap_extension", 2))], []],
  nativeSol: false,
} as const satisfies Partial<SwapTable>;
const newest = {
  ...common,
  name: "swap_v2",
  discriminator: hex("2b04ed0b1ac91e62"),
  accounts: [
    ...start,
    readOnly("the Token-2022 program", fixed(TOKEN_2022_PROGRAM)),
    readOnly("the memo program", fixed(MEMO_PROGRAM)),
    inMint,
    outMint,
  ],
  repeated: { place: tickArray, least: 1, most: 10 },
} as const;
/** Names no mint: the wallet's accounts are of those that are traded. Its first array stands before the bitmap. */
const older = {
  ...common,
  name: "swap",
  discriminator: hex("f8c69e91e17587c8"),
  accounts: [...start, tickArray],
  repeated: { place: tickArray, least: 0, most: 9 },
} as const;
const exactIn = { exact: "in", inAt: 8, outAt: 16, flags: [{ at: 40, is: [1] }] } as const;
const exactOut = { exact: "out", inAt: 16, outAt: 8, flags: [{ at: 40, is: [0] }] } as const;

/** @see raydium-clmm `instructions/swap_v2.rs`, `instructions/swap.rs`: amount, threshold, price limit, is_base_input */
export const raydiumClmmSwaps: readonly SwapTable[] = [
  { ...newest, ...exactIn },
  { ...newest, ...exactOut },
  { ...older, ...exactIn },
  { ...older, ...exactOut },
];
