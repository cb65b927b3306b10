import { expect, it } from "vitest";
import { Address } from "../../primitives/address.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { DbcFill } from "./math.ts";
import { unitsOf } from "./units.ts";

type Priced = Parameters<typeof unitsOf>[0];
type Moment = Parameters<typeof unitsOf>[4];

const MINT = { address: Address.from(new Uint8Array(32)), program: TOKEN_PROGRAM, extensions: 0 } as Mint;
/** Stretches of the curve and those that a sale crosses, and the units that the build of August 2025 used, with a volatility fee. */
const MEASURED: readonly (readonly [segments: number, crossed: number, endsLow: boolean, used: number])[] = [
  [5, 2, false, 53_722],
  [5, 4, true, 58_614],
];

it.each(MEASURED)("bounds closely a sale at a high price over a curve of %i stretches, crossing %i", (...measured) => {
  const [stretches, crossed, endsLow, used] = measured;
  const baseFee = { kind: "timeSchedule", cliff: 1n, exponential: false, reduction: 0n, periods: 0n, frequency: 0n };
  const config = { baseFee, volatility: {}, eagerFirstSwap: false, segments: Array(stretches).fill(0) };
  const priced = { pool: { hasSwapped: false }, config, mints: [MINT, MINT], extensions: [0, 0] } as unknown as Priced;
  const bound = unitsOf(priced, true, true, { crossed, endsLow } as DbcFill, {} as Moment);
  expect(bound).toBeGreaterThanOrEqual(used);
  expect(bound).toBeLessThan(1.1 * used);
});
