import { expect, test } from "vitest";
import { hasSameContent, KeptAccount } from "./account-content.ts";
import { SYSTEM_PROGRAM } from "./programs.ts";

const kept = (data: Uint8Array) =>
  KeptAccount.of({ address: SYSTEM_PROGRAM, owner: SYSTEM_PROGRAM, lamports: 1n, executable: false, slot: 1n }, data);

test("accounts without data, as wallets are, share one array of bytes", () => {
  const [one, other] = [kept(new Uint8Array(0)), kept(new Uint8Array(0))];
  expect(one.data).toHaveLength(0);
  expect(one.data).toBe(other.data);
});

test("an account with data has bytes of its own", () => {
  const source = Uint8Array.of(0, 127, 128, 255);
  const [one, other] = [kept(source), kept(source)];
  source.fill(1);
  expect([...one.data]).toEqual([0, 127, 128, 255]);
  expect(one.data).toBe(one.data);
  expect(one.data).not.toBe(other.data);
});

test("accounts are compared by their data, whether or not it was used as bytes", () => {
  for (const [isOneUsed, isOtherUsed] of [
    [false, false],
    [true, false],
    [false, true],
    [true, true],
  ]) {
    for (const last of [255, 254]) {
      const [one, other] = [kept(Uint8Array.of(128, 255)), kept(Uint8Array.of(128, last))];
      if (isOneUsed) expect(one.data).toHaveLength(2);
      if (isOtherUsed) expect(other.data).toHaveLength(2);
      expect(hasSameContent(one, other)).toBe(last === 255);
      expect(KeptAccount.sizeOf(one)).toBe(2);
    }
  }
});
