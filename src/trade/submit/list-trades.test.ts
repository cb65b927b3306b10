import { afterEach, beforeEach, expect, it } from "vitest";
import type { SubmissionQuery, SubmissionRecord } from "../../accounts/port.ts";
import { Address } from "../../primitives/address.ts";
import type { SealedTrade } from "../build/token/sealed-trade.ts";
import type { ListedTrade, TradeQuery } from "../trade.ts";
import { TradeLister } from "./list-trades.ts";
import { formatOutcome, type Outcome } from "./outcome/outcome.ts";

const MINT = Address.of("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v");
const RECORDS = 600;

const COSTS = { baseFee: 5_000n, priorityFee: 1n, tip: 0n, rentPaid: 0n, rentReturned: 0n };
const landed = (status: "confirmed" | "finalized"): Outcome => ({
  kind: "landed",
  slot: 7n,
  status,
  result: { inAmount: 1n, outAmount: 2n },
  costs: COSTS,
});
const failed = (code: "TX_EXPIRED" | "SLIPPAGE_EXCEEDED"): Outcome => ({
  kind: "failed",
  code,
  message: "m",
  facts: {},
});

/** Turns of the event loop so far. */
let turn = 0;
let counting: NodeJS.Immediate;
const count = () => {
  turn += 1;
  counting = setImmediate(count);
};
beforeEach(count);
afterEach(() => clearImmediate(counting));

/** A lister over records with these outcomes, and what it does with them. */
function start(outcomes: readonly Outcome[]) {
  const hashOf = (i: number) => i.toString(16).padStart(64, "0");
  const seen = { inTurn: new Map<number, number>(), reading: 0, mostReading: 0, accounts: [] as string[], opened: 0 };
  const records = outcomes.map((outcome, i): SubmissionRecord => {
    const text = formatOutcome(outcome);
    return {
      messageHash: hashOf(i),
      signature: `signature ${i}`,
      accountId: "account",
      submissionToken: hashOf(i),
      transaction: new Uint8Array(),
      lastValidBlockHeight: 150n,
      claimedAtMs: 10_000 - i,
      leaseUntilMs: 0,
      get outcome() {
        seen.inTurn.set(turn, (seen.inTurn.get(turn) ?? 0) + 1);
        return text;
      },
      isFinalized: false,
      endedAtMs: 20_000,
    };
  });
  const sealedOf = (hash: string) =>
    ({
      messageHash: Buffer.from(hash, "hex"),
      inMint: MINT,
      outMint: MINT,
      inDecimals: 6,
      outDecimals: 6,
      costs: COSTS,
      route: [],
      lastValidBlockHeight: 150n,
    }) as unknown as SealedTrade;
  const lister = new TradeLister({
    submissions: {
      async listOf(accountId: string, { most, after }: SubmissionQuery) {
        seen.accounts.push(accountId);
        seen.mostReading = Math.max(seen.mostReading, ++seen.reading);
        await new Promise(setImmediate);
        seen.reading -= 1;
        const from = after === undefined ? 0 : Number.parseInt(after.messageHash, 16) + 1;
        return records.slice(from, from + most);
      },
    },
    sealer: {
      open(token: string) {
        seen.opened += 1;
        return sealedOf(token);
      },
    },
    attempts: { byMessage: () => undefined },
    chain: {},
    finality: { complete: async () => landed("finalized") },
  } as unknown as ConstructorParameters<typeof TradeLister>[0]);
  const list = (most: number, statuses: readonly ListedTrade["status"][], accountId = "account") => {
    const query: TradeQuery = {
      most,
      after: undefined,
      statuses: new Set(statuses),
      sinceMs: undefined,
      untilMs: undefined,
    };
    return lister.list(accountId, query);
  };
  return { list, seen };
}

it("opens a few records in a turn of the loop, however many lists are asked for at once", async () => {
  const { list, seen } = start(Array.from({ length: RECORDS }, () => landed("finalized")));
  const pages = await Promise.all(Array.from({ length: 40 }, () => list(100, ["failed"])));
  for (const { trades, next } of pages) {
    expect(trades).toEqual([]);
    expect(next?.claimedAtMs).toBe(10_000 - 499);
  }
  expect(Math.max(...seen.inTurn.values())).toBeLessThanOrEqual(32);
  expect(seen.mostReading).toBe(2);
});

it("lets those wait for one list of another account, not for all of them", async () => {
  const { list, seen } = start(Array.from({ length: 3 }, () => landed("finalized")));
  const many = Array.from({ length: 50 }, () => list(10, []));
  await list(10, [], "another");
  expect(seen.accounts.indexOf("another")).toBeLessThanOrEqual(3);
  await Promise.all(many);
});

it("opens no token of a trade whose end is final and is not asked for", async () => {
  const outcomes = [landed("finalized"), failed("TX_EXPIRED"), failed("SLIPPAGE_EXCEEDED"), landed("confirmed")];
  const { list, seen } = start(outcomes);
  expect((await list(10, ["expired"])).trades.map(({ signature }) => signature)).toEqual(["signature 1"]);
  // One that is not final may end otherwise.
  expect(seen.opened).toBe(2);
  const both = await list(10, ["finalized", "failed"]);
  expect(both.trades.map(({ signature, status }) => [signature, status])).toEqual([
    ["signature 0", "finalized"],
    ["signature 2", "failed"],
    ["signature 3", "finalized"],
  ]);
});
