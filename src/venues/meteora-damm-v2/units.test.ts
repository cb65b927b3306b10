import { expect, it } from "vitest";
import { Address } from "../../primitives/address.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { Ask } from "../venue.ts";
import { unitsOf } from "./units.ts";

type Priced = Parameters<typeof unitsOf>[0];
type Moment = Parameters<typeof unitsOf>[4];

const MINT = { address: Address.from(new Uint8Array(32)), program: TOKEN_PROGRAM, extensions: 0 } as Mint;
/** Reserves of A and B, input, output, and the units that the build of March 2026 used, at a flat fee. */
type Measured = readonly [Ask["mode"], aToB: boolean, a: bigint, b: bigint, bigint, bigint, used: number];
const MEASURED: readonly Measured[] = [
  ["exactIn", true, 11n, 688942792776456591n, 2n, 105726220891463914n, 32_938],
  ["exactIn", true, 262561242n, 7622n, 1018316n, 28n, 25_817],
  ["exactIn", false, 270n, 8142037035660n, 1892280483302n, 50n, 31_382],
  ["exactIn", false, 6240232766321070n, 13n, 3n, 832031035509476n, 22_218],
  ["exactOut", true, 11n, 688942792776456591n, 1n, 3197113124613n, 33_021],
  ["exactOut", true, 6240232766321070n, 13n, 3900145478950669n, 4n, 22_456],
  ["exactOut", false, 11n, 688942792776456591n, 69066946644256301n, 1n, 32_762],
  ["exactOut", false, 6240232766321070n, 13n, 12n, 2714095431440120n, 22_216],
];

it.each(MEASURED)("bounds closely what compounding takes: %s, A goes in: %s, reserves %d and %d", (...measured) => {
  const [mode, aToB, a, b, input, output, used] = measured;
  const bound = boundOf({ compounding: true, reserves: [a, b] }, aToB, mode, input, output);
  expect(bound).toBeGreaterThanOrEqual(used);
  expect(bound).toBeLessThan(1.25 * used);
});

it("bounds a buy with volatility of a million times what the pool holds", () => {
  const pool = { compounding: false, volatility: {} };
  expect(boundOf(pool, false, "exactIn", 10_000_000_000_000n, 9_999_999n)).toBeGreaterThanOrEqual(20_480);
});

/** Trades on the build of 11 March 2026, whose pools had not been migrated. */
it.each([
  ["exactIn", true, 863_770_413_065n, 24_135],
  ["exactIn", false, 171_623_499_632_030n, 25_229],
  ["exactOut", false, 613_789_100n, 25_491],
] as const)("bounds a trade with volatility that migrates its pool: %s, A goes in: %s", (mode, aToB, amount, used) => {
  const bound = boundOf({ compounding: false, volatility: {}, migrated: false }, aToB, mode, amount, amount);
  expect(bound).toBeGreaterThanOrEqual(used);
  expect(bound).toBeLessThan(1.1 * used);
});

/** Trades on the build of March 2026, at a flat fee: the bits of the root of the price of A in B, and of the liquidity. */
it.each([
  ["exactIn", true, 62, 90, 14_466],
  ["exactIn", true, 74, 96, 15_031],
  ["exactIn", true, 87, 112, 15_098],
  ["exactIn", false, 88, 95, 15_895],
  ["exactOut", true, 75, 83, 16_093],
  ["exactOut", false, 62, 83, 16_038],
  ["exactOut", false, 77, 93, 16_418],
  ["exactOut", false, 89, 104, 16_531],
] as const)(
  "bounds what high prices take: %s, A goes in: %s, a root of %d bits",
  (mode, aToB, root, liquidity, used) => {
    const pool = { compounding: false, sqrtPrice: 1n << BigInt(root - 1), liquidity: 1n << BigInt(liquidity - 1) };
    const bound = boundOf(pool, aToB, mode, 1n, 1n);
    expect(bound).toBeGreaterThanOrEqual(used);
    expect(bound).toBeLessThan(1.06 * used);
  },
);

it("bounds a purchase that raises the price into the higher kind", () => {
  const pool = { compounding: false, sqrtPrice: 1n << 60n, liquidity: 1n << 80n };
  expect(boundOf(pool, false, "exactOut", 1n << 30n, 1n) - boundOf(pool, false, "exactOut", 1n, 1n)).toBe(450);
});

/** The bits of a limiter's reference, its cliff and increment, an input in references, and the units used. */
it.each([
  [31, 100_000_000n, 100_000n, 1_031, 39_964],
  [36, 10_000_000n, 100_000n, 3_000, 41_932],
  [44, 10_000_000n, 100_000n, 22, 44_346],
  [51, 10_000_000n, 100_000n, 30, 45_224],
  [54, 100_000_000n, 10_000_000n, 3, 45_376],
])("bounds the root of a limiter whose reference has %d bits", (bits, cliff, increment, times, used) => {
  const reference = 1n << BigInt(bits - 1);
  const baseFee = { kind: "rateLimiter", cliff, increment, maximum: 500_000_000n, reference, duration: 40_000n };
  const moment = { point: 1n, activationPoint: 0n, buying: true, sqrtPrice: 1n, firstSqrtPrice: 1n } as Moment;
  const netIn = (reference * BigInt(times) * 9n) / 10n;
  const bound = boundOf({ compounding: false, baseFee, sqrtPrice: 1n << 73n }, false, "exactOut", netIn, 1n, moment);
  expect(bound).toBeGreaterThanOrEqual(used);
  expect(bound).toBeLessThan(1.06 * used);
});

it("bounds the power of an exponential time schedule", () => {
  const baseFee = {
    kind: "timeSchedule",
    cliff: 1n,
    exponential: true,
    reduction: 250n,
    periods: 120n,
    frequency: 30n,
  };
  expect(boundOf({ compounding: false, baseFee }, true, "exactIn", 11_997_697_449_139_672n, 1n)).toBeGreaterThanOrEqual(
    17_612,
  );
});

it("bounds the power of an exponential schedule by price, of which a step is taken", () => {
  const schedule = { kind: "marketCapSchedule", exponential: true, periods: 500n, duration: 86_400n };
  const moment = { point: 1n, activationPoint: 0n, sqrtPrice: 2n, firstSqrtPrice: 1n } as Moment;
  const pool = { compounding: false, baseFee: schedule };
  expect(boundOf(pool, true, "exactIn", 2_337_736_507_194n, 1n, moment)).toBeGreaterThanOrEqual(19_434);
});

function boundOf(
  changes: object,
  aToB: boolean,
  mode: Ask["mode"],
  input: bigint,
  output: bigint,
  moment = {} as Moment,
): number {
  const baseFee = { kind: "timeSchedule", cliff: 1n, exponential: false, reduction: 0n, periods: 0n, frequency: 0n };
  const typical = { sqrtPrice: 1n << 57n, liquidity: 1n << 99n };
  const pool = { baseFee, migrated: true, volatility: undefined, ...typical, ...changes };
  const priced = { pool, mints: [MINT, MINT], extensions: [0, 0] } as unknown as Priced;
  const fill = { input, output, netIn: input, grossOut: output };
  return unitsOf(priced, aToB, { mode } as Ask, fill, moment);
}
