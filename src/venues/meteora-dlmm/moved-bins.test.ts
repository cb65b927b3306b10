import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { hex, writeU64 } from "../../primitives/bytes.ts";
import { createRandom } from "../../primitives/random.ts";
import {
  AMOUNT_X,
  AMOUNT_Y,
  BIN_SIZE,
  BINS_PER_ARRAY,
  type BinArray,
  decodeBinArray,
  FIRST_BIN_OFFSET,
} from "./bin-array.ts";
import { DLMM_PROGRAM, type DlmmPair } from "./layout.ts";
import { type BinWalk, binPrice, type DlmmFill, dlmmExactIn, dlmmExactOut } from "./math.ts";
import { movedBinUnits } from "./moved-bins.ts";
import type { DlmmState } from "./state.ts";

const BIN_STEP = 20;
const INDICES = [-1, 0];
const address = Address.from(new Uint8Array(32).fill(3));
/** Without fees. */
const FREE = {
  ...{ activeId: 0, baseFee: 0n, variableFeeControl: 0n, rewards: 0, limitOrders: false, feesInY: false },
  ...{ lastUpdate: 0n, filterPeriod: 0, decayPeriod: 0, maxVolatility: 0 },
} as DlmmPair;

/** An array of bins as they are once the price stands in the bin `active`: X above it, Y below it, half of each in it. */
function arrayAt(index: number, active: number, held: ReadonlyMap<number, bigint>): BinArray {
  const data = new Uint8Array(FIRST_BIN_OFFSET + BINS_PER_ARRAY * BIN_SIZE);
  data.set(hex("5c8e5cdc059446b5"));
  writeU64(data, 8, BigInt.asUintN(64, BigInt(index)));
  for (let place = 0; place < BINS_PER_ARRAY; place++) {
    const id = index * BINS_PER_ARRAY + place;
    const value = (held.get(id) ?? 0n) / (id === active ? 2n : 1n);
    const at = FIRST_BIN_OFFSET + place * BIN_SIZE;
    if (id >= active) writeU64(data, at + AMOUNT_X, (value << 64n) / binPrice(id, BIN_STEP));
    if (id <= active) writeU64(data, at + AMOUNT_Y, value);
  }
  return decodeBinArray({ address, owner: DLMM_PROGRAM, lamports: 1n, data } as Parameters<typeof decodeBinArray>[0])!;
}

test("no trade that lands in another bin within its slippage reaches more bins than there is room for", () => {
  const random = createRandom(8_600_031);
  let [landed, further] = [0, 0];
  for (let pool = 0; pool < 15; pool++) {
    const held = new Map<number, bigint>();
    for (let id = -60; id <= 60; id++) if (random.chance(0.8)) held.set(id, random.magnitude(10n ** 11n) + 10n ** 6n);
    const arraysAt = (active: number) => INDICES.map((index) => arrayAt(index, active, held));
    const arrays = arraysAt(0);
    const state = {
      market: { binStep: BIN_STEP },
      pair: FREE,
      down: { arrays: [arrays[1], arrays[0]] },
      up: { arrays: [arrays[1]] },
    };
    for (let trade = 0; trade < 30; trade++) {
      const [xToY, exactIn] = [random.chance(0.5), random.chance(0.5)];
      const amount = random.magnitude(10n ** 11n) + 10n ** 5n;
      const fillAt = (active: number): DlmmFill | undefined => {
        const [low, high] = active === 0 ? arrays : arraysAt(active);
        const ordered = active < 0 ? (xToY ? [low!] : [low!, high!]) : xToY ? [high!, low!] : [high!];
        const walk: BinWalk = {
          pair: { ...FREE, activeId: active },
          binStep: BIN_STEP,
          xToY,
          arrays: ordered,
          now: 0n,
        };
        const fill = exactIn ? dlmmExactIn(walk, amount) : dlmmExactOut(walk, amount);
        return typeof fill === "string" ? undefined : fill;
      };
      const quoted = fillAt(0);
      if (quoted === undefined) continue;
      const percent = random.pick([1n, 2n]);
      const { input: inAmount, output: outAmount } = quoted;
      const threshold = exactIn ? (outAmount * (100n - percent)) / 100n : (inAmount * 100n) / (100n - percent);
      const signed = {
        xToY,
        mode: exactIn ? ("exactIn" as const) : ("exactOut" as const),
        inAmount,
        outAmount,
        threshold,
      };
      const room = movedBinUnits(state as unknown as DlmmState, signed, quoted, { each: 1, empty: 0 });
      for (let active = -5 * Number(percent); active <= 5 * Number(percent); active++) {
        const fill = fillAt(active);
        if (fill === undefined || (exactIn ? fill.output < threshold : fill.input > threshold)) continue;
        landed++;
        if (fill.bins > quoted.bins) further++;
        expect([pool, trade, active, Math.max(fill.bins, quoted.bins + room)]).toEqual([
          ...[pool, trade, active],
          quoted.bins + room,
        ]);
      }
    }
  }
  expect(landed).toBeGreaterThan(1_000);
  expect(further).toBeGreaterThan(200);
});
