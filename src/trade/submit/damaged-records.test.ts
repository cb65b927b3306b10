import { hash } from "node:crypto";
import bs58 from "bs58";
import { describe, expect, it } from "vitest";
import {
  boxOf,
  expire,
  land,
  principal,
  resigned,
  rest,
  SLOT,
  sealerOf,
  seen,
  signedTrade,
  startProcess,
  submitLanded,
  submitOne,
  submitTwice,
  useSubmitWorld,
} from "../../../test/support/submit-world.ts";
import type { SubmissionRecord } from "../../accounts/port.ts";
import type { TradeQuery } from "../trade.ts";

const world = useSubmitWorld();

/** Edits the only record of the database, as somebody does who has access to nothing else. */
function edit(change: Partial<SubmissionRecord>): void {
  const [row] = [...world.submissions.rows.values()];
  world.submissions.rows.set(row!.messageHash, { ...row!, ...change });
}

const claimOf = (trade: ReturnType<typeof signedTrade>) => ({
  messageHash: hash("sha256", trade.signedTransaction.subarray(65), "hex"),
  signature: trade.signature,
  accountId: principal.accountId,
  submissionToken: trade.submissionToken,
  transaction: trade.signedTransaction,
  lastValidBlockHeight: 150n,
  claimedAtMs: Date.now(),
});
const LOST = { owner: "lost", untilMs: 0 };
const everything: TradeQuery = {
  most: 10,
  after: undefined,
  statuses: new Set(),
  sinceMs: undefined,
  untilMs: undefined,
};

/** Outcomes that say nothing, or contradict themselves. `S` stands for the signature of the trade. */
const UNREADABLE = [
  "",
  "{",
  '{"kind":"landed"}',
  '{"kind":"landed","slot":1234,"status":"confirmed","result":{"inAmount":1,"outAmount":2},"costs":{}}',
  '{"kind":"landed","slot":"1234n","status":"pending","result":{"inAmount":"1n","outAmount":"2n"},"costs":{"baseFee":"1n","priorityFee":"0n","tip":"0n","rentPaid":"0n","rentReturned":"0n"}}',
  '{"kind":"landed","slot":"-1n","status":"confirmed","result":{"inAmount":"1n","outAmount":"2n"},"costs":{"baseFee":"1n","priorityFee":"0n","tip":"0n","rentPaid":"0n","rentReturned":"0n"}}',
  '{"kind":"failed","code":"constructor","message":"m","facts":{}}',
  '{"kind":"failed","code":"TX_EXPIRED","message":"m"}',
  '{"kind":"failed","code":"UPSTREAM_ERROR","message":"m","facts":{}}',
  '{"kind":"failed","code":"TX_EXPIRED","message":"m","facts":{"safeToRebuild":true,"details":{"signature":"another","scope":"message"}}}',
  '{"kind":"failed","code":"TX_EXPIRED","message":"m","facts":{"safeToRebuild":true,"details":{"signature":"S","scope":"submitted"}}}',
];

describe.each(UNREADABLE)("an outcome that cannot be: %s", (text) => {
  it("is answered by nobody: a submit follows the message to its end on the chain", async () => {
    const trade = await submitLanded(startProcess("a"));
    edit({ outcome: text.replace("S", trade.signature) });
    const b = startProcess("b");
    const answer = boxOf(b.submit(trade));
    await rest(10);
    expect(answer).toEqual({ value: undefined, error: undefined });
    land("b", trade.signature);
    await rest(3_000);
    expect(answer.value).toMatchObject({ status: "confirmed", slot: SLOT, result: { outAmount: 42n } });
  });

  it("leaves the list of trades whole, and the trade in it as far as the chain shows it", async () => {
    const a = startProcess("a");
    const sound = await submitLanded(a);
    await rest(1_000);
    const [soundRow] = [...world.submissions.rows.values()];
    world.submissions.rows.clear();
    const damaged = await submitLanded(a);
    edit({ outcome: text.replace("S", damaged.signature) });
    world.submissions.rows.set(soundRow!.messageHash, soundRow!);
    const { trades } = await startProcess("b").list(principal, everything);
    expect(trades).toMatchObject([
      { signature: damaged.signature, status: "confirmed", slot: SLOT },
      { signature: sound.signature, status: "confirmed", trade: { result: { outAmount: 42n } } },
    ]);
  });

  it("is looked up as far as the chain shows it, until its end is known again", async () => {
    const trade = await submitLanded(startProcess("a"));
    edit({ outcome: text.replace("S", trade.signature) });
    const b = startProcess("b");
    world.progress = seen("processed");
    expect(await b.find(principal, trade.signature)).toMatchObject({
      status: expect.stringMatching(/pending|processed/),
    });
    await rest(10);
    land("b", trade.signature);
    await rest(3_000);
    expect(await b.find(principal, trade.signature)).toMatchObject({ status: "confirmed", result: { outAmount: 42n } });
  });

  it("that stands where a process writes its own does not take that process's answer away", async () => {
    const a = startProcess("a");
    const { trade, answer } = await submitOne(a);
    edit({ outcome: text.replace("S", trade.signature) });
    world.progress = seen("confirmed");
    land("a", trade.signature);
    await rest(3_000);
    expect(answer.value).toMatchObject({ status: "confirmed", slot: SLOT });
  });
});

describe("an expiry on record under another signature of its message than it names", () => {
  it("is replaced by the process that follows the message to its end, and answered by all from then on", async () => {
    const a = startProcess("a");
    const { trade, other } = await submitTwice(a);
    expire("a", other.signature);
    expire("a", trade.signature);
    await rest(100);
    edit({ signature: other.signature, transaction: other.signedTransaction });
    const b = startProcess("b");
    const answer = boxOf(b.submit(trade));
    await rest(1_100);
    for (const { signature } of [other, trade]) expire("b", signature);
    await rest(3_000);
    expect(answer.error).toMatchObject({ code: "TX_EXPIRED", facts: { safeToRebuild: true } });
    const c = startProcess("c");
    for (const { signature } of [trade, other])
      await expect(c.find(principal, signature)).rejects.toMatchObject({ code: "TX_EXPIRED" });
    const { trades } = await c.list(principal, everything);
    expect(trades).toMatchObject([{ status: "expired", failure: { code: "TX_EXPIRED", safeToRebuild: true } }]);
  });
});

describe("an abandoned record", () => {
  it("is followed to the height that its token states, whatever the row says", async () => {
    const trade = signedTrade();
    await world.submissions.claim({ ...claimOf(trade), lastValidBlockHeight: 1n }, LOST);
    startProcess("b");
    await rest(1_100);
    expect(world.inFlight.get(`b ${trade.signature}`)?.order.lastValidBlockHeight).toBe(150n);
  });

  it.each([
    ["other bytes", (other: SubmissionRecord) => ({ transaction: other.transaction })],
    ["no bytes", () => ({ transaction: new Uint8Array() })],
    ["another signature", (other: SubmissionRecord) => ({ signature: other.signature })],
    ["a text as its signature", () => ({ signature: "no signature" })],
    ["another trade's token", (other: SubmissionRecord) => ({ submissionToken: other.submissionToken })],
  ])("with %s is not broadcast, holds up no other, and is warned of once", async (_what, change) => {
    const [damaged, sound, foreign] = [signedTrade(), signedTrade(), signedTrade()];
    const other = {
      ...claimOf(foreign),
      leaseUntilMs: 0,
      outcome: undefined,
      isFinalized: false,
      endedAtMs: undefined,
    };
    await world.submissions.claim({ ...claimOf(damaged), ...change(other) }, LOST);
    await world.submissions.claim(claimOf(sound), LOST);
    const warnings: string[] = [];
    startProcess("b", (message) => void warnings.push(message));
    await rest(12_000);
    expect([...world.inFlight.keys()]).toEqual([`b ${sound.signature}`]);
    expect(warnings).toHaveLength(1);
  });
});

describe("a record that contradicts itself", () => {
  it("with another trade's token is no answer about this one", async () => {
    const a = startProcess("a");
    const trade = await submitLanded(a);
    const other = signedTrade();
    edit({ submissionToken: other.submissionToken });
    const b = startProcess("b");
    await expect(b.find(principal, trade.signature)).rejects.toMatchObject({ code: "INTERNAL_ERROR" });
    const { trades } = await b.list(principal, everything);
    expect(trades).toMatchObject([{ signature: trade.signature, status: "confirmed", slot: SLOT }]);
    expect(trades[0]?.trade).toBeUndefined();
  });

  it("with a token that opens with no key of this process is no fault of the caller who asks for the trade", async () => {
    const trade = await submitLanded(startProcess("a"));
    const later = startProcess("later", undefined, sealerOf("08"));
    const refusal = { code: "INTERNAL_ERROR", message: expect.stringContaining("TOKEN_KEYS") };
    await expect(later.find(principal, trade.signature)).rejects.toMatchObject(refusal);
    const watched = later.watch(principal, trade.signature, new AbortController().signal)[Symbol.asyncIterator]();
    await expect(watched.next()).rejects.toMatchObject(refusal);
    const { trades } = await later.list(principal, everything);
    expect(trades).toMatchObject([{ signature: trade.signature, status: "confirmed", slot: SLOT }]);
    await expect(later.submit(trade)).rejects.toMatchObject({ code: "INVALID_SUBMISSION_TOKEN" });
  });

  it("by bytes that its signature does not sign does not end a submit", async () => {
    const trade = await submitLanded(startProcess("a"));
    edit({ signature: signedTrade().signature });
    const b = startProcess("b");
    const answer = boxOf(b.submit(trade));
    await rest(10);
    land("b", trade.signature);
    await rest(3_000);
    expect([...world.inFlight.keys()].filter((key) => key.startsWith("b"))).toEqual([`b ${trade.signature}`]);
    expect(answer.value).toMatchObject({ status: "confirmed", signature: trade.signature });
  });
});

describe("a stored signature that is none of the message", () => {
  it.each([
    ["a text", () => ({ signature: "no signature", transaction: new Uint8Array(3) })],
    [
      "another trade's",
      () => {
        const { signature, signedTransaction } = signedTrade();
        return { signature, transaction: signedTransaction };
      },
    ],
    ["over other bytes", () => ({ signature: signedTrade().signature, transaction: signedTrade().signedTransaction })],
  ])("is not followed: %s", async (_what, form) => {
    const trade = signedTrade();
    const good = resigned(trade);
    const claim = claimOf(trade);
    await world.submissions.claim(claim, LOST);
    await world.submissions.addSignature(claim.messageHash, form());
    await world.submissions.addSignature(claim.messageHash, {
      signature: bs58.encode(bs58.decode(good.signature)),
      transaction: good.signedTransaction,
    });
    startProcess("b");
    await rest(1_300);
    expect([...world.inFlight.keys()]).toEqual([`b ${trade.signature}`, `b ${good.signature}`]);
  });
});
