import { expect, test } from "vitest";
import { Address } from "../../../primitives/address.ts";
import type { TradeExpectation } from "../trade-expectation.ts";
import { SWAP_TABLES } from "../venues/swap-tables.ts";
import { SwapAmounts } from "./swap-amounts.ts";

const [SOL, COIN, TOKEN] = [1, 2, 3].map((byte) => Address.from(new Uint8Array(32).fill(byte))) as [
  Address,
  Address,
  Address,
];
const tableOf = (name: string) => SWAP_TABLES.find((table) => table.name === name)!;

/** What is wrong with 70 TOKEN for up to 100 SOL, by way of a purchase of 50 COIN: the faults of the two swaps. */
function faultsOver(first: string, taken = 50n): readonly (readonly string[])[] {
  const legs = [
    { inMint: SOL, outMint: COIN, inAmount: 100n, outAmount: 50n },
    { inMint: COIN, outMint: TOKEN, inAmount: 50n, outAmount: 70n },
  ];
  const trade = { mode: "exactOut", inMint: SOL, outMint: TOKEN, amount: 70n, threshold: 100n, legs };
  const amounts = new SwapAmounts(trade as unknown as TradeExpectation);
  const [bought, sold] = trade.legs as TradeExpectation["legs"] & [never, never];
  return [
    amounts.add(bought!, { mostIn: 100n, leastOut: 50n }, tableOf(first)),
    amounts.add(sold!, { mostIn: taken, leastOut: 70n }, tableOf("swap_base_output")),
  ];
}

test("of a purchase that its program may cut down, another market takes nothing: what is missing would be the wallet's", () => {
  expect(faultsOver("swap_base_output")).toEqual([[], []]);
  expect(faultsOver("sell_exact_out")).toEqual([[], []]);
  expect(faultsOver("buy_exact_out")).toEqual([
    [],
    ["it may take 50 base units, but the previous swaps guarantee only 0"],
  ]);
});

test("a swap of nothing is none, whatever its bound: a program may pass over both", () => {
  const leg = { inMint: COIN, outMint: TOKEN, inAmount: 0n, outAmount: 70n };
  const trade = { mode: "exactIn", inMint: COIN, outMint: TOKEN, amount: 100n, threshold: 70n, legs: [leg] };
  const faultsOf = (name: string, mostIn: bigint, leastOut: bigint) =>
    new SwapAmounts(trade as unknown as TradeExpectation).add(
      trade.legs[0] as TradeExpectation["legs"][number],
      { mostIn, leastOut },
      tableOf(name),
    );
  expect(faultsOf("swap_base_input", 100n, 70n)).toEqual([]);
  expect(faultsOf("swap_base_input", 0n, 70n)).toContain("it swaps nothing");
  expect(faultsOf("swap_base_output", 0n, 70n)).toContain("it swaps nothing");
  expect(faultsOver("swap_base_output", 0n)).toEqual([[], ["it swaps nothing"]]);
});
