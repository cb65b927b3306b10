import { expect, test } from "vitest";
import { Address } from "../primitives/address.ts";
import { writeU32 } from "../primitives/bytes.ts";
import { UnclosableAccounts } from "./unclosable-accounts.ts";

const HOUR_MS = 3_600_000;

function accountAt(place: number): Address {
  const bytes = new Uint8Array(32);
  writeU32(bytes, 0, place);
  return Address.from(bytes);
}

test("an account that could not be closed stays open for an hour", () => {
  let now = 0;
  const unclosable = new UnclosableAccounts(() => now);
  const [one, other] = [accountAt(1), accountAt(2)];
  unclosable.note(one);
  now = HOUR_MS - 1;
  expect([unclosable.has(one), unclosable.has(other)]).toEqual([true, false]);
  now = HOUR_MS;
  expect(unclosable.has(one)).toBe(false);
});

test("the latest 4,096 are known", () => {
  const unclosable = new UnclosableAccounts(() => 0);
  for (let place = 0; place < 5_000; place++) unclosable.note(accountAt(place));
  unclosable.note(accountAt(4_999));
  const known = Array.from({ length: 5_000 }, (_, place) => unclosable.has(accountAt(place)));
  expect(known.filter(Boolean)).toHaveLength(4_096);
  expect(known.at(-1)).toBe(true);
});
