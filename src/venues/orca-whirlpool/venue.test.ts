import { describe, expect, it } from "vitest";
import { Address } from "../../primitives/address.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { routesFrom, type WhirlpoolState } from "./state.ts";
import { whirlpoolSqrtPrice } from "./tick-price.ts";
import { orcaWhirlpool } from "./venue.ts";

const key = (n: number): Address => Address.from(new Uint8Array(32).fill(n));
const mint = (n: number, unsupported?: string): Mint => ({
  address: key(n),
  program: TOKEN_PROGRAM,
  decimals: 6,
  supply: 0n,
  transferFees: undefined,
  accountSize: 165,
  extensions: 0,
  unsupported,
});
const slot = (n: number, start: number) => ({ address: key(n), bump: 255, start, exists: true });

function state(changes: Partial<WhirlpoolState> = {}): WhirlpoolState {
  const ticks = [-100, 200];
  return {
    market: {
      venue: "orca_whirlpool",
      address: key(1),
      mints: [key(2), key(3)],
      nativeSol: false,
      vaults: [key(4), key(5)],
      tickSpacing: 1,
      oracle: key(6),
      oracleBump: 255,
      adaptive: false,
    },
    reserves: [1n << 63n, 1n << 63n],
    curve: {
      ticks,
      sqrtPrices: ticks.map(whirlpoolSqrtPrice),
      liquidityNet: [10n, -(10n ** 12n)],
      feeRate: 100n,
      liquidity: 10n ** 12n,
      sqrtPrice: whirlpoolSqrtPrice(10),
      tick: 10,
      tickSpacing: 1,
      oracle: undefined,
    },
    mints: [mint(2), mint(3)],
    tokenPrograms: [TOKEN_PROGRAM, TOKEN_PROGRAM],
    baseUnits: 1_000,
    slots: new Map(),
    routes: [
      {
        arrays: [slot(20, 0), slot(21, -88), slot(22, -176)],
        behind: slot(23, 88),
        borders: [0, -88].map(whirlpoolSqrtPrice),
      },
      {
        arrays: [slot(20, 0), slot(23, 88), slot(24, 176)],
        behind: slot(21, -88),
        borders: [87, 175].map(whirlpoolSqrtPrice),
      },
    ],
    ...changes,
  };
}

const ask = (amount: bigint, aToB = true) =>
  ({
    mode: "exactIn",
    inMint: key(aToB ? 2 : 3),
    outMint: key(aToB ? 3 : 2),
    amount,
    clock: { slot: 1n, epoch: 1n, unixTimestamp: 2_000n },
  }) as const;

const arrays = (amount: bigint, aToB = true) => orcaWhirlpool.quote(state(), ask(amount, aToB)).fill.tickArrays;

describe("orcaWhirlpool", () => {
  it("names the arrays crossed, and those on either side if there is room", () => {
    expect(arrays(1_000n)).toEqual([key(20), key(21), key(23)]);
    expect(arrays(1_000_000_000n)).toEqual([key(20), key(21), key(23)]);
    expect(arrays(5_300_000_000n)).toEqual([key(20), key(21), key(22)]);
    expect(arrays(1_000n, false)).toEqual([key(20), key(23), key(21)]);
  });

  it("names the third array where an exact output ends less than a unit short of the second one's end", () => {
    const thin = state();
    const curve = { ...thin.curve, ticks: [], sqrtPrices: [], liquidityNet: [], liquidity: 1_000n };
    const third = (amount: bigint, aToB: boolean) =>
      orcaWhirlpool.quote({ ...thin, curve }, { ...ask(amount, aToB), mode: "exactOut" }).fill.tickArrays[2];
    // From tick 10, 4 units of the output reach the end of the second array downwards (tick -88), and 8 that upwards (tick 175).
    expect([2n, 3n, 4n, 5n].map((amount) => third(amount, true))).toEqual([23, 23, 22, 22].map(key));
    expect([6n, 7n, 8n, 9n].map((amount) => third(amount, false))).toEqual([21, 21, 24, 24].map(key));
  });

  it("names the arrays alone that prices come near to, if it is to be lean", () => {
    const [SPACING, SPAN] = [64, 64 * 88];
    const at = (tick: number) => {
      const near = [slot(22, -2 * SPAN), slot(21, -SPAN), slot(20, 0), slot(23, SPAN), slot(24, 2 * SPAN)];
      const slots = new Map(near.map((one) => [one.start, one]));
      const curve = { ...state().curve, tick, sqrtPrice: whirlpoolSqrtPrice(tick), tickSpacing: SPACING };
      const ticks = [-10 * SPACING, 200 * SPACING];
      const pool = { ...curve, ticks, sqrtPrices: ticks.map(whirlpoolSqrtPrice) };
      const market = { ...state().market, tickSpacing: SPACING };
      return state({ market, curve: pool, slots, routes: routesFrom(slots, pool) });
    };
    const lean = (tick: number, aToB: boolean) => {
      const quote = orcaWhirlpool.quote(at(tick), ask(1_000_000n, aToB));
      const leaner = orcaWhirlpool.lean!(at(tick), quote);
      if (leaner !== undefined) expect({ ...leaner, fill: 0 }).toEqual({ ...quote, fill: 0 });
      return leaner?.fill.tickArrays;
    };
    expect(lean(2_000, true)).toEqual([key(20), key(20), key(20)]);
    expect(lean(2_000, false)).toEqual([key(20), key(20), key(20)]);
    expect(lean(100, true)).toEqual([key(20), key(21), key(20)]);
    expect(lean(100, false)).toEqual([key(20), key(21), key(20)]);
    expect(lean(SPAN - SPACING - 100, true)).toEqual([key(20), key(20), key(20)]);
    expect(lean(SPAN - SPACING - 110, false)).toEqual([key(20), key(20), key(20)]);
    expect(lean(SPAN - SPACING - 90, false)).toEqual([key(20), key(23), key(20)]);
    expect(lean(SPAN - 100, true)).toEqual([key(20), key(23), key(20)]);
  });

  it("does not quote before trading is enabled", () => {
    const oracle = {
      tradeEnabledAt: 2_001n,
      filterPeriod: 30n,
      decayPeriod: 600n,
      reductionFactor: 500,
      controlFactor: 4_000n,
      maximumVolatility: 350_000,
      groupSize: 1,
      majorSwapTicks: 1,
      referenceAt: 0n,
      majorSwapAt: 0n,
      volatilityReference: 0,
      groupReference: 0,
      volatility: 0,
    };
    const waiting = state({ curve: { ...state().curve, oracle } });
    expect(() => orcaWhirlpool.quote(waiting, ask(1_000n))).toThrow("opens at 2001");
  });

  it("refuses a token that cannot be traded, with the reason", () => {
    const stuck = state({ mints: [mint(2), mint(3, "it cannot be transferred")] });
    expect(() => orcaWhirlpool.quote(stuck, ask(1_000n))).toThrow("it cannot be transferred");
  });

  it("refuses what three arrays cannot give, and amounts that round to nothing", () => {
    expect(() => orcaWhirlpool.quote(state(), ask(10n ** 13n))).toThrow("within reach");
    expect(() => orcaWhirlpool.quote(state(), ask(1n))).toThrow("too small");
  });
});
