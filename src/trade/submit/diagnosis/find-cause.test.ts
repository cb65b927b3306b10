import { describe, expect, test } from "vitest";
import type { LandedPrice } from "../../../chain/port.ts";
import { findCause } from "./find-cause.ts";
import type { Moment, Observations } from "./observations.ts";

const sent = { kind: "sent", atMs: 1, sender: "rpc-1" } as const;
const refused = { kind: "refused", atMs: 2, sender: "relay", reason: "tip too low" } as const;

/** The head at a slot, 1,000 of which were skipped long ago. */
const at = (slot: bigint, skipped = 0n): Moment => ({ slot, blockHeight: slot - 1_000n - skipped });

/** Prices of the slots after submit from `first` to `last`: of the chain, and on the transaction's accounts. */
function pricesIn(first: number, last: number, chain: bigint, accounts: bigint, nodes = 2): Observations["prices"] {
  const bySlot = new Map<bigint, LandedPrice>();
  for (let slot = 5_000n + BigInt(first); slot <= 5_000n + BigInt(last); slot++)
    bySlot.set(slot, { slot, chain, accounts });
  return { bid: 100n, nodes, bySlot };
}

/** A submission in slot 5,000 with 140 of its blocks left, accepted at once, that expired; but for the change. */
const seen = (change: Partial<Observations>): Observations => ({
  events: [sent],
  submittedAtMs: 1_000,
  expiresAtMs: 30_000,
  lastValidBlockHeight: 4_140n,
  isWhole: true,
  started: at(5_000n),
  accepted: at(5_000n),
  ended: at(5_180n),
  blocksLeftAtBuild: 145,
  landedSlot: undefined,
  prices: undefined,
  balances: [],
  feeLamports: 5_077n,
  leastLamports: 634_720n,
  ...change,
});

/** Only events and times are known. */
const unobserved = { started: undefined, accepted: undefined, ended: undefined };

describe("without a view of the chain", () => {
  test("a submit after expiresAt was late, which may not be all", () => {
    const late = findCause(seen({ ...unobserved, submittedAtMs: 33_250, events: [refused] }));
    expect(late).toMatchObject({
      cause: "submitted_late",
      sure: false,
      evidence: "It was submitted 3.3 s after its expiresAt.",
    });
    expect(findCause(seen({ ...unobserved, submittedAtMs: 30_000 })).cause).toBe("unknown");
  });

  test("senders are to blame only if this process saw all of them refuse", () => {
    const events = [refused, { ...refused, sender: "rpc-1", reason: "x".repeat(500) }];
    expect(findCause(seen({ ...unobserved, events }))).toMatchObject({
      cause: "senders_refused",
      sure: true,
      evidence: `No sender accepted it. relay: tip too low; rpc-1: ${"x".repeat(120)}`,
    });
    expect(findCause(seen({ ...unobserved, events: [refused, sent] })).cause).toBe("unknown");
    expect(findCause(seen({ ...unobserved, events: [refused], isWhole: false })).cause).toBe("unknown");
    expect(findCause(seen({ ...unobserved, events: [] }))).toMatchObject({
      cause: "unknown",
      evidence: "No broadcast was seen by this process.",
    });
  });
});

describe("expired", () => {
  test("a life that was over at submit: the signer was late, and no sender had a part in it", () => {
    const late = findCause(
      seen({ started: at(5_150n), accepted: undefined, events: [], ended: at(5_190n), submittedAtMs: 61_000 }),
    );
    expect(late).toMatchObject({ cause: "submitted_late", sure: true, others: [] });
    expect(late.evidence).toBe(
      "It was submitted 31.0 s after its expiresAt: of the 145 blocks that it could land in when built, none were left.",
    );
  });

  test("a signer who would have been in time with a blockhash of no age is not to blame for sure", () => {
    const over = { accepted: undefined, events: [], ended: at(5_190n), blocksLeftAtBuild: 124 };
    expect(findCause(seen({ ...over, started: at(5_160n) }))).toMatchObject({ cause: "submitted_late", sure: false });
    expect(findCause(seen({ ...over, started: at(5_180n) }))).toMatchObject({ cause: "submitted_late", sure: true });
  });

  test("an old blockhash is not the signer's fault", () => {
    const old = { blocksLeftAtBuild: 16, started: at(5_137n), accepted: at(5_137n) };
    expect(findCause(seen(old))).toMatchObject({ cause: "blockhash_old", sure: false });
  });

  test("a delay that left time enough is not the cause of what stood in the way afterwards", () => {
    // Signed 100 slots late, with 40 blocks left; nobody paid more until shortly before.
    const late = { started: at(5_100n), accepted: at(5_100n) };
    const bySlot = new Map([...pricesIn(-100, 70, 20n, 50n)!.bySlot, ...pricesIn(71, 145, 900n, 900n)!.bySlot]);
    const dear = findCause(seen({ ...late, prices: { bid: 100n, nodes: 2, bySlot } }));
    expect(dear).toMatchObject({ cause: "priority_low", sure: false, others: ["submitted_late"] });
    // Without it there is only the delay to blame, unless the blockhash was old.
    const over = { started: at(5_150n), accepted: undefined, events: [], ended: at(5_150n) };
    expect(findCause(seen(over)).cause).toBe("submitted_late");
    expect(findCause(seen({ ...over, blocksLeftAtBuild: 60 })).cause).toBe("blockhash_old");
  });

  test("a bid that was enough in the first slot is not to blame for sure: that slot may have been lost otherwise", () => {
    const dear = pricesIn(-10, 145, 900n, 900n)!;
    expect(findCause(seen({ prices: dear }))).toMatchObject({ cause: "priority_low", sure: true });
    const bySlot = new Map([...dear.bySlot, ...pricesIn(1, 1, 20n, 50n)!.bySlot]);
    expect(findCause(seen({ prices: { ...dear, bySlot } }))).toMatchObject({ cause: "priority_low", sure: false });
  });

  test("a bid below all that landed on its accounts: sure by two nodes, likely by one, unknown by none", () => {
    expect(findCause(seen({ prices: pricesIn(-10, 145, 50n, 900n) }))).toMatchObject({
      cause: "contention",
      sure: true,
      evidence:
        "It bid 100 micro-lamports per compute unit; in 140 of the 140 slots after a sender accepted it nothing below that landed on its accounts (median of the lowest 900), by the word of 2 nodes.",
    });
    expect(findCause(seen({ prices: pricesIn(-10, 145, 200n, 900n, 1) }))).toMatchObject({
      cause: "priority_low",
      sure: false,
    });
    expect(findCause(seen({})).cause).toBe("unknown");
  });

  test("a bid that was enough in a few slots more than bad luck explains: unknown", () => {
    expect(findCause(seen({ prices: pricesIn(1, 134, 900n, 900n) }))).toMatchObject({ cause: "unknown", sure: false });
    expect(findCause(seen({ prices: pricesIn(1, 137, 900n, 900n) })).cause).toBe("priority_low");
  });

  test("accepted in the last slots: the senders were late, if its bid was enough before", () => {
    const late = { accepted: at(5_138n) };
    expect(findCause(seen({ ...late, prices: pricesIn(100, 140, 900n, 900n) }))).toMatchObject({
      cause: "senders_late",
      sure: false,
      others: [],
      evidence: "It was first accepted 138 slots after submit, by rpc-1.",
    });
    const both = findCause(seen({ ...late, prices: pricesIn(-10, 140, 900n, 900n) }));
    expect([both.cause, ...both.others].sort()).toEqual(["priority_low", "senders_late"]);
  });

  test("seen in a block that was dropped: that was it, unless it was late already", () => {
    const events = (slot: bigint) => [sent, { kind: "processed", atMs: 3, slot } as const];
    expect(findCause(seen({ events: events(5_002n) }))).toMatchObject({ cause: "dropped_block", sure: false });
    expect(findCause(seen({ events: events(5_139n), prices: pricesIn(1, 138, 900n, 900n) }))).toMatchObject({
      cause: "priority_low",
      others: ["dropped_block"],
    });
    expect(findCause(seen({ events: events(4_900n) }))).toMatchObject({ cause: "unknown", others: [] });
    // Late already for no known reason, and for a moment more by the drop.
    const landed = { landedSlot: 5_108n, ended: at(5_110n) };
    expect(findCause(seen({ ...landed, events: events(5_100n) })).cause).toBe("unknown");
    expect(findCause(seen({ ...landed, landedSlot: 5_120n, events: events(5_100n) })).cause).toBe("dropped_block");
  });
});

describe("landed late", () => {
  const landed = (slots: bigint, change: Partial<Observations> = {}) =>
    findCause(seen({ landedSlot: 5_000n + slots, ended: at(5_002n + slots), ...change }));

  test("right after the first sender accepted it: the senders were late, surely", () => {
    expect(landed(30n, { accepted: at(5_028n) })).toMatchObject({ cause: "senders_late", sure: true });
  });

  test("as soon as its bid was enough", () => {
    expect(landed(40n, { prices: pricesIn(-5, 39, 20n, 900n) })).toMatchObject({ cause: "contention", sure: true });
    expect(landed(40n, { prices: pricesIn(-5, 20, 20n, 900n) })).toMatchObject({ cause: "unknown" });
  });

  test("after a block that was dropped, or few blocks at all", () => {
    const events = [sent, { kind: "processed", atMs: 3, slot: 5_002n } as const];
    const prices = pricesIn(3, 28, 900n, 900n);
    expect(landed(30n, { events, prices })).toMatchObject({ cause: "dropped_block", others: [] });
    expect(landed(30n, { ended: at(5_032n, 29n) })).toMatchObject({ cause: "slots_skipped", sure: false });
  });
});

test("an empty wallet explains neither a submit after the message's life nor a block that held the trade", () => {
  const balances = [5_012n, 5_180n].map((slot) => ({ slot, lamports: 0n, nodes: 2 }));
  expect(findCause(seen({ balances }))).toMatchObject({ cause: "insufficient_sol", sure: false, others: [] });
  expect(findCause(seen({ balances, lastValidBlockHeight: 3_990n }))).toMatchObject({
    cause: "submitted_late",
    sure: true,
    others: [],
  });
  const processed = { kind: "processed", atMs: 1, slot: 5_002n } as const;
  expect(findCause(seen({ balances, events: [sent, processed] }))).toMatchObject({
    cause: "dropped_block",
    others: ["insufficient_sol"],
  });
  expect(findCause(seen({ balances, isWhole: false })).cause).toBe("unknown");
});
