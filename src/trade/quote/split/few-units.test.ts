import { expect, test } from "vitest";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import type { HotMarket, PairMarkets } from "../../../market/port.ts";
import { Address } from "../../../primitives/address.ts";
import { ceilDiv } from "../../../primitives/integer.ts";
import type { Ask, Quote, Venue } from "../../../venues/venue.ts";
import type { Intent } from "../../intent.ts";
import { allAtOnce } from "../long-searches.ts";
import { routesOf, type Snapshot } from "../snapshot.ts";

const CLOCK = { slot: 1n, epoch: 1n, unixTimestamp: 1n };
const [A, B, HUB, FAR_HUB] = [1, 2, 3, 4].map((byte) => Address.from(new Uint8Array(32).fill(byte))) as [
  Address,
  Address,
  Address,
  Address,
];

/** A constant product that refuses to take more than its limit. */
interface Limited {
  readonly first: Address;
  /** Of the first mint and of the other. Base units. */
  readonly reserves: readonly [bigint, bigint];
  readonly most: bigint;
}

const venue = {
  id: "limited",
  supports: { exactOut: true },
  quote: ({ first, reserves, most }: Limited, { mode, inMint, outMint, amount }: Ask): Quote => {
    const [x, y] = inMint === first ? reserves : ([reserves[1], reserves[0]] as const);
    const inAmount = mode === "exactIn" ? amount : amount < y ? ceilDiv(x * amount, y - amount) : most + 1n;
    const outAmount = mode === "exactIn" ? (y * amount) / (x + amount) : amount;
    if (inAmount > most || outAmount === 0n) throw new TradewireError("INSUFFICIENT_LIQUIDITY", "it takes less");
    return { mode, inMint, outMint, inAmount, outAmount, priceImpact: 0 } as Quote;
  },
} as unknown as Venue;

let markets = 0;

/** @param rows of each market: both reserves, and the most that it takes */
function pairOf(a: Address, b: Address, rows: readonly (readonly [bigint, bigint, bigint])[]): PairMarkets {
  const made = rows.map(([x, y, most]): HotMarket => {
    const address = Address.from(new Uint8Array(32).fill(100 + markets++));
    const market = { venue: "limited", address, mints: [a, b], nativeSol: false };
    return { venue, market, state: { first: a, reserves: [x, y], most }, slot: 1n } as unknown as HotMarket;
  });
  return { markets: made, faults: [], searched: [] };
}

type Rows = Parameters<typeof pairOf>[2];

function inputFor(amount: bigint, rows: Readonly<Record<"ab" | "ah" | "hb" | "af" | "fb" | "hf", Rows>>): bigint {
  const snapshot: Snapshot = {
    direct: pairOf(A, B, rows.ab),
    hubs: [
      { hub: HUB, mint: {} as never, toHub: pairOf(A, HUB, rows.ah), fromHub: pairOf(HUB, B, rows.hb) },
      { hub: FAR_HUB, mint: {} as never, toHub: pairOf(A, FAR_HUB, rows.af), fromHub: pairOf(FAR_HUB, B, rows.fb) },
    ],
    between: [{ from: HUB, to: FAR_HUB, pair: pairOf(HUB, FAR_HUB, rows.hf) }],
  };
  const intent = {
    inMint: { address: A },
    outMint: { address: B },
    mode: "exactOut",
    amount,
    slippagePpb: 0n,
  } as Intent;
  return allAtOnce(routesOf({ searchSoon: () => undefined }, intent, snapshot, CLOCK)).routes[0]!.inAmount;
}

test("an exact output is divided over a hub whose units are worth a hundredth of the trade each", () => {
  const input = inputFor(2_575_619_780n, {
    ab: [
      [8_750_000_000n, 11_470_000_000n, 8_048_572_547n],
      [2_840_000_000n, 1_560_000_000n, 620_117_857n],
      [8_780_000_000n, 7_690_000_000n, 1_926_860_294n],
    ],
    ah: [
      [6_450_000_000n, 1_275n, 427_792_488n],
      [5_650_000_000n, 758n, 4_204_581_738n],
      [4_720_000_000n, 712n, 780_405_113n],
    ],
    hb: [[704n, 11_420_000_000n, 69n]],
    af: [
      [7_290_000_000n, 9_760_000_000n, 3_137_711_877n],
      [9_890_000_000n, 15_790_000_000n, 7_569_604_471n],
    ],
    fb: [
      [3_180_000_000n, 4_270_000_000n, 435_645_554n],
      [9_650_000_000n, 7_970_000_000n, 4_714_143_869n],
      [7_410_000_000n, 5_790_000_000n, 3_740_156_374n],
    ],
    hf: [
      [242n, 4_760_000_000n, 236n],
      [400n, 4_290_000_000n, 151n],
      [742n, 12_690_000_000n, 501n],
    ],
  });
  // One market takes 2,533,810,397.
  expect(input).toBeLessThan(1_500_000_000n);
});

test("where all markets of a division are at their limits, it is made without one of them", () => {
  const input = inputFor(1_830_986_058n, {
    ab: [
      [6_700_000_000n, 4_480_000_000n, 5_686_756_953n],
      [7_100_000_000n, 6_360_000_000n, 1_268_952_437n],
      [3_260_000_000n, 2_130_000_000n, 2_693_187_541n],
    ],
    ah: [
      [1_700_000_000n, 118n, 502_523_092n],
      [1_080_000_000n, 76n, 705_751_716n],
    ],
    hb: [
      [894n, 8_860_000_000n, 431n],
      [334n, 5_470_000_000n, 280n],
    ],
    af: [[2_560_000_000n, 3_860_000_000n, 150_144_301n]],
    fb: [
      [6_900_000_000n, 5_190_000_000n, 3_248_961_565n],
      [7_080_000_000n, 4_840_000_000n, 5_620_031_138n],
    ],
    hf: [
      [600n, 3_870_000_000n, 53n],
      [730n, 11_700_000_000n, 335n],
    ],
  });
  // One market takes 4,631,008,692.
  expect(input).toBeLessThan(3_000_000_000n);
});
