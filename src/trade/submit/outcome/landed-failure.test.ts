import { describe, expect, test } from "vitest";
import type { TransactionRecord } from "../../../chain/port.ts";
import { Address } from "../../../primitives/address.ts";
import { associatedTokenAddress } from "../../../solana/pda.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../solana/programs.ts";
import { programErrors } from "../../../venues/shared/program-errors.ts";
import type { Venue } from "../../../venues/venue.ts";
import type { RouteLeg } from "../../trade.ts";
import { failedOutcome } from "./landed-failure.ts";
import type { Outcome } from "./outcome.ts";

const venue = Address.from(new Uint8Array(32).fill(7));
const errors = programErrors([
  [20, "TooLittle", "SLIPPAGE_EXCEEDED"],
  [19, "Closed", "NO_ROUTE"],
  [6_001, "Other", "VENUE_DEGRADED"],
]);
const venues = [{ programs: [venue], errors } as unknown as Venue];
const sent = { signature: "sig", programs: [SYSTEM_PROGRAM, venue, TOKEN_PROGRAM] };
const landed = (record: object) => ({ record: record as TransactionRecord, witnesses: 2 });
const log = (program: Address, number: number) =>
  `Program ${program} failed: custom program error: 0x${number.toString(16)}`;
const custom = (at: number, Custom: number) => ({ InstructionError: [at, { Custom }] });

const outcomeOf = (error: unknown, logs: readonly string[] = [], feeLamports = 5_000n) =>
  failedOutcome(sent, landed({ slot: 9n, error, logs, feeLamports }), venues) as Extract<Outcome, { kind: "failed" }>;

test.each<[string, unknown, readonly string[], string, object]>([
  ["the venue's own error", custom(1, 20), [log(venue, 20)], "SLIPPAGE_EXCEEDED", { program: `${venue}`, code: 20 }],
  ["that, the log cut", custom(1, 20), [], "SLIPPAGE_EXCEEDED", { program: `${venue}`, code: 20 }],
  ["a number of another program, perhaps", custom(1, 19), [], "PROGRAM_ERROR", {}],
  ["that, with a log", custom(1, 19), [log(venue, 19)], "NO_ROUTE", { program: `${venue}`, code: 19 }],
  ["a venue that was upgraded", custom(1, 6_001), [log(venue, 6_001)], "PROGRAM_ERROR", { reason: "VENUE_DEGRADED" }],
  ["too little SOL to move", custom(0, 1), [], "INSUFFICIENT_SOL", { program: `${SYSTEM_PROGRAM}`, code: 1 }],
  ["the system program otherwise", custom(0, 2), [], "PROGRAM_ERROR", { program: `${SYSTEM_PROGRAM}`, code: 2 }],
  ["too few tokens in a swap", custom(1, 1), [log(TOKEN_PROGRAM, 1), log(venue, 1)], "INSUFFICIENT_TOKEN_BALANCE", {}],
  ["the token program otherwise", custom(1, 4), [log(TOKEN_PROGRAM, 4), log(venue, 4)], "PROGRAM_ERROR", {}],
  ["the guard", custom(2, 1), [log(TOKEN_PROGRAM, 1)], "SLIPPAGE_EXCEEDED", { program: `${TOKEN_PROGRAM}` }],
  ["rent", { InsufficientFundsForRent: { account_index: 0 } }, [], "INSUFFICIENT_SOL", {}],
  ["a fee", "InsufficientFundsForFee", [], "INSUFFICIENT_SOL", {}],
  ["no payer", "AccountNotFound", [], "INSUFFICIENT_SOL", {}],
  ["another error of the runtime", "AccountInUse", [], "PROGRAM_ERROR", {}],
])("a trade that failed by %s says so", (_what, error, logs, code, details) => {
  const { facts, ...outcome } = outcomeOf(error, logs);
  expect(outcome.code).toBe(code);
  expect(facts.safeToRebuild).toBe(true);
  const common = { signature: "sig", slot: 9, witnesses: 2, error: JSON.stringify(error) };
  expect(facts.details).toMatchObject({ ...common, ...details });
  expect("reason" in facts.details!).toBe("reason" in details);
});

test("a trade that failed says what was paid, and that it could not close an account", () => {
  expect(outcomeOf("AccountNotFound", [], 0n).message).toContain("and no fee was charged");
  expect(outcomeOf("AccountNotFound", [], 1n).message).toContain("and only the network fees were paid");
  expect(outcomeOf(custom(2, 11)).message).toMatch(/^Tokens arrived in the account/);
  expect(outcomeOf(custom(1, 6_001), [log(venue, 6_001)]).message).toMatch(/did not accept the accounts/);
});

const wallet = Address.from(new Uint8Array(32).fill(8));
const coin = Address.from(new Uint8Array(32).fill(9));
const lacking = { error: custom(1, 1), logs: [log(TOKEN_PROGRAM, 1), log(venue, 1)] };
const soldFor = (inMint: Address, inAmounts: readonly bigint[]) => ({
  wallet,
  inMint,
  route: inAmounts.map((inAmount) => ({ inMint, inAmount })) as unknown as readonly RouteLeg[],
  creates: [],
  closes: undefined,
});

test.each<[string, Parameters<typeof failedOutcome>[3], bigint, string]>([
  ["pays with SOL that the trade itself wraps", soldFor(SOL_MINT, [70n]), 0n, "SLIPPAGE_EXCEEDED"],
  ["had the tokens that the trade was quoted at", soldFor(coin, [70n, 30n]), 100n, "SLIPPAGE_EXCEEDED"],
  ["had a token less than that", soldFor(coin, [70n, 30n]), 99n, "INSUFFICIENT_TOKEN_BALANCE"],
  ["is not known", undefined, 100n, "INSUFFICIENT_TOKEN_BALANCE"],
])("a swap that lacks tokens means another price if the wallet %s", (_what, trade, held, code) => {
  const preTokenBalances = [
    { accountIndex: 3, mint: coin, owner: venue, amount: 10n ** 9n },
    { accountIndex: 4, mint: SOL_MINT, owner: wallet, amount: 10n ** 9n },
    { accountIndex: 5, mint: coin, owner: wallet, amount: held },
  ];
  const record = { slot: 9n, feeLamports: 5_000n, preTokenBalances, ...lacking };
  expect(failedOutcome(sent, landed(record), venues, trade)).toMatchObject({ code });
});

test("a sale of everything that could not close its account says which, and what had arrived there", () => {
  const account = Address.from(new Uint8Array(32).fill(10));
  const sale = { ...soldFor(coin, [70n, 30n]), closes: account };
  const failed = (amount: bigint, number: number) => {
    const preTokenBalances = [{ accountIndex: 5, mint: coin, owner: wallet, amount }];
    const record = { slot: 9n, feeLamports: 5_000n, logs: [], error: custom(2, number), preTokenBalances };
    return failedOutcome(sent, landed(record), venues, sale) as typeof outcome;
  };
  const outcome = outcomeOf(custom(2, 11));
  expect(failed(107n, 11)).toMatchObject({
    code: "PROGRAM_ERROR",
    message: expect.stringMatching(/^Tokens arrived in the account.* A sale by amount leaves it open; /),
    facts: { details: { account: `${account}`, arrivedRaw: "7" } },
  });
  // Fees that Token-2022 withheld in it are no balance.
  expect(failed(100n, 35).facts.details).toMatchObject({ account: `${account}`, code: 35 });
  expect(failed(100n, 35).facts.details).not.toHaveProperty("arrivedRaw");
});

describe("an account of the wallet that was closed meanwhile", () => {
  const other = Address.from(new Uint8Array(32).fill(11));
  const [ofCoin, ofOther] = [coin, other].map((mint) => associatedTokenAddress(wallet, mint, TOKEN_2022_PROGRAM)) as [
    Address,
    Address,
  ];
  const trade = {
    ...soldFor(coin, [70n]),
    route: [{ inMint: coin, outMint: other, inAmount: 70n }] as unknown as readonly RouteLeg[],
  };
  /** Anchor's AccountNotInitialized. */
  const missing = { error: custom(1, 3_012), logs: [log(venue, 3_012)] };
  const failed = (lamports: readonly bigint[], change: Partial<typeof trade> = {}, why: object = missing) => {
    const preTokenBalances = lamports[0] === 0n ? [] : [{ accountIndex: 0, mint: coin, owner: wallet, amount: 70n }];
    const record = { slot: 9n, accounts: [ofCoin, ofOther], preBalances: lamports, preTokenBalances, ...why };
    return failedOutcome(sent, landed(record), venues, { ...trade, ...change });
  };

  test("of the input: there was nothing to sell", () => {
    expect(failed([0n, 9n])).toMatchObject({ code: "INSUFFICIENT_TOKEN_BALANCE" });
    expect(failed([0n, 0n])).toMatchObject({ code: "INSUFFICIENT_TOKEN_BALANCE" });
  });

  test("of the output: the next build opens it", () => {
    const closed = failed([9n, 0n]);
    expect(closed).toMatchObject({ code: "PROGRAM_ERROR", facts: { details: { mint: `${other}` } } });
    expect(closed).toMatchObject({ message: expect.stringMatching(/^A token account .* The next build opens it; /) });
    expect(failed([9n, 0n], {}, { error: custom(1, 6_001), logs: [log(venue, 6_001)] })).toEqual({
      ...closed,
      facts: expect.anything(),
    });
  });

  test("is none that the trade itself was to open, and explains no failure that a program explains", () => {
    const creates = [{ address: ofOther, space: 165, rent: 1n, grows: false }] as never;
    expect(failed([9n, 0n], { creates })).toMatchObject({ message: expect.stringMatching(/^The program refused/) });
    expect(failed([9n, 9n])).toMatchObject({ message: expect.stringMatching(/^The program refused/) });
    const priced = { error: custom(1, 20), logs: [log(venue, 20)] };
    expect(failed([0n, 0n], {}, priced)).toMatchObject({ code: "SLIPPAGE_EXCEEDED" });
  });
});

test("a venue's program that panics says what its venue lists for that, unless it ran out of units", () => {
  const panicking = [{ programs: [venue], errors: { ...errors, panic: "INSUFFICIENT_LIQUIDITY" } } as unknown as Venue];
  const outcomeFor = (why: string, among = panicking) => {
    const error = { InstructionError: [1, "ProgramFailedToComplete"] };
    const logs = [`Program ${venue} failed: ${why}`];
    return failedOutcome(sent, landed({ slot: 9n, error, logs }), among);
  };
  expect(outcomeFor("SBF program panicked")).toMatchObject({ code: "INSUFFICIENT_LIQUIDITY" });
  expect(outcomeFor("SBF program panicked", venues)).toMatchObject({ code: "PROGRAM_ERROR" });
  expect(outcomeFor("exceeded CUs meter at BPF instruction")).toMatchObject({ code: "PROGRAM_ERROR" });
});
