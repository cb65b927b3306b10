import { describe, expect, it } from "vitest";
import { Address } from "../../primitives/address.ts";
import { writeU64 } from "../../primitives/bytes.ts";
import { U64_MAX } from "../../primitives/integer.ts";
import type { Account } from "../../solana/account.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { AMM_V4_PROGRAM, decodeAmmV4Market, decodeAmmV4Pool } from "./layout.ts";
import { type AmmV4State, raydiumAmmV4 } from "./venue.ts";

const key = (n: number): Address => Address.from(new Uint8Array(32).fill(n));
const mint = (address: Address): Mint => ({
  address,
  program: TOKEN_PROGRAM,
  decimals: 6,
  supply: 0n,
  transferFees: undefined,
  accountSize: 165,
  extensions: 0,
  unsupported: undefined,
});

function pool(status: bigint): Account {
  const data = new Uint8Array(752);
  for (const [at, value] of [
    [0, status],
    [176, 25n],
    [184, 10_000n],
    [192, 3n],
    [200, 4n],
    [224, 1_000n],
  ] as const) {
    writeU64(data, at, value);
  }
  for (const [at, n] of [
    [336, 4],
    [368, 5],
    [400, 2],
    [432, 3],
  ] as const) {
    data.set(key(n).bytes, at);
  }
  return { address: key(1), owner: AMM_V4_PROGRAM, lamports: 1n, data, executable: false, slot: 1n };
}

function state(status: bigint): AmmV4State {
  const account = pool(status);
  const side = { reserveIn: 1_000_000n, reserveOut: 1_000_000n, feeNumerator: 25n, feeDenominator: 10_000n };
  return {
    market: decodeAmmV4Market(account)!,
    pool: decodeAmmV4Pool(account),
    mints: [mint(key(2)), mint(key(3))],
    sides: [side, side],
  };
}

const ask = (unixTimestamp: bigint, amount = 10_000n) =>
  ({
    mode: "exactIn",
    inMint: key(2),
    outMint: key(3),
    amount,
    clock: { slot: 1n, epoch: 1n, unixTimestamp },
  }) as const;

describe("raydiumAmmV4", () => {
  it("reads vaults, mints and owed fees at their offsets", () => {
    expect(state(6n).market).toMatchObject({ vaults: [key(4), key(5)], mints: [key(2), key(3)] });
    expect(state(6n).pool).toMatchObject({ owed: [3n, 4n], opensAt: 0n, feeNumerator: 25n });
  });

  it("trades by status: 1 and 6 always, 7 from its opening on, others never", () => {
    for (const status of [1n, 6n]) expect(raydiumAmmV4.quote(state(status), ask(0n)).outAmount).toBe(9_876n);
    expect(() => raydiumAmmV4.quote(state(7n), ask(999n))).toThrow("opens at 1000");
    expect(raydiumAmmV4.quote(state(7n), ask(1_000n)).outAmount).toBe(9_876n);
    for (const status of [2n, 3n, 4n, 5n]) expect(() => raydiumAmmV4.quote(state(status), ask(0n))).toThrow("paused");
  });

  it("asks for what trades took on the builds of 2024 and 2025: exact outputs of pools whose waiting they end", () => {
    const terms = { wallet: key(9), source: key(10), destination: key(11), threshold: 1n, salt: 0, exists: () => true };
    const unitsOf = (mode: "exactIn" | "exactOut"): number => {
      const quote = raydiumAmmV4.quote(state(7n), { ...ask(1_000n), mode });
      return raydiumAmmV4.swap(state(7n), quote, terms).computeUnits;
    };
    expect(unitsOf("exactIn")).toBeGreaterThanOrEqual(22_326);
    expect(unitsOf("exactOut")).toBeGreaterThanOrEqual(24_573);
  });

  it("refuses dust that builds round differently", () => {
    expect(() => raydiumAmmV4.quote(state(6n), ask(0n, 199n))).toThrow("too small");
  });

  it("refuses an input that overflows the vault", () => {
    const full = (reserveIn: bigint): AmmV4State => {
      const { sides, ...rest } = state(6n);
      return { ...rest, sides: [{ ...sides[0], reserveIn, reserveOut: U64_MAX }, sides[1]] };
    };
    const most = 10_000n;
    expect(raydiumAmmV4.quote(full(U64_MAX - most), { ...ask(0n, most) }).inAmount).toBe(most);
    expect(() => raydiumAmmV4.quote(full(U64_MAX - most + 1n), ask(0n, most))).toThrow("does not hold enough");
  });

  it("rejects pools that are not set up, and accounts of another size", () => {
    expect(decodeAmmV4Market(pool(0n))).toBeUndefined();
    expect(decodeAmmV4Market({ ...pool(6n), data: new Uint8Array(544).fill(1) })).toBeUndefined();
  });
});
