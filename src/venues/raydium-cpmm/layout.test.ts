import { expect, it } from "vitest";
import { Address } from "../../primitives/address.ts";
import { writeU64 } from "../../primitives/bytes.ts";
import { CPMM_POOL_SIZE, CPMM_PROGRAM, decodeCpmmPool } from "./layout.ts";

/** Where a pool books what its vaults owe, by mint: fees of the protocol, the fund and the creator, and shared creator fees. */
const BOOKED = [
  [341, 357, 397, 413],
  [349, 365, 405, 421],
] as const;

it("takes every kind of fee that a pool books out of the reserves of its mint", () => {
  const data = new Uint8Array(CPMM_POOL_SIZE);
  const digits = [[1n, 20n, 300n, 4_000n] as const, [5n, 60n, 700n, 8_000n] as const];
  for (const [mint, places] of BOOKED.entries())
    for (const [kind, at] of places.entries()) writeU64(data, at, digits[mint]![kind]!);
  const address = Address.from(new Uint8Array(32).fill(7));
  const account = { address, owner: CPMM_PROGRAM, lamports: 0n, data, executable: false, slot: 0n };
  expect(decodeCpmmPool(account).owedFees).toEqual([4_321n, 8_765n]);
});
