import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { buybackRecipientOf, feeRecipientOf } from "./pump-recipients.ts";

const recipient = (number: number) => ({ wallet: { address: Address.from(new Uint8Array(32).fill(number)) } });
const listed = (...numbers: readonly number[]) => numbers.map(recipient);
const numberOf = ({ wallet }: ReturnType<typeof recipient>): number => wallet.address.bytes[0]!;

const COMMON = [1, 2, 3, 4, 5];
const TRADER = recipient(99).wallet.address;
const SALTS = Array.from({ length: 1 << 14 }, (_, salt) => salt);

test("both of Pump's programs are paid at the same recipient, of all that both know", () => {
  const [curves, pools] = [listed(...COMMON, 6, 7, 8), listed(...COMMON, 16, 17, 18)];
  for (const trader of [TRADER, ...COMMON.map((number) => recipient(number).wallet.address)]) {
    const chosen = SALTS.slice(0, 2_000).map((salt) =>
      [curves, pools].map((list) => numberOf(feeRecipientOf(list, salt, trader))),
    );
    for (const [curve, pool] of chosen) expect(curve).toBe(pool);
    const others = COMMON.filter((number) => recipient(number).wallet.address !== trader);
    expect(new Set(chosen.map(([curve]) => curve))).toEqual(new Set(others));
  }
});

test("a program that lists fewer is paid at one of those", () => {
  const places = [0, 1, 2, 3].map((salt) => numberOf(feeRecipientOf(listed(1, 2), salt, TRADER)));
  expect(places).toEqual([1, 2, 1, 2]);
});

test("a wallet that Pump lists trades with another recipient, unless it is the only one", () => {
  const list = listed(1, 2, 3, 4, 5, 6, 7, 8);
  for (const { wallet } of list) {
    const paid = SALTS.flatMap((salt) => [
      feeRecipientOf(list, salt, wallet.address),
      buybackRecipientOf(list, salt, wallet.address),
    ]);
    expect(paid.filter((chosen) => chosen.wallet.address === wallet.address)).toEqual([]);
  }
  const alone = recipient(1);
  expect(feeRecipientOf([alone], 0, alone.wallet.address)).toBe(alone);
});
