import { expect, test } from "vitest";
import type { TransactionRecord } from "../../../chain/port.ts";
import { Address } from "../../../primitives/address.ts";
import { setComputeUnitLimit } from "../../../solana/compute-budget.ts";
import { compileMessage, unsignedTransaction } from "../../../solana/message.ts";
import type { Venue } from "../../../venues/venue.ts";
import type { SealedTrade } from "../../build/token/sealed-trade.ts";
import type { ExactAmounts } from "../../trade.ts";
import { reportLanded } from "./landed-report.ts";
import type { Outcome } from "./outcome.ts";

const address = (byte: number) => Address.from(new Uint8Array(32).fill(byte));
const [IN, HUB, OUT, FIRST, SECOND] = [1, 2, 3, 4, 5].map(address) as [Address, Address, Address, Address, Address];
const leg = (market: Address, inMint: Address, outMint: Address, inAmount: bigint, outAmount: bigint, path = 0) => ({
  venue: "v",
  market,
  inMint,
  outMint,
  inAmount,
  outAmount,
  path,
});
/** One path through a hub, where 3 stay, and one that shares its last market. */
const route = [leg(FIRST, IN, HUB, 10n, 53n), leg(SECOND, HUB, OUT, 50n, 7n), leg(SECOND, IN, OUT, 20n, 15n, 1)];
const sealed = { route, inMint: IN, outMint: OUT, creates: [{ address: HUB }] } as unknown as SealedTrade;
const message = compileMessage({
  payer: address(9),
  blockhash: new Uint8Array(32),
  instructions: [setComputeUnitLimit(77_000)],
  lookupTables: [],
});
const bytes = { signature: "sig", transaction: unsignedTransaction(message) };
const record = (computeUnitsConsumed: bigint | undefined) => ({ computeUnitsConsumed }) as TransactionRecord;
const landed = (result: ExactAmounts) => ({ kind: "landed", result }) as Outcome;
const asQuoted = { inAmount: 30n, outAmount: 22n, remainders: [{ mint: HUB, amount: 3n }] };

test("a divided trade moved what was quoted if its sums and remainders are those of its legs", () => {
  expect(reportLanded(sealed, bytes, record(70_001n), landed(asQuoted), [])).toEqual({
    signature: "sig",
    markets: [FIRST, SECOND],
    venues: ["v"],
    failure: undefined,
    isAsQuoted: true,
    units: { used: 70_001, limit: 77_000 },
  });
  for (const change of [{ inAmount: 29n }, { outAmount: 21n }, { remainders: [{ mint: HUB, amount: 2n }] }]) {
    const { isAsQuoted } = reportLanded(sealed, bytes, record(1n), landed({ ...asQuoted, ...change }), []);
    expect(isAsQuoted).toBe(false);
  }
});

test("one that failed did not; a record without units says nothing of them", () => {
  const failed = { kind: "failed" } as Outcome;
  expect(reportLanded(sealed, bytes, record(undefined), failed, [])).toMatchObject({
    isAsQuoted: false,
    units: undefined,
  });
});

test("a node that makes up more units than were allowed says nothing of them", () => {
  expect(reportLanded(sealed, bytes, record(77_000n), landed(asQuoted), []).units).toEqual({
    used: 77_000,
    limit: 77_000,
  });
  expect(reportLanded(sealed, bytes, record(77_001n), landed(asQuoted), []).units).toBeUndefined();
});

test("names the venue whose instruction failed, if it is one of the route, and none for the guard of the total", () => {
  const [venue, other, token] = [address(20), address(21), address(22)] as [Address, Address, Address];
  const instructions = [venue, other, token].map((program) => ({ program, accounts: [], data: new Uint8Array() }));
  const transaction = unsignedTransaction(
    compileMessage({ payer: address(9), blockhash: new Uint8Array(32), instructions, lookupTables: [] }),
  );
  const venues = [
    { id: "v", programs: [venue] },
    { id: "elsewhere", programs: [other] },
  ] as unknown as Venue[];
  const failed = { kind: "failed", code: "SLIPPAGE_EXCEEDED" } as Outcome;
  const failureAt = (error: unknown) =>
    reportLanded(sealed, { signature: "sig", transaction }, { error } as TransactionRecord, failed, venues).failure;
  expect(failureAt({ InstructionError: [0, { Custom: 6_000 }] })).toEqual({ code: "SLIPPAGE_EXCEEDED", venue: "v" });
  for (const error of [
    { InstructionError: [1, { Custom: 1 }] },
    { InstructionError: [2, "Other"] },
    "AccountInUse",
    null,
  ])
    expect(failureAt(error)).toEqual({ code: "SLIPPAGE_EXCEEDED", venue: undefined });
});
