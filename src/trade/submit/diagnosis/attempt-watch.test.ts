import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { LandedPrices } from "../../../chain/port.ts";
import type { SealedTrade } from "../../build/token/sealed-trade.ts";
import { AttemptWatch, type LandingConditions } from "./attempt-watch.ts";

const SLOT_MS = 400;
const sent = { kind: "sent", sender: "rpc-1", atMs: 0 } as const;

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

/** A watch over a trade with 140 blocks left, on a chain that takes nothing below 900; and the reads it has made. */
function watchOf(
  read: () => Promise<LandedPrices | undefined> = async () => dearSlots(),
  balanceAt: (slot: number) => bigint | undefined = () => undefined,
) {
  const reads: number[] = [];
  const slotNow = () => BigInt(1_000 + Math.floor(Date.now() / SLOT_MS));
  const conditions: LandingConditions = {
    slot: slotNow,
    blockHeight: () => slotNow() - 100n,
    slotMs: () => SLOT_MS,
    prices: {
      read() {
        reads.push(Number(slotNow() - 1_000n));
        return read();
      },
    },
    rentExemption: () => 634_720n,
    balances: {
      read: async () => {
        const lamports = balanceAt(Number(slotNow() - 1_000n));
        return lamports === undefined ? undefined : { lamports, nodes: 2 };
      },
    },
  };
  const sealed = {
    lastValidBlockHeight: 1_040n,
    blocksLeft: 145,
    expiresAtMs: 30_000,
    route: [],
    costs: { baseFee: 5_000n, priorityFee: 77n, tip: 0n, rentPaid: 0n, rentReturned: 0n },
  } as Partial<SealedTrade>;
  const attempt = { sealed: sealed as SealedTrade, transaction: new Uint8Array(0), submittedAtMs: 0 };
  const watch = new AttemptWatch(conditions, attempt);
  watch.begin();
  watch.receive(sent);
  return { watch, reads };
}

const dearSlots = (): LandedPrices => ({
  bid: 100n,
  nodes: 2,
  slots: Array.from({ length: 300 }, (_, i) => ({ slot: BigInt(900 + i), chain: 900n, accounts: 900n })),
});

const pass = (slots: number) => vi.advanceTimersByTimeAsync(slots * SLOT_MS);

test("a trade that lands soon costs no read and has no diagnosis", async () => {
  const { watch, reads } = watchOf();
  await pass(3);
  watch.receive({ kind: "processed", slot: 1_002n });
  expect(await watch.explainLanding([sent], 1_002n, true)).toBeUndefined();
  watch.end();
  expect(reads).toEqual([]);
});

test("prices are read after 12 slots, every 60 more, and at the end", async () => {
  const { watch, reads } = watchOf();
  await pass(180);
  expect(await watch.explainExpiry([sent], true)).toMatchObject({ cause: "priority_low", sure: true });
  watch.end();
  await pass(100);
  expect(reads).toEqual([12, 72, 132, 180]);
});

test("a late landing is explained from what was read meanwhile: its answer waits a tenth of a second at most", async () => {
  const { watch, reads } = watchOf(() => new Promise(() => {}));
  await pass(20);
  watch.receive({ kind: "processed", slot: 1_020n });
  const explained = watch.explainLanding([sent], 1_020n, true);
  await vi.advanceTimersByTimeAsync(100);
  expect(await explained).toMatchObject({ cause: "unknown", sure: false });
  watch.end();
  expect(reads).toEqual([12]);
});

test("without a view of the chain nothing is read", async () => {
  const costs = { baseFee: 5_000n, priorityFee: 77n, tip: 0n, rentPaid: 0n, rentReturned: 0n };
  const sealed = { lastValidBlockHeight: 1_040n, expiresAtMs: 30_000, route: [], costs } as Partial<SealedTrade>;
  const attempt = { sealed: sealed as SealedTrade, transaction: new Uint8Array(0), submittedAtMs: 31_000 };
  const watch = new AttemptWatch(undefined, attempt);
  watch.begin();
  expect(await watch.explainExpiry([sent], true)).toMatchObject({ cause: "submitted_late", sure: false });
  expect(await watch.explainLanding([sent], 1_020n, true)).toBeUndefined();
});

test.each<[string, (slot: number) => bigint | undefined, string]>([
  ["too little for the fees", () => 5_076n, "insufficient_sol"],
  ["what would leave less than it must hold", () => 639_796n, "insufficient_sol"],
  ["exactly the fees", () => 5_077n, "unknown"],
  ["the fees and what must stay", () => 639_797n, "unknown"],
  ["enough at first", (slot) => (slot < 100 ? 9_000_000n : 0n), "unknown"],
  ["enough at the end", (slot) => (slot < 150 ? 0n : 9_000_000n), "unknown"],
  ["nothing, as far as its last read shows", (slot) => (slot < 150 ? undefined : 0n), "unknown"],
])("of a trade that expired, its wallet held %s", async (_, balanceAt, cause) => {
  const { watch } = watchOf(async () => undefined, balanceAt);
  await pass(180);
  expect(await watch.explainExpiry([sent], true)).toMatchObject({ cause, sure: false });
  watch.end();
});

test("an empty wallet is named beside what else kept a trade from landing, and is nothing that a late submit needs", async () => {
  const { watch } = watchOf(undefined, () => 1_000n);
  await pass(180);
  expect(await watch.explainExpiry([sent], true)).toMatchObject({
    cause: "insufficient_sol",
    sure: false,
    evidence:
      "Its wallet was read 4 times and held too little to pay for it: 1000 lamports at last, by the word of 2 nodes. The fees take 5077.",
    remedy: "Add SOL to the wallet, then build again.",
    others: ["priority_low"],
  });
  watch.end();
});
