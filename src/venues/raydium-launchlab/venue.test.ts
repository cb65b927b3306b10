import { describe, expect, it } from "vitest";
import { Address } from "../../primitives/address.ts";
import { hex, writeU64 } from "../../primitives/bytes.ts";
import type { Account, AccountView } from "../../solana/account.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, USDC_MINT } from "../../solana/programs.ts";
import { LAUNCHLAB_PROGRAM, launchlabPoolAddresses } from "./layout.ts";
import { raydiumLaunchlab } from "./venue.ts";

const key = (n: number): Address => Address.from(new Uint8Array(32).fill(n));
const COIN = key(1);
const PAIR = { a: COIN, b: SOL_MINT };
const CLOCK = { slot: 1n, epoch: 7n, unixTimestamp: 1_800_000_000n };

const account = (address: Address, owner: Address, data: Uint8Array): Account => ({
  address,
  owner,
  lamports: 1n,
  data,
  executable: false,
  slot: 1n,
});

/** A pool of curve type 0 halfway, its configurations with three fees, and its mints. */
function chain(changes: { status?: number; transferFeeBps?: number; vaults?: boolean } = {}): Map<Address, Account> {
  const pool = new Uint8Array(429);
  pool.set(hex("f7ede3f5d7c3de46"));
  pool[17] = changes.status ?? 0;
  for (const [at, value] of [
    [29, 700n],
    [37, 1_000n],
    [45, 500n],
    [53, 200n],
    [61, 125n],
  ] as const) {
    writeU64(pool, at, value);
  }
  for (const [at, address] of [
    [141, key(2)],
    [173, key(3)],
    [205, COIN],
    [237, SOL_MINT],
    [269, key(4)],
    [301, key(5)],
    [333, key(6)],
  ] as const) {
    pool.set(address.bytes, at);
  }
  const config = new Uint8Array(371);
  config.set(hex("95089ccaa0fcb0d9"));
  writeU64(config, 27, 2_500n);
  const platform = new Uint8Array(944);
  platform.set(hex("a04e8000f853e6a0"));
  writeU64(platform, 104, 6_500n);
  writeU64(platform, 720, 1_000n);
  const accounts = [
    account(poolAddress, LAUNCHLAB_PROGRAM, pool),
    account(key(2), LAUNCHLAB_PROGRAM, config),
    account(key(3), LAUNCHLAB_PROGRAM, platform),
    account(SOL_MINT, TOKEN_PROGRAM, mint()),
    account(
      COIN,
      changes.transferFeeBps === undefined ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM,
      mint(changes.transferFeeBps),
    ),
    account(key(4), TOKEN_PROGRAM, tokens(COIN, 1_000n)),
    account(key(5), TOKEN_PROGRAM, tokens(SOL_MINT, 1_000n)),
  ];
  return new Map(accounts.map((entry) => [entry.address, entry]));
}

function tokens(held: Address, amount: bigint): Uint8Array {
  const data = new Uint8Array(165);
  data.set(held.bytes);
  writeU64(data, 64, amount);
  data[108] = 1;
  return data;
}

function mint(transferFeeBps?: number): Uint8Array {
  const data = new Uint8Array(transferFeeBps === undefined ? 82 : 278);
  data[45] = 1;
  if (transferFeeBps !== undefined) {
    data[165] = 1;
    data[166] = 1;
    data[168] = 108;
    for (const at of [242, 260]) {
      writeU64(data, at + 8, 1_000_000n);
      new DataView(data.buffer).setUint16(at + 16, transferFeeBps, true);
    }
  }
  return data;
}

const [poolAddress] = launchlabPoolAddresses(PAIR) as [Address];

function open(accounts: ReadonlyMap<Address, Account>) {
  const view: AccountView = { get: (address) => accounts.get(address) ?? null };
  const market = raydiumLaunchlab.decode(accounts.get(poolAddress)!, PAIR)!;
  return { market, state: raydiumLaunchlab.read(market, view) };
}

const ask = (mode: "exactIn" | "exactOut", inMint: Address, outMint: Address, amount: bigint) =>
  ({ mode, inMint, outMint, amount, clock: CLOCK }) as const;

describe("raydiumLaunchlab", () => {
  it("finds the pool with either mint as the coin, and derives none whose coin would be SOL or USDC", () => {
    expect(launchlabPoolAddresses(PAIR)).toEqual([poolAddress]);
    expect(launchlabPoolAddresses({ a: SOL_MINT, b: COIN })).toEqual([poolAddress]);
    expect(launchlabPoolAddresses({ a: COIN, b: key(77) })).toHaveLength(2);
    expect(launchlabPoolAddresses({ a: SOL_MINT, b: USDC_MINT })).toEqual([]);
  });

  it("adds the fees of protocol, platform and creator", () => {
    const { state } = open(chain());
    expect(state.curve.feeRate).toBe(10_000n);
    expect(raydiumLaunchlab.quote(state, ask("exactIn", SOL_MINT, COIN, 100n))).toMatchObject({
      inAmount: 100n,
      outAmount: 109n,
    });
    expect(raydiumLaunchlab.quote(state, ask("exactOut", COIN, SOL_MINT, 68n)).inAmount).toBe(100n);
  });

  it("refuses fees that are more than a trade, whose curve would give everything for nothing", () => {
    const withProtocolFee = (rate: bigint) => {
      const accounts = chain();
      writeU64(accounts.get(key(2))!.data, 27, rate);
      return () => raydiumLaunchlab.quote(open(accounts).state, ask("exactIn", SOL_MINT, COIN, 100n));
    };
    expect(withProtocolFee(992_500n)).toThrow("trades for nothing");
    expect(withProtocolFee(992_501n)).toThrow("are more than a trade");
    expect(withProtocolFee(1n << 60n)).toThrow("are more than a trade");
  });

  it("refuses a curve without reserves, whose formula would divide by zero", () => {
    const withPool = (fields: readonly (readonly [at: number, value: bigint])[]) => {
      const accounts = chain();
      for (const [at, value] of fields) writeU64(accounts.get(poolAddress)!.data, at, value);
      return (mode: "exactIn" | "exactOut", inMint: Address, outMint: Address, amount: bigint) => () =>
        raydiumLaunchlab.quote(open(accounts).state, ask(mode, inMint, outMint, amount));
    };
    // The fee takes the whole unit, and no quote token is there to divide by.
    const withoutQuote = withPool([
      [45, 0n],
      [61, 0n],
    ]);
    expect(withoutQuote("exactIn", SOL_MINT, COIN, 1n)).toThrow("has no price");
    // More is sold than there ever was, by just what comes in.
    expect(withPool([[53, 1_010n]])("exactIn", COIN, SOL_MINT, 10n)).toThrow("has no price");
    expect(withPool([[53, 1_000n]])("exactIn", SOL_MINT, COIN, 10n)).toThrow("has no price");
  });

  it("counts the coin's own transfer fee on the wallet's side", () => {
    const { state } = open(chain({ transferFeeBps: 100 }));
    // 109 leave the pool, ceil(1.09) = 2 are withheld.
    expect(raydiumLaunchlab.quote(state, ask("exactIn", SOL_MINT, COIN, 100n)).outAmount).toBe(107n);
    // 101 leave the wallet, 2 are withheld, 99 reach the pool: 625 · 99 / 899 = 68.8, fee 1.
    expect(raydiumLaunchlab.quote(state, ask("exactIn", COIN, SOL_MINT, 101n)).outAmount).toBe(67n);
  });

  it("names eighteen accounts, and creates only missing fee vaults", () => {
    const accounts = chain();
    const { market, state } = open(accounts);
    const quote = raydiumLaunchlab.quote(state, ask("exactIn", SOL_MINT, COIN, 100n));
    const terms = {
      wallet: key(9),
      source: key(10),
      destination: key(11),
      threshold: 109n,
      salt: 0,
      exists: () => false,
    };
    const leg = raydiumLaunchlab.swap(state, quote, terms);
    const [instruction] = leg.instructions;
    expect(instruction!.accounts).toHaveLength(18);
    expect(instruction!.accounts[5]!.address).toBe(key(11));
    expect(instruction!.accounts[6]!.address).toBe(key(10));
    expect(Buffer.from(instruction!.data).toString("hex")).toBe(
      "faea0d7bd59c13ec64000000000000006d000000000000000000000000000000",
    );
    expect(leg.creates.map(({ address }) => address)).toEqual([market.platformFeeVault, market.creatorFeeVault]);
    accounts.set(market.platformFeeVault, account(market.platformFeeVault, TOKEN_PROGRAM, new Uint8Array(165)));
    expect(open(accounts).state.creates.map(({ address }) => address)).toEqual([market.creatorFeeVault]);
  });

  it("distinguishes a pool that waits to migrate from a migrated one", () => {
    const quoteAt = (status: number) => () =>
      raydiumLaunchlab.quote(open(chain({ status })).state, ask("exactIn", SOL_MINT, COIN, 100n));
    expect(quoteAt(1)).toThrow("waits to migrate");
    expect(quoteAt(2)).toThrow("has migrated");
  });

  it("passes nothing of an exact purchase on: others may leave less by the time it runs, and the program cuts it down", () => {
    const { state } = open(chain());
    const passed = (mode: "exactIn" | "exactOut", inMint: Address, outMint: Address) => {
      const quote = raydiumLaunchlab.quote(state, ask(mode, inMint, outMint, 50n));
      return raydiumLaunchlab.leastArriving!(quote, 40n);
    };
    expect(passed("exactOut", SOL_MINT, COIN)).toBe(0n);
    expect(passed("exactIn", SOL_MINT, COIN)).toBe(40n);
    expect(passed("exactOut", COIN, SOL_MINT)).toBe(40n);
  });

  it("refuses more than is left, and amounts that round to nothing", () => {
    const { state } = open(chain());
    expect(() => raydiumLaunchlab.quote(state, ask("exactOut", SOL_MINT, COIN, 501n))).toThrow("left for sale");
    expect(() => raydiumLaunchlab.quote(state, ask("exactIn", COIN, SOL_MINT, 201n))).toThrow("raised less");
    expect(() => raydiumLaunchlab.quote(state, ask("exactIn", SOL_MINT, COIN, 1n))).toThrow("too small");
  });
});
