import { Address } from "../../../primitives/address.ts";
import { hex } from "../../../primitives/bytes.ts";
import { MEMO_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../solana/programs.ts";
import {
  derivedFrom,
  destination,
  fixed,
  inMint,
  market,
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

const common = {
  venue: "raydium_clmm",
  program: PROGRAM,
  name: "swap_v2",
  discriminator: hex("2b04ed0b1ac91e62"),
  dataLength: 41,
  // No price limit: with one, the trade may stop half-way.
  zeros: [{ at: 24, length: 16 }],
  accounts: [
    wallet,
    readOnly("the fee configuration", venueAccount),
    market,
    source,
    destination,
    written("the vault of what goes in", derivedFrom(PROGRAM, "pool_vault", 2, 11)),
    written("the vault of what comes out", derivedFrom(PROGRAM, "pool_vault", 2, 12)),
    written("the price record", derivedFrom(PROGRAM, "observation", 2)),
    readOnly("the token program", fixed(TOKEN_PROGRAM)),
    readOnly("the Token-2022 program", fixed(TOKEN_2022_PROGRAM)),
    readOnly("the memo program", fixed(MEMO_PROGRAM)),
    inMint,
    outMint,
  ],
  tails: [[written("the bitmap of tick arrays", derivedFrom(PROGRAM, "pool_tick_array_bitmap_extension", 2))], []],
  repeated: {
    place: written("a tick array", {
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
    }),
    least: 1,
    most: 10,
  },
  nativeSol: false,
} as const satisfies Partial<SwapTable>;

/** @see raydium-clmm `instructions/swap_v2.rs`: amount, threshold, price limit, is_base_input */
export const raydiumClmmSwaps: readonly SwapTable[] = [
  { ...common, exact: "in", inAt: 8, outAt: 16, flags: [{ at: 40, is: [1] }] },
  { ...common, exact: "out", inAt: 16, outAt: 8, flags: [{ at: 40, is: [0] }] },
];
