import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { hex, viewOf } from "../../primitives/bytes.ts";
import { decodePumpFeeConfig, PUMP_FEE_PROGRAM } from "./pump-fees.ts";

/** Where the first list of tiers begins, and the bytes of a tier. */
const TIERS_AT = 65;
const TIER_SIZE = 40;

/** A fee configuration of so many bytes with so many tiers in each list. */
function decode(size: number, ...counts: readonly number[]) {
  const data = new Uint8Array(size);
  data.set(hex("8f3492bbdb7b4c9b"));
  let at = TIERS_AT;
  for (const count of counts) {
    viewOf(data).setUint32(at, count, true);
    at += 4 + count * TIER_SIZE;
  }
  const address = Address.from(new Uint8Array(32).fill(7));
  return decodePumpFeeConfig({ address, owner: PUMP_FEE_PROGRAM, lamports: 1n, executable: false, slot: 1n, data });
}

test("lists of tiers may fill an account of any size; what runs past its end is no configuration", () => {
  expect(decode(2_512, 61)?.tiers).toHaveLength(61);
  expect(decode(4_073, 50, 50)?.stableTiers).toHaveLength(50);
  expect(decode(4_097, 50, 50)?.stableTiers).toHaveLength(50);
  expect(decode(2_512, 62)).toBeUndefined();
  expect(decode(4_073, 50, 51)).toBeUndefined();
  expect(decode(4_097, 51, 50)).toBeUndefined();
});
