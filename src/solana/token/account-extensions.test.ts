import { expect, test } from "vitest";
import { extendedAccount } from "../../../test/support/extended-account.ts";
import { holdsHidden, isCpiGuarded, takesNoDeposits, wantsMemo } from "./account-extensions.ts";

/** What the account's extensions say, by name. */
function settingsOf(...extensions: readonly (readonly [number, Uint8Array])[]): string[] {
  const account = extendedAccount(...extensions);
  const settings = { isCpiGuarded, takesNoDeposits, wantsMemo, holdsHidden };
  return Object.entries(settings).flatMap(([name, isSo]) => (isSo(account) ? [name] : []));
}

const IMMUTABLE_OWNER = [7, new Uint8Array(0)] as const;
const confidential = (at: number, byte: number): readonly [number, Uint8Array] => {
  const value = new Uint8Array(295);
  value[262] = 1;
  value[at] = byte;
  return [5, value];
};

test("a plain account, and one whose switches are off, has no setting that stops a trade", () => {
  expect(settingsOf()).toEqual([]);
  expect(settingsOf(IMMUTABLE_OWNER, [8, Uint8Array.of(0)], [11, Uint8Array.of(0)])).toEqual([]);
  expect(settingsOf(IMMUTABLE_OWNER, [2, new Uint8Array(8)], confidential(0, 1), [17, new Uint8Array(64)])).toEqual([]);
});

test("each switch is found behind other extensions", () => {
  expect(settingsOf(IMMUTABLE_OWNER, [11, Uint8Array.of(1)])).toEqual(["isCpiGuarded"]);
  expect(settingsOf([2, new Uint8Array(8)], IMMUTABLE_OWNER, [8, Uint8Array.of(1)])).toEqual(["wantsMemo"]);
  expect(settingsOf(IMMUTABLE_OWNER, confidential(262, 0))).toEqual(["takesNoDeposits"]);
});

test("withheld fees and confidential balances keep an account from being closed", () => {
  expect(settingsOf([2, Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 1)])).toEqual(["holdsHidden"]);
  for (const at of [33, 160, 224]) expect(settingsOf(confidential(at, 9))).toEqual(["holdsHidden"]);
  // The key before the balances, and what only the owner can read after them, are no balance.
  for (const at of [32, 225]) expect(settingsOf(confidential(at, 9))).toEqual([]);
  expect(settingsOf([17, new Uint8Array(64).fill(1, 63)])).toEqual(["holdsHidden"]);
});
