import { expect, test } from "vitest";
import { readSampleMarkets, type SampleMarket } from "../../../test/support/sample-markets.ts";
import { writeU64 } from "../../primitives/bytes.ts";
import { createRandom } from "../../primitives/random.ts";
import { findSandwich, replay, type Victim } from "../../trade/quote/worst-case/sandwich.ts";
import { Q64_ONE } from "../curves/q64-power.ts";
import type { Ask } from "../venue.ts";
import {
  AMOUNT_X,
  AMOUNT_Y,
  ASK_SIDE,
  arrayIndexOf,
  BIN_PRICE,
  BIN_SIZE,
  BINS_PER_ARRAY,
  type BinArray,
  decodeBinArray,
  FIRST_BIN_OFFSET,
  OPEN_ORDERS,
  PROCESSED_ORDERS,
} from "./bin-array.ts";
import type { DlmmState, Side } from "./state.ts";
import { meteoraDlmm } from "./venue.ts";

const random = createRandom(60_013);
const { clock, markets } = readSampleMarkets();
const sample = markets.find(({ venue }) => venue.id === "meteora_dlmm")!;
/** One Y buys some 468 X: what a few Y buy hardly changes how the rest of an output rounds. */
const priceOf = (id: number, activeId: number) => ((id > activeId ? 1_001n : 1_000n) * Q64_ONE) / 468_370n;
const MAKERS = 10n ** 9n;
const ORDERS = 10n ** 10n;
/** Sizes of purchases held against the one that is stated. */
const MOST = (2n * MAKERS) / 468n;
const STEP = MOST / 64n;
/** So many failures in a row end the search for the largest purchase. Smaller purchases buy nothing. */
const FIRST_SIZES = [4n, 8n, 16n, 32n, 64n, 128n];

/** The sample as a pair with limit orders: market makers in the active bin and in the one above it, which holds orders too. */
function withOrders({ hot, accounts }: SampleMarket): DlmmState {
  const state = hot.state as DlmmState;
  const { activeId } = state.pair;
  const filled = (array: BinArray): BinArray => {
    const account = accounts.get(array.address)!;
    const data = account.data.slice();
    for (let slot = 0; slot < BINS_PER_ARRAY; slot++) {
      const id = array.index * BINS_PER_ARRAY + slot;
      const at = FIRST_BIN_OFFSET + slot * BIN_SIZE;
      writeU64(data, at + BIN_PRICE, priceOf(id, activeId));
      writeU64(data, at + BIN_PRICE + 8, 0n);
      writeU64(data, at + AMOUNT_X, id === activeId || id === activeId + 1 ? MAKERS : 0n);
      writeU64(data, at + AMOUNT_Y, id <= activeId ? MAKERS : 0n);
      writeU64(data, at + PROCESSED_ORDERS, 0n);
      writeU64(data, at + OPEN_ORDERS, id === activeId + 1 ? ORDERS : 0n);
      data[at + ASK_SIDE] = id === activeId + 1 ? 1 : 0;
    }
    return decodeBinArray({ ...account, data })!;
  };
  const all = new Map([...state.down.arrays, ...state.up.arrays].map((array) => [array.index, filled(array)]));
  const side = ({ arrays, addresses }: Side): Side => ({
    arrays: arrays.map(({ index }) => all.get(index)!),
    addresses,
  });
  expect(state.up.arrays[0]?.index).toBe(arrayIndexOf(activeId));
  expect(arrayIndexOf(activeId + 1)).toBe(arrayIndexOf(activeId));
  const pair = { ...state.pair, limitOrders: true, variableFeeControl: 0n, baseFee: 100_000n };
  return { ...state, pair, reserves: [1n << 60n, 1n << 60n], down: side(state.down), up: side(state.up) };
}

test("trading around an exact output is stated although small purchases before it make it round a unit short", () => {
  const state = withOrders(sample);
  const [outMint, inMint] = sample.hot.market.mints;
  const exactIn = (from: typeof inMint, to: typeof inMint, amount: bigint): Ask => {
    return { mode: "exactIn", inMint: from, outMint: to, amount, clock };
  };
  let met = 0;
  for (let trade = 0; trade < 4_000 && met < 5; trade++) {
    const ask: Ask = { mode: "exactOut", inMint, outMint, amount: MAKERS * 2n + random.below(ORDERS / 2n), clock };
    const wanted = () => meteoraDlmm.quote(state, ask);
    if (isUneven(wanted)) continue;
    const signed = wanted();
    const after = (size: bigint) =>
      meteoraDlmm.traded!(state, meteoraDlmm.quote(state, exactIn(inMint, outMint, size)), clock);
    if (!FIRST_SIZES.every((size) => isUneven(() => meteoraDlmm.quote(after(size)!, ask)))) continue;
    met++;
    const bound = (signed.inAmount * 102n) / 100n;
    const hot = { ...sample.hot, state };
    const victim: Victim = {
      hot,
      state,
      inMint,
      outMint,
      signed,
      ask: { mode: "exactOut", amount: ask.amount, bound },
      clock,
    };
    const found = resultOf(victim);
    expect(found?.kind).toBe("profitable");
    const taken = found?.kind === "profitable" ? found.taken : 0n;
    for (let size = STEP; size < MOST; size += STEP) {
      const bought = meteoraDlmm.quote(state, exactIn(inMint, outMint, size));
      const { made, left } = replay(hot, meteoraDlmm.traded!(state, bought, clock), signed, ask, bound);
      expect(made.inAmount).toBeLessThanOrEqual(bound);
      const sold = meteoraDlmm.quote(left() as DlmmState, exactIn(outMint, inMint, bought.outAmount));
      expect(sold.outAmount - size).toBeLessThanOrEqual(taken + taken / 100_000n + 16n);
    }
  }
  expect(met).toBe(5);
});

function isUneven(quote: () => unknown): boolean {
  try {
    quote();
    return false;
  } catch (error) {
    return String(error).includes("one unit short");
  }
}

function resultOf(victim: Victim) {
  const steps = findSandwich(victim);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
