import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { SOL_MINT, USDC_MINT } from "../../solana/programs.ts";
import { subjectsOf } from "./search-subject.ts";

const TOKEN = Address.from(new Uint8Array(32).fill(7));
const HUB = Address.from(new Uint8Array(32).fill(8));

test.each([
  ["none", []],
  ["SOL alone", [SOL_MINT]],
  ["another", [HUB]],
])("nothing searches for all that trades against SOL or USDC, with %s as hub", (_, hubMints) => {
  const keysOf = (a: Address, b: Address) => subjectsOf({ a, b }, hubMints).map(({ mint }) => mint);
  expect(keysOf(SOL_MINT, TOKEN)).toEqual([TOKEN]);
  expect(keysOf(TOKEN, USDC_MINT)).toEqual([TOKEN]);
  expect(keysOf(USDC_MINT, SOL_MINT)).toEqual([undefined]);
});
