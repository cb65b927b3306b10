import { expect, it } from "vitest";
import { Address } from "../../primitives/address.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { Ask } from "../venue.ts";
import type { DlmmFill } from "./math.ts";
import type { DlmmState } from "./state.ts";
import { unitsOf } from "./units.ts";

const MINT = { address: Address.from(new Uint8Array(32)), program: TOKEN_PROGRAM } as Mint;

/** Trades within one bin of pairs with limit orders, on builds of March and May 2026: the units that they used. */
type Measured = readonly [Ask["mode"], xToY: boolean, empty: number, arrays: number, extended: boolean, used: number];
const MEASURED: readonly Measured[] = [
  ["exactIn", true, 0, 1, false, 42_505],
  ["exactIn", false, 1, 1, false, 43_031],
  ["exactIn", false, 1, 2, false, 44_876],
  ["exactIn", false, 1, 2, true, 45_943],
  ["exactOut", true, 0, 1, false, 45_031],
  ["exactOut", false, 1, 2, false, 46_790],
  ["exactOut", false, 1, 2, true, 48_717],
];

it.each(MEASURED)("bounds closely what one bin takes: %s, X goes in: %s, %i empty, %i arrays", (...measured) => {
  const [mode, xToY, empty, arrays, extended, used] = measured;
  const pair = { limitOrders: true, rewards: 0, variableFeeControl: 0n };
  const state = { pair, mints: [MINT, MINT], extensions: [0, 0], extended } as unknown as DlmmState;
  const fill = { bins: 1, empty, mixed: 0, input: 0n, highestFee: 0n } as DlmmFill;
  const bound = unitsOf(state, fill, arrays, xToY, { mode } as Ask);
  expect(bound).toBeGreaterThanOrEqual(used);
  expect(bound).toBeLessThan(1.06 * used);
});

/** Trades over many bins of such pairs, on the same builds: fees that follow volatility and large amounts take more of each bin. */
const OVER_BINS: readonly {
  readonly trade: readonly [Ask["mode"], xToY: boolean, arrays: number];
  readonly variableFeeControl: bigint;
  /** True if the fee is on the output. */
  readonly feesInY?: boolean;
  readonly fill: Pick<DlmmFill, "input" | "highestFee" | "bins" | "empty"> & { readonly grossOut?: bigint };
  readonly used: number;
}[] = [
  {
    trade: ["exactIn", false, 5],
    variableFeeControl: 0n,
    fill: { input: 95_389_556n, highestFee: 2_500_500n, bins: 186, empty: 4 },
    used: 1_005_029,
  },
  {
    trade: ["exactIn", true, 1],
    variableFeeControl: 0n,
    fill: { input: 1_470_608_595_923_679n, highestFee: 2_501_000n, bins: 8, empty: 0 },
    used: 78_071,
  },
  {
    trade: ["exactIn", true, 2],
    variableFeeControl: 7_500n,
    fill: { input: 5_096_393n, highestFee: 2_729_738n, bins: 27, empty: 28 },
    used: 193_404,
  },
  {
    trade: ["exactIn", true, 2],
    variableFeeControl: 7_500n,
    fill: { input: 92_637_482_281_111n, highestFee: 100_000_000n, bins: 23, empty: 0 },
    used: 177_072,
  },
  {
    trade: ["exactOut", true, 2],
    variableFeeControl: 0n,
    fill: { input: 82n, highestFee: 2_500_500n, bins: 41, empty: 2 },
    used: 279_132,
  },
  {
    trade: ["exactOut", false, 2],
    variableFeeControl: 0n,
    fill: { input: 13_926_495_477_440_786n, highestFee: 2_500_500n, bins: 29, empty: 27 },
    used: 231_625,
  },
  {
    trade: ["exactOut", true, 3],
    variableFeeControl: 120_000n,
    fill: { input: 242_345_911n, highestFee: 94_375_250n, bins: 70, empty: 0 },
    used: 497_840,
  },
  {
    trade: ["exactOut", false, 2],
    variableFeeControl: 7_500n,
    fill: { input: 462_078_772_333_515_744n, highestFee: 100_000_000n, bins: 33, empty: 1 },
    used: 288_063,
  },
  {
    trade: ["exactOut", true, 2],
    variableFeeControl: 120_000n,
    feesInY: true,
    fill: { input: 296_338_067_811_508n, grossOut: 60_770_671_000_000n, highestFee: 620_280n, bins: 12, empty: 2 },
    used: 117_088,
  },
];

it.each(OVER_BINS)(
  "bounds closely what many bins take: $trade, $fill.bins bins",
  ({ trade: [mode, xToY, arrays], variableFeeControl, feesInY = false, fill, used }) => {
    const pair = { limitOrders: true, rewards: 0, variableFeeControl, feesInY };
    const state = { pair, mints: [MINT, MINT], extensions: [0, 0], extended: false } as unknown as DlmmState;
    const bound = unitsOf(state, { ...fill, mixed: 0 } as DlmmFill, arrays, xToY, { mode } as Ask);
    expect(bound).toBeGreaterThanOrEqual(used);
    expect(bound).toBeLessThan(1.08 * used);
  },
);
