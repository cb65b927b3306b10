import { describe, expect, it } from "vitest";
import { readSampleMarkets } from "../../../test/support/sample-markets.ts";
import { Address } from "../../primitives/address.ts";
import { writeU64 } from "../../primitives/bytes.ts";
import { U64_MAX } from "../../primitives/integer.ts";
import { createRandom } from "../../primitives/random.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { Ask } from "../venue.ts";
import { raydiumCpmm } from "./venue.ts";

type State = ReturnType<typeof raydiumCpmm.read>;

const random = createRandom(41);
const [POOL, A, B] = [random.bytes(32), random.bytes(32), random.bytes(32)].map((bytes) => Address.from(bytes));
const clock = { slot: 1n, epoch: 5n, unixTimestamp: 100n };

function mint(address: Address, bps = 0n): Mint {
  const fee = { epoch: 0n, maximumFee: U64_MAX, bps };
  const transferFees = bps === 0n ? undefined : { older: fee, newer: fee };
  return {
    address,
    program: TOKEN_PROGRAM,
    decimals: 6,
    supply: 1n,
    transferFees,
    accountSize: 165,
    extensions: 0,
    unsupported: undefined,
  };
}

function pool(reserveIn: bigint, reserveOut: bigint, inBps = 0n): State {
  const side = { reserveIn, reserveOut, tradeFeeRate: 2_500n, creatorFeeRate: 0n, creatorFeeOnInput: true };
  return {
    market: { venue: "raydium_cpmm", address: POOL!, mints: [A!, B!], nativeSol: false },
    pool: { swapDisabled: false, openTime: 100n },
    mints: [mint(A!, inBps), mint(B!)],
    sides: [side, { ...side, reserveIn: reserveOut, reserveOut: reserveIn }],
    computeUnits: 1,
  } as unknown as State;
}

const ask = (mode: Ask["mode"], amount: bigint): Ask => ({ mode, inMint: A!, outMint: B!, amount, clock });
const refusal = (state: State, asked: Ask) => () => raydiumCpmm.quote(state, asked);

describe("raydiumCpmm", () => {
  it("does not quote an exact output whose input is less than half a unit: builds round it differently", () => {
    // One million of these are worth one of those.
    const state = pool(1_000_000n, 1_000_000_000_000n);
    expect(refusal(state, ask("exactOut", 400_000n))).toThrow("too small");
    expect(raydiumCpmm.quote(state, ask("exactOut", 600_000n)).inAmount).toBe(2n);
  });

  it("refuses an input that overflows the vault", () => {
    const state = pool(U64_MAX - 1_000_000n, 1_000_000_000n);
    expect(refusal(state, ask("exactOut", 900_000_000n))).toThrow("does not hold enough");
    const even = pool(U64_MAX - 1_000_000n, 10n ** 18n);
    expect(refusal(even, ask("exactIn", 1_000_001n))).toThrow("does not hold enough");
    expect(raydiumCpmm.quote(even, ask("exactIn", 1_000_000n)).inAmount).toBe(1_000_000n);
    // What the transfer takes of it never reaches the vault.
    const taxed = pool(U64_MAX - 1_000_000n, 10n ** 18n, 5_000n);
    expect(raydiumCpmm.quote(taxed, ask("exactIn", 2_000_000n)).inAmount).toBe(2_000_000n);
    expect(refusal(pool(1_000_000n, 1_000_000_000n), ask("exactOut", 1_000_000_000n))).toThrow("does not hold enough");
  });

  it("subtracts a transfer fee from the input, and adds it to a requested output", () => {
    const state = pool(1_000_000_000n, 1_000_000_000n, 100n);
    const free = pool(1_000_000_000n, 1_000_000_000n);
    const sold = raydiumCpmm.quote(state, ask("exactIn", 10_000n));
    expect(sold.outAmount).toBe(raydiumCpmm.quote(free, ask("exactIn", 9_900n)).outAmount);
    expect(sold.inAmount).toBe(10_000n);
    const bought = raydiumCpmm.quote(state, ask("exactOut", 10_000n)).inAmount;
    const reached = raydiumCpmm.quote(free, ask("exactOut", 10_000n)).inAmount;
    expect(bought - (bought * 100n + 9_999n) / 10_000n).toBe(reached);
  });

  it("opens at its time, not before", () => {
    const early = { ...ask("exactIn", 10_000n), clock: { ...clock, unixTimestamp: 99n } };
    expect(refusal(pool(1_000_000n, 1_000_000n), early)).toThrow("opens at 100");
    expect(raydiumCpmm.quote(pool(1_000_000n, 1_000_000n), ask("exactIn", 10_000n)).outAmount).toBe(9_876n);
  });

  /** Large reserves, an exact output of mint 1, and 15 seconds since the pool's last observation: the most that was found. */
  it("bounds what a swap took on the builds of autumn 2024 when it records an observation", () => {
    const { state } = readSampleMarkets().markets.find(({ venue }) => venue.id === "raydium_cpmm")!.hot;
    const { mints, computeUnits } = state as State;
    expect(mints.map(({ program }) => program)).toEqual([TOKEN_PROGRAM, TOKEN_PROGRAM]);
    expect(computeUnits).toBeGreaterThanOrEqual(36_748);
    expect(computeUnits).toBeLessThan(1.01 * 36_748);
  });

  it("refuses fees that are more than a trade, whose curve would give everything for nothing", () => {
    const { hot, accounts } = readSampleMarkets().markets.find(({ venue }) => venue.id === "raydium_cpmm")!;
    const { config } = hot.market as unknown as { readonly config: Address };
    const read = (rate: bigint) => {
      const own = accounts.get(config)!;
      const data = own.data.slice();
      writeU64(data, 12, rate);
      return raydiumCpmm.read(hot.market as never, {
        get: (address) => (address === config ? { ...own, data } : accounts.get(address)),
      });
    };
    expect(read(900_000n).sides[0].tradeFeeRate).toBe(900_000n);
    expect(() => read(1_000_001n)).toThrow("are more than a trade");
  });
});
