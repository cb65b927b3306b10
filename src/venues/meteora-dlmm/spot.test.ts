import { expect, test } from "vitest";
import { readSampleMarkets, type SampleMarket } from "../../../test/support/sample-markets.ts";
import type { Address } from "../../primitives/address.ts";
import { writeU64 } from "../../primitives/bytes.ts";
import { createRandom } from "../../primitives/random.ts";
import type { Account } from "../../solana/account.ts";
import { LINE_SIZE, mostOut, type SpotBound, spotBoundOf, writeLine } from "../spot-bound.ts";
import {
  AMOUNT_X,
  AMOUNT_Y,
  arrayIndexOf,
  BIN_SIZE,
  BINS_PER_ARRAY,
  FIRST_BIN_OFFSET,
  OPEN_ORDERS,
  PROCESSED_ORDERS,
} from "./bin-array.ts";
import { binArrayOf } from "./layout.ts";
import type { DlmmState } from "./state.ts";

const random = createRandom(1_767);
const { clock, markets } = readSampleMarkets();
const samples = markets
  .filter(({ venue }) => venue.id === "meteora_dlmm")
  .map((sample) => [sample.name, sample] as const);
const line = new Float64Array(LINE_SIZE);

/** What an input of either mint gives by the bound, and what it gives. Undefined if it is refused. */
function compared({ venue, hot }: SampleMarket, state: unknown, bound: SpotBound, side: 0 | 1, amount: bigint) {
  const [inMint, outMint] = side === 0 ? hot.market.mints : [hot.market.mints[1], hot.market.mints[0]];
  writeLine(line, 0, side === 0 ? bound.from0 : bound.from1, bound.rounding);
  try {
    const { outAmount } = venue.quote(state, { mode: "exactIn", inMint, outMint, amount, clock });
    return { most: mostOut(line, 0, Number(amount)), out: Number(outAmount) };
  } catch {
    return undefined;
  }
}

/** The sample with other amounts in the bins around the active one. */
function redrawn({ hot, accounts }: SampleMarket) {
  const { market, pair } = hot.state as DlmmState;
  const changed = new Map<Address, Account>();
  for (let id = pair.activeId - 2; id <= pair.activeId + 2; id++) {
    const { address } = binArrayOf(market.address, arrayIndexOf(id));
    const account = changed.get(address) ?? accounts.get(address);
    if (account === undefined || account === null) continue;
    const data = account.data.slice();
    const at = FIRST_BIN_OFFSET + (id - arrayIndexOf(id) * BINS_PER_ARRAY) * BIN_SIZE;
    for (const place of [AMOUNT_X, AMOUNT_Y, OPEN_ORDERS, PROCESSED_ORDERS])
      writeU64(data, at + place, random.chance(0.3) ? 0n : random.magnitude(10n ** 11n));
    changed.set(address, { ...account, data });
  }
  return { get: (address: Address) => changed.get(address) ?? accounts.get(address) };
}

test.each(samples)("%s: whatever the bins hold, no trade beats the bound, read or followed", (_, sample) => {
  const { venue, hot } = sample;
  let made = 0;
  for (let round = 0; round < 40; round++) {
    const have = redrawn(sample);
    const state = venue.read(hot.market, have);
    const bounds = [spotBoundOf(venue, state, have), spotBoundOf(venue, hot.state, have)];
    expect(bounds[1]).toEqual(bounds[0]);
    for (let ask = 0; ask < 8; ask++) {
      const trade = compared(sample, state, bounds[0]!, random.chance(0.5) ? 0 : 1, random.magnitude(10n ** 12n) + 1n);
      if (trade === undefined) continue;
      made++;
      expect(trade.most).toBeGreaterThanOrEqual(trade.out);
    }
  }
  expect(made).toBeGreaterThan(20);
});

test.each(samples)("%s: the bound of a trade that stays in its bin is the trade, to the unit", (_, sample) => {
  const bound = spotBoundOf(sample.venue, sample.hot.state, sample.accounts)!;
  for (const side of [0, 1] as const) {
    const { reach, kept } = side === 0 ? bound.from0 : bound.from1;
    for (let ask = 0; ask < 20; ask++) {
      const amount = random.between(1_000n, BigInt(Math.floor(reach / kept)));
      const trade = compared(sample, sample.hot.state, bound, side, amount);
      if (trade !== undefined)
        expect(trade.most - trade.out, `${amount}`).toBeLessThanOrEqual(amount > 10n ** 12n ? 2 : 1);
    }
  }
});
