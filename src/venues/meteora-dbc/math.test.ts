import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SOL_MINT } from "../../solana/programs.ts";
import type { DbcConfig, DbcPool } from "./layout.ts";
import { dbcExactIn, dbcExactOut, dbcMoment, dbcMostIn } from "./math.ts";

const ONE = 1n << 64n;
const config: DbcConfig = {
  quoteMint: SOL_MINT,
  baseFee: {
    kind: "timeSchedule",
    cliff: 10_000_000n,
    exponential: false,
    reduction: 0n,
    periods: 0n,
    frequency: 0n,
  },
  volatility: undefined,
  feeCap: 990_000_000n,
  feeOnOutput: false,
  countsSeconds: true,
  eagerFirstSwap: false,
  migrationThreshold: 10n ** 12n,
  migrationSqrtPrice: ONE * 7n,
  segments: [
    { lower: ONE, upper: ONE * 2n, liquidity: (10n ** 12n) << 64n },
    { lower: ONE * 2n, upper: ONE * 4n, liquidity: (3n * 10n ** 12n) << 64n },
    { lower: ONE * 4n, upper: ONE * 8n, liquidity: (2n * 10n ** 12n) << 64n },
  ],
};
const pool: DbcPool = {
  sqrtPrice: ONE * 3n,
  quoteReserve: 4n * 10n ** 12n,
  activationPoint: 0n,
  migrated: false,
  hasSwapped: true,
  volatility: 0n,
  volatilityFrom: { updatedAt: 0n, priceReference: 0n, reference: 0n },
};
const moment = (selling: boolean) => dbcMoment(pool, selling, 1n);

describe("DBC maths", () => {
  it("takes the fee of a buy from the quote that goes in, of a sale from the quote that comes out", () => {
    const buy = dbcExactIn(config, pool, false, 1_000_000n, moment(false))!;
    expect([buy.netIn, buy.output]).toEqual([990_000n, buy.grossOut]);
    const sale = dbcExactIn(config, pool, true, 1_000_000n, moment(true))!;
    expect([sale.netIn, sale.output]).toEqual([1_000_000n, (sale.grossOut * 99n) / 100n]);
    const output = dbcExactIn({ ...config, feeOnOutput: true }, pool, false, 1_000_000n, moment(false))!;
    expect(output.netIn).toBe(1_000_000n);
  });

  it("takes the fee of a pool's first moment by a clock that is behind it", () => {
    const opening = { ...pool, activationPoint: 1_000n };
    const falling = { ...config.baseFee, periods: 100n, frequency: 1n, reduction: 90_000n } as DbcConfig["baseFee"];
    const outputAt = (now: bigint) =>
      dbcExactIn({ ...config, baseFee: falling }, opening, false, 1_000_000n, dbcMoment(opening, false, now))!.output;
    expect(outputAt(999n)).toBe(outputAt(1_000n));
    expect(outputAt(1_001n)).toBeGreaterThan(outputAt(1_000n));
  });

  it("walks over stretches both ways", () => {
    expect(dbcExactIn(config, pool, false, 4n * 10n ** 12n, moment(false))!.crossed).toBe(1);
    expect(dbcExactIn(config, pool, true, 6n * 10n ** 11n, moment(true))).toMatchObject({ crossed: 1, endsLow: true });
  });

  it("charges at least as much for an output as produced it", () => {
    fc.assert(
      fc.property(fc.boolean(), fc.bigInt(1_000n, 5n * 10n ** 11n), (selling, input) => {
        const forward = dbcExactIn(config, pool, selling, input, moment(selling))!;
        const back = dbcExactOut(config, pool, selling, forward.output, moment(selling))!;
        expect(back.input).toBeLessThanOrEqual(input + 2n);
        expect(dbcExactIn(config, pool, selling, back.input, moment(selling))!.output).toBeGreaterThanOrEqual(
          forward.output - 2n,
        );
      }),
    );
  });

  it("ends at the migration price above and at the first price below", () => {
    const most = dbcMostIn(config, pool, moment(false));
    expect(dbcExactIn(config, pool, false, most, moment(false))).toBeDefined();
    expect(dbcExactIn(config, pool, false, most + 1n, moment(false))).toBeUndefined();
    expect(dbcExactIn(config, pool, true, 10n ** 13n, moment(true))).toBeUndefined();
    expect(dbcExactOut(config, pool, false, 10n ** 13n, moment(false))).toBeUndefined();
    expect(dbcExactOut(config, pool, true, 10n ** 13n, moment(true))).toBeUndefined();
  });
});
