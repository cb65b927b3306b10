import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { hex, writeU64 } from "../../primitives/bytes.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { TradeExpectation } from "../verify/trade-expectation.ts";
import type { NodeAccount } from "./node-accounts.ts";
import { changeProblems, walletChanges } from "./wallet-changes.ts";

const address = (byte: number) => Address.from(new Uint8Array(32).fill(byte));
const wallet = address(1);
const mint = address(2);
const program = address(3);
const EMPTY_RENT = 890_880n;
const PUMP_PROGRAM = Address.of("6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P");
const SOLD = 1_000_000n;

/** A buy with SOL over this many pump_swap pools. */
function buyOver(pools: number): TradeExpectation {
  const legs = Array.from({ length: pools }, (_, index) => ({
    venue: "pump_swap",
    market: address(10 + index),
    inMint: SOL_MINT,
    outMint: mint,
    inAmount: SOLD / BigInt(pools),
    outAmount: 0n,
  }));
  return {
    wallet,
    inMint: SOL_MINT,
    outMint: mint,
    mode: "exactIn",
    amount: SOLD,
    threshold: 0n,
    legs,
    platform: "",
    slippagePpb: 0n,
    maxPriorityLamports: 0n,
    tipLamports: 0n,
    tipAccounts: new Set(),
    closesSource: false,
  };
}

const rentOf = (bytes: number) => (EMPTY_RENT * BigInt(128 + bytes)) / 128n;
const account = (owner: Address, bytes: number, lamports = rentOf(bytes)): NodeAccount => ({
  owner,
  lamports,
  data: new Uint8Array(bytes),
});

/** Problems of a transaction that pays what was sold and `rent`, announced as such or not, and leaves these accounts. */
function problemsOf(
  expected: TradeExpectation,
  rent: bigint,
  before: readonly (NodeAccount | undefined)[],
  after: readonly NodeAccount[],
  announced = rent,
) {
  const others = after.map((_, index) => address(100 + index));
  const changes = walletChanges(
    wallet,
    [wallet, ...others],
    new Map([[wallet, account(SYSTEM_PROGRAM, 0, 10n ** 9n)], ...others.map((one, at) => [one, before[at]] as const)]),
    new Map([
      [wallet, account(SYSTEM_PROGRAM, 0, 10n ** 9n - SOLD - rent)],
      ...others.map((one, at) => [one, after[at]] as const),
    ]),
    EMPTY_RENT,
  );
  return changeProblems(changes, expected, { fee: 0n, tip: 0n }, announced).map(({ reason }) => reason);
}

test("records on four markets are paid for, as announced; more than the markets may need is refused", () => {
  const records = Array.from({ length: 12 }, () => account(program, 200));
  const rent = 12n * rentOf(200);
  expect(rent).toBeGreaterThan(25_000_000n);
  expect(problemsOf(buyOver(4), rent, [], records)).toEqual([]);
  expect(problemsOf(buyOver(4), rent, [], records, rent - 1n).join()).toContain("did not announce");
  expect(problemsOf(buyOver(3), rent, [], records).join()).toContain("rent for accounts of others");
});

test("a record made at an address that somebody had sent lamports to costs the rest of its rent", () => {
  const gift = account(SYSTEM_PROGRAM, 0, EMPTY_RENT);
  const record = account(program, 137);
  const rent = rentOf(137) - EMPTY_RENT;
  expect(problemsOf(buyOver(1), rent, [gift], [record])).toEqual([]);
  expect(problemsOf(buyOver(1), rent, [gift], [record], rent - 1n).join()).toContain("did not announce");
  // More than its rent was there already: nothing is paid, and what it receives is the trade's.
  const rich = account(SYSTEM_PROGRAM, 0, rentOf(137) + 5n);
  expect(problemsOf(buyOver(1), 0n, [rich], [{ ...record, lamports: rich.lamports }])).toEqual([]);
});

test("rent of a new token account of the wallet is paid for, as announced, less what its address held", () => {
  const opened = { ...account(TOKEN_PROGRAM, 165), data: new Uint8Array(165) };
  opened.data.set(mint.bytes, 0);
  opened.data.set(wallet.bytes, 32);
  opened.data[108] = 1;
  const rent = rentOf(165);
  const gift = account(SYSTEM_PROGRAM, 0, 1_000_000n);
  expect(problemsOf(buyOver(1), rent, [], [opened])).toEqual([]);
  expect(problemsOf(buyOver(1), rent, [], [opened], rent - 1n).join()).toContain("but the service announced");
  expect(problemsOf(buyOver(1), rent - 1_000_000n, [gift], [opened])).toEqual([]);
});

test("what reaches an account that the wallet gave away before does not arrive", () => {
  const holding = (owner: Address, amount: bigint): NodeAccount => {
    const one = account(TOKEN_PROGRAM, 165);
    one.data.set(mint.bytes, 0);
    one.data.set(owner.bytes, 32);
    writeU64(one.data, 64, amount);
    one.data[108] = 1;
    return one;
  };
  const bought = { ...buyOver(1), threshold: 5n };
  const reasons = (owner: Address) => problemsOf(bought, 0n, [holding(owner, 2n)], [holding(owner, 7n)]);
  expect(reasons(wallet)).toEqual([]);
  expect(reasons(address(9))).toEqual(["0 base units arrive, but the order requires 5"]);
});

test("a pool that grows is paid for, as announced", () => {
  const rent = rentOf(301) - rentOf(243);
  const [before, after] = [account(program, 243), account(program, 301)];
  expect(problemsOf(buyOver(1), rent, [before], [after])).toEqual([]);
  expect(problemsOf(buyOver(1), rent, [before], [after], 0n).join()).toContain("did not announce");
  // What reaches an account that does not grow is no rent.
  expect(problemsOf(buyOver(1), rent, [before], [{ ...before, lamports: before.lamports + rent }]).join()).toContain(
    "base units leave the wallet",
  );
});

test("a bonding curve that grows while it pays out a sale is paid for, as announced", () => {
  const [reserve, paidOut] = [10n ** 9n, 3_000_000n];
  const curveOf = (bytes: number, held: bigint, reserved: bigint): NodeAccount => {
    const curve = account(PUMP_PROGRAM, bytes, held + reserved);
    curve.data.set(hex("17b7f83760d8ac60"));
    writeU64(curve.data, 32, reserved);
    return curve;
  };
  const sold = { ...buyOver(1), inMint: mint, outMint: SOL_MINT, amount: 5n, threshold: paidOut };
  // One made at a higher rent lacks less for more bytes.
  for (const held of [rentOf(49), rentOf(49) + 100_000n]) {
    const rent = rentOf(141) - held;
    const before = curveOf(49, held, reserve);
    const after = curveOf(141, rentOf(141), reserve - paidOut);
    // The wallet's lamports change by what it gets less what it pays.
    const spent = rent - paidOut - SOLD;
    expect(problemsOf(sold, spent, [before], [after], rent)).toEqual([]);
    expect(problemsOf(sold, spent, [before], [after], rent - 1n).join()).toContain("did not announce");
    expect(problemsOf(sold, spent + 1n, [before], [after], rent).join()).toContain("base units arrive");
    // A curve that says it paid less is no rent: it keeps it.
    const kept = curveOf(49, held + rent, reserve - paidOut);
    expect(problemsOf(sold, spent, [before], [kept], rent).join()).toContain("base units arrive");
  }
});

test("a wallet that is the account of a nonce stays what it was", () => {
  const was = account(SYSTEM_PROGRAM, 80);
  const reasons = (is: NodeAccount) =>
    walletChanges(wallet, [wallet], new Map([[wallet, was]]), new Map([[wallet, is]]), EMPTY_RENT).problems.length;
  const other = { ...was, data: Uint8Array.from(was.data, (_, at) => (at === 8 ? 1 : 0)) };
  expect([was, { ...was, owner: program }, other, account(SYSTEM_PROGRAM, 81)].map(reasons)).toEqual([0, 1, 1, 1]);
});

test("a wrapped-SOL account that the wallet had before stays open; another that a trade empties may be closed", () => {
  const held = (of: Address): NodeAccount => {
    const one = account(TOKEN_PROGRAM, 165);
    one.data.set(of.bytes, 0);
    one.data.set(wallet.bytes, 32);
    one.data[108] = 1;
    return one;
  };
  const own = address(50);
  const problems = (of: Address) =>
    walletChanges(wallet, [own], new Map([[own, held(of)]]), new Map(), EMPTY_RENT).problems;
  expect(problems(SOL_MINT)).toMatchObject([{ account: own, reason: expect.stringContaining("closes") }]);
  expect(problems(mint)).toEqual([]);
});
