import { expect, it } from "vitest";
import { Address } from "../../primitives/address.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { Q64 } from "../curves/concentrated-liquidity.ts";
import type { ClmmFill } from "./math.ts";
import { clmmSqrtPrice } from "./ticks/tick-price.ts";
import { BITMAP_EXTENSION_UNITS, swapUnits, tradeUnits } from "./units.ts";

const MINT = { address: Address.from(new Uint8Array(32)), program: TOKEN_PROGRAM } as Mint;
const MINTS = [MINT, MINT] as const;
const NOTHING = {
  largeSteps: 0,
  wideSteps: 0,
  endsWide: false,
  touched: 0,
  crossedAbove: 0,
  matched: 0,
  endsBetween: true,
} as ClmmFill;

/** Swaps on the build of November 2024 that end exactly at the last tick they cross: the units that they used. */
type Measured = readonly [
  zeroForOne: boolean,
  exactIn: boolean,
  tick: number,
  steps: number,
  far: boolean,
  used: number,
];
const MEASURED: readonly Measured[] = [
  [false, true, 262_137, 1, false, 58_610],
  [false, true, 262_137, 2, false, 77_363],
  [false, true, 262_137, 5, false, 133_469],
  [false, false, -131_075, 1, true, 62_537],
  [true, false, 5, 1, false, 57_711],
  [true, true, -262_137, 1, false, 57_483],
];

it.each(MEASURED)("bounds closely a swap that ends at a tick: 0 for 1 %s, exact in %s, from tick %i", (...measured) => {
  const [zeroForOne, exactIn, tick, steps, far, used] = measured;
  const crossedAbove = tick > steps * 10 ? steps : 0;
  const fill = { ...NOTHING, steps, crossed: steps, crossedAbove, endsBetween: false };
  const state = { curve: { tick }, mints: MINTS, baseUnits: swapUnits(255, 0, MINTS, [0, 0]) };
  const bound = tradeUnits(state, fill, zeroForOne, exactIn) + (far ? BITMAP_EXTENSION_UNITS : 0);
  expect(bound).toBeGreaterThanOrEqual(used);
  expect(bound).toBeLessThan(1.12 * used);
});

it("charges the longer divisions above price 1 to a trade that ends there, wherever it starts", () => {
  const common = { ...NOTHING, steps: 2, crossed: 1 };
  const state = (tick: number) => ({ curve: { tick }, mints: MINTS, baseUnits: swapUnits(255, 0, MINTS, [0, 0]) });
  const bound = (tick: number, sqrtPrice: bigint) =>
    tradeUnits(state(tick), { ...common, sqrtPrice } as ClmmFill, false, true);
  const below = bound(-371_761, Q64 - 1n);
  // On the build of November 2024 such a trade, from this tick to 70,800, used 1,584 more than the bound for one that stays below.
  expect(bound(-371_761, 635_182_887_760_923_764_549n) - below).toBeGreaterThanOrEqual(1_584);
  expect(bound(-371_761, 635_182_887_760_923_764_549n)).toBe(bound(5, 635_182_887_760_923_764_549n));
});

/** Swaps on the same build in pools of two SPL Token mints, with as many units as the arrays and rewards beside them take at most. */
const LARGE: readonly (readonly [
  name: string,
  zeroForOne: boolean,
  exactIn: boolean,
  tick: number,
  fill: Partial<ClmmFill>,
  rest: number,
  used: number,
])[] = [
  [
    "ends in 77 bits of liquidity",
    false,
    true,
    113_002,
    { steps: 1, largeSteps: 1, wideSteps: 1, endsWide: true },
    705,
    73_066,
  ],
  [
    "crosses into 68 bits",
    false,
    true,
    104_285,
    { steps: 2, crossed: 1, crossedAbove: 1, largeSteps: 2, wideSteps: 1, endsWide: true },
    8_820,
    102_721,
  ],
  [
    "through three stretches of 65 bits",
    true,
    true,
    65_585,
    { steps: 3, crossed: 2, crossedAbove: 2, largeSteps: 3, wideSteps: 3, endsWide: true },
    14_660,
    143_179,
  ],
  [
    "through six of 51 bits",
    false,
    true,
    196_609,
    { steps: 6, crossed: 5, crossedAbove: 5, largeSteps: 6 },
    24_740,
    193_995,
  ],
  [
    "starts at a tick it crosses",
    true,
    true,
    -41_455,
    { steps: 3, crossed: 3, touched: 1, largeSteps: 3 },
    12_800,
    134_884,
  ],
];

it.each(LARGE)(
  "bounds closely a swap of much liquidity that %s",
  (_name, zeroForOne, exactIn, tick, passed, rest, used) => {
    const state = { curve: { tick }, mints: MINTS, baseUnits: swapUnits(255, 0, MINTS, [0, 0]) };
    const boundOf = (fill: ClmmFill) => rest + tradeUnits(state, fill, zeroForOne, exactIn);
    const fill = { ...NOTHING, sqrtPrice: clmmSqrtPrice(tick), ...passed };
    expect(boundOf(fill)).toBeGreaterThanOrEqual(used);
    expect(boundOf(fill)).toBeLessThan(1.08 * used);
    if (fill.touched === 0)
      expect(boundOf({ ...fill, largeSteps: 0, wideSteps: 0, endsWide: false })).toBeLessThan(used);
  },
);
