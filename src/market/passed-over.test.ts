import { expect, test } from "vitest";
import { Address } from "../primitives/address.ts";
import { PassedOver } from "./passed-over.ts";

test("markets that were not found again when it was time to look at them are forgotten, and not counted as left out", () => {
  const [gone, kept] = [1, 2].map((byte) => Address.from(new Uint8Array(32).fill(byte))) as [Address, Address];
  const passedOver = new PassedOver();
  passedOver.add(gone, "raydium_cpmm", 1_000);
  passedOver.add(kept, "raydium_cpmm", 1_000);
  passedOver.add(kept, "raydium_cpmm", 2_000);
  passedOver.forgetBefore(1_000);
  expect([passedOver.has(gone), passedOver.has(kept)]).toEqual([false, true]);
  expect(passedOver.faults()).toMatchObject([{ venue: "raydium_cpmm", reason: expect.stringMatching(/^1 of its/) }]);
  passedOver.forgetBefore(2_000);
  expect(passedOver.faults()).toEqual([]);
});
