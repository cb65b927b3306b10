import { expect, test } from "vitest";
import { readSampleMarkets } from "../../../test/support/sample-markets.ts";
import type { Address } from "../../primitives/address.ts";
import { readU64, writeU64 } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { LINE_SIZE, mostOut, spotBoundOf, writeLine } from "../spot-bound.ts";
import type { DammV1Market } from "./layout.ts";

const { clock, markets } = readSampleMarkets();
const sample = markets.find(({ venue }) => venue.id === "meteora_damm_v1");
/** Where a pool names its curve: 0 is the constant product. */
const CURVE = 874;
/** Where a pool has the numerator of its fee, and the denominator. */
const FEE = 330;
const PARTS = 10_000n;
/** Where a token account has its amount. */
const AMOUNT = 64;

/** The sample as a constant product with another fee, and with less of one token, so that a unit of it is worth many of the other. */
function viewAt(fee: bigint, scarce: 0 | 1) {
  const { hot, accounts } = sample!;
  const market = hot.market as DammV1Market;
  const changed = new Map<Address, Account>();
  const change = (at: Address, write: (data: Uint8Array) => void) => {
    const account = accounts.get(at)!;
    const data = account.data.slice();
    write(data);
    changed.set(at, { ...account, data });
  };
  change(market.address, (data) => {
    writeU64(data, FEE, fee);
    writeU64(data, FEE + 8, PARTS);
    data[CURVE] = 0;
  });
  change(market.shares[scarce], (data) => writeU64(data, AMOUNT, readU64(data, AMOUNT) / 1_000_000n));
  return { get: (at: Address) => changed.get(at) ?? accounts.get(at) };
}

test.each([0n, 25n, 1_500n, 4_999n, 9_000n, 9_999n, 10_000n])("no dust beats the bound at a fee of %d bps", (fee) => {
  const { venue, hot } = sample!;
  const { market } = hot;
  for (const scarce of [0, 1] as const) {
    const have = viewAt(fee, scarce);
    const state = venue.read(market, have);
    const bound = spotBoundOf(venue, state, have);
    if (fee < 5_000n) expect(bound).toBeDefined();
    if (bound === undefined) continue;
    const [inMint, outMint] = scarce === 0 ? market.mints : [market.mints[1], market.mints[0]];
    const line = new Float64Array(LINE_SIZE);
    writeLine(line, 0, scarce === 0 ? bound.from0 : bound.from1, bound.rounding);
    for (let amount = 1n; amount < 200n; amount++) {
      let output: bigint;
      try {
        output = venue.quote(state, { mode: "exactIn", inMint, outMint, amount, clock }).outAmount;
      } catch {
        continue;
      }
      expect(mostOut(line, 0, Number(amount)), `${amount}`).toBeGreaterThanOrEqual(Number(output));
    }
  }
});
