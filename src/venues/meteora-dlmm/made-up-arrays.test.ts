import { expect, test } from "vitest";
import { readSampleMarkets } from "../../../test/support/sample-markets.ts";
import type { Address } from "../../primitives/address.ts";
import { readDlmm } from "./state.ts";

const sample = readSampleMarkets().markets.find(({ venue }) => venue.id === "meteora_dlmm")!;

/** Where an array keeps its index, a signed 64-bit integer. */
const INDEX = 8;

test("an array that names another place than its own address is missing", () => {
  const read = (have: { get(one: Address): unknown }) => readDlmm(sample.hot.market as never, have as never);
  const { down, up } = read(sample.accounts);
  const made = [...down.arrays, ...up.arrays];
  expect(made.length).toBeGreaterThan(1);
  for (const { address, index } of made) {
    for (const named of [-(1n << 62n), BigInt(index) + 1n, 1n << 62n]) {
      const account = sample.accounts.get(address)!;
      const data = account.data.slice();
      new DataView(data.buffer).setBigInt64(INDEX, named, true);
      const have = {
        get: (one: Address) => (one === address ? { ...account, data } : (sample.accounts.get(one) ?? null)),
      };
      const state = read(have);
      for (const [side, before] of [
        [state.down, down],
        [state.up, up],
      ] as const) {
        const at = before.arrays.findIndex((array) => array.address === address);
        expect(side.arrays.map((array) => array.address)).toEqual(
          before.arrays.slice(0, at < 0 ? before.arrays.length : at).map((array) => array.address),
        );
      }
    }
  }
});
