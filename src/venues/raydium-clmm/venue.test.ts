import { describe, expect, it } from "vitest";
import { Address } from "../../primitives/address.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { ClmmState } from "./state.ts";
import { clmmSqrtPrice } from "./ticks/tick-price.ts";
import { raydiumClmm } from "./venue.ts";

const key = (n: number): Address => Address.from(new Uint8Array(32).fill(n));
const mint = (n: number): Mint => ({
  address: key(n),
  program: TOKEN_PROGRAM,
  decimals: 6,
  supply: 0n,
  transferFees: undefined,
  accountSize: 165,
  extensions: 0,
  unsupported: undefined,
});
const EXTENSION = key(50);

/** Ticks in the arrays −2, −1, 0 and 1 of spacing 1. */
const TICKS = [-120, -60, 0, 60];

function state(changes: Partial<ClmmState> = {}): ClmmState {
  const arrays = [-120, -60, 0, 60];
  const address = (start: number): Address => key(100 + start / 60);
  return {
    market: {
      venue: "raydium_clmm",
      address: key(1),
      mints: [key(2), key(3)],
      nativeSol: false,
      config: key(4),
      vaults: [key(5), key(6)],
      observation: key(7),
      tickSpacing: 1,
      extension: { address: EXTENSION, bump: 255 },
      extended: true,
    },
    reserves: [1n << 63n, 1n << 63n],
    curve: {
      ticks: TICKS,
      sqrtPrices: TICKS.map(clmmSqrtPrice),
      liquidityNet: [10n, 10n, 10n, -(10n ** 12n)],
      hasLiquidity: TICKS.map(() => true),
      orders: TICKS.map(() => 0n),
      feeRate: 100n,
      feeOn: 0,
      liquidity: 10n ** 12n,
      sqrtPrice: clmmSqrtPrice(10),
      tick: 10,
      tickSpacing: 1,
      volatility: undefined,
    },
    swapDisabled: false,
    openTime: 1_000n,
    mints: [mint(2), mint(3)],
    starts: arrays,
    paths: [
      { starts: [0, -60, -120], addresses: [0, -60, -120].map(address), behind: address(60), behindStart: 60 },
      { starts: [0, 60], addresses: [0, 60].map(address), behind: address(-60), behindStart: -60 },
    ],
    extension: EXTENSION,
    baseUnits: arrays.length,
    ...changes,
  };
}

const ask = (amount: bigint, down = true, unixTimestamp = 2_000n) =>
  ({
    mode: "exactIn",
    inMint: key(down ? 2 : 3),
    outMint: key(down ? 3 : 2),
    amount,
    clock: { slot: 1n, epoch: 1n, unixTimestamp },
  }) as const;

const trail = (amount: bigint, down = true) => raydiumClmm.quote(state(), ask(amount, down)).fill.trail;

describe("raydiumClmm", () => {
  it("does not quote a paused pool, nor one before it opens", () => {
    expect(() => raydiumClmm.quote(state({ swapDisabled: true }), ask(1_000n))).toThrow("paused");
    expect(() => raydiumClmm.quote(state(), ask(1_000n, true, 1_000n))).toThrow("opens after 1000");
  });

  it("names the arrays crossed and one more on either side, in the order of the swap", () => {
    expect(trail(1_000n)).toEqual([key(101), key(100), key(99)]);
    expect(trail(1_000_000_000n)).toEqual([key(101), key(100), key(99), key(98)]);
  });

  it("leaves out the neighbours that the price does not come near to, if it is to be lean", () => {
    const wide = (tick: number): ClmmState => {
      const { market, curve } = state();
      const ticks = [-7_200, -3_600, 0, 3_600];
      const address = (start: number): Address => key(100 + start / 3_600);
      return state({
        market: { ...market, tickSpacing: 60, extended: false },
        curve: {
          ...curve,
          tickSpacing: 60,
          tick,
          sqrtPrice: clmmSqrtPrice(tick),
          ticks,
          sqrtPrices: ticks.map(clmmSqrtPrice),
        },
        starts: ticks,
        paths: [
          {
            starts: [0, -3_600, -7_200],
            addresses: [0, -3_600, -7_200].map(address),
            behind: key(101),
            behindStart: 3_600,
          },
          { starts: [0, 3_600], addresses: [0, 3_600].map(address), behind: key(99), behindStart: -3_600 },
        ],
        extension: undefined,
      });
    };
    const leanTrail = (tick: number) => {
      const on = wide(tick);
      const quote = raydiumClmm.quote(on, ask(1_000n));
      expect(quote.fill.trail).toEqual([key(101), key(100), key(99)]);
      return raydiumClmm.lean!(on, quote)?.fill.trail;
    };
    expect(leanTrail(1_800)).toEqual([key(100)]);
    // The tick after which the next array is looked into is half a percent away; so is the array behind.
    expect(leanTrail(50)).toEqual([key(100), key(99)]);
    expect(leanTrail(3_550)).toEqual([key(101), key(100)]);
  });

  it("names the bitmap's extension if the search may leave the pool's own bitmap", () => {
    expect(trail(1_000n, false)).toEqual([EXTENSION, key(99), key(100), key(101)]);
  });

  it("refuses what its known arrays cannot give", () => {
    expect(() => raydiumClmm.quote(state(), ask(10n ** 13n))).toThrow("within reach");
  });

  it("puts the trade's direction in the order of accounts", () => {
    const quote = raydiumClmm.quote(state(), ask(1_000n, false));
    const terms = { wallet: key(8), source: key(9), destination: key(10), threshold: 1n, salt: 0, exists: () => false };
    const [instruction] = raydiumClmm.swap(state(), quote, terms).instructions;
    const addresses = instruction!.accounts.map(({ address }) => address);
    expect(addresses.slice(0, 8)).toEqual([key(8), key(4), key(1), key(9), key(10), key(6), key(5), key(7)]);
    expect(addresses.slice(11)).toEqual([key(3), key(2), ...quote.fill.trail]);
    expect(instruction!.data).toHaveLength(41);
  });

  it("puts the first array before the bitmap's extension in the older instruction", () => {
    const terms = { wallet: key(8), source: key(9), destination: key(10), threshold: 1n, salt: 0, exists: () => false };
    for (const [down, arrays] of [
      [false, [key(99), EXTENSION, key(100), key(101)]],
      [true, [key(101), key(100), key(99)]],
    ] as const) {
      const older = raydiumClmm.older!(state(), raydiumClmm.quote(state(), ask(1_000n, down)))!;
      const [instruction] = raydiumClmm.swap(state(), older, terms).instructions;
      expect(instruction!.accounts.slice(8).map(({ address }) => address)).toEqual([TOKEN_PROGRAM, ...arrays]);
    }
  });
});
