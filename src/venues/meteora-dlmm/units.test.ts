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
  const pair = { limitOrders: true, rewards: 0 };
  const state = { pair, mints: [MINT, MINT], extensions: [0, 0], extended } as unknown as DlmmState;
  const fill = { bins: 1, empty, mixed: 0 } as DlmmFill;
  const bound = unitsOf(state, fill, arrays, xToY, { mode } as Ask);
  expect(bound).toBeGreaterThanOrEqual(used);
  expect(bound).toBeLessThan(1.06 * used);
});
