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
function watchOf(read: () => Promise<LandedPrices | undefined> = async () => dearSlots()) {
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
  };
  const sealed = {
    lastValidBlockHeight: 1_040n,
    blocksLeft: 145,
    expiresAtMs: 30_000,
    route: [],
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
  const sealed = { lastValidBlockHeight: 1_040n, expiresAtMs: 30_000, route: [] } as Partial<SealedTrade>;
  const attempt = { sealed: sealed as SealedTrade, transaction: new Uint8Array(0), submittedAtMs: 31_000 };
  const watch = new AttemptWatch(undefined, attempt);
  watch.begin();
  expect(await watch.explainExpiry([sent], true)).toMatchObject({ cause: "submitted_late", sure: false });
  expect(await watch.explainLanding([sent], 1_020n, true)).toBeUndefined();
});
