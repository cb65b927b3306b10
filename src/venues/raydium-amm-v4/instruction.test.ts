import { describe, expect, it } from "vitest";
import { Address } from "../../primitives/address.ts";
import { ammV4Swap } from "./instruction.ts";
import type { AmmV4Market } from "./layout.ts";

const key = (n: number): Address => Address.from(new Uint8Array(32).fill(n));
const market: AmmV4Market = {
  venue: "raydium_amm_v4",
  address: key(1),
  mints: [key(2), key(3)],
  nativeSol: false,
  vaults: [key(4), key(5)],
};
const terms = { wallet: key(6), source: key(7), destination: key(8), threshold: 0x0102n, salt: 0, exists: () => false };

describe("ammV4Swap", () => {
  it("is tag 16 with the input first, or tag 17 with the maximum input first", () => {
    expect(Buffer.from(ammV4Swap(market, "exactIn", 0x0a0bn, terms).data).toString("hex")).toBe(
      "100b0a0000000000000201000000000000",
    );
    expect(Buffer.from(ammV4Swap(market, "exactOut", 0x0a0bn, terms).data).toString("hex")).toBe(
      "1102010000000000000b0a000000000000",
    );
  });

  it("names eight accounts, the wallet last as signer", () => {
    const { accounts } = ammV4Swap(market, "exactIn", 1n, terms);
    expect(accounts.map(({ address }) => address).slice(3)).toEqual([key(4), key(5), key(7), key(8), key(6)]);
    expect(accounts.map(({ writable }) => writable)).toEqual([false, true, false, true, true, true, true, false]);
    expect(accounts.map(({ signer }) => signer)).toEqual([false, false, false, false, false, false, false, true]);
  });
});
