import { describe, expect, it, vi } from "vitest";
import {
  boxOf,
  expire,
  LEASE_MS,
  land,
  principal,
  resigned,
  rest,
  SLOT,
  startProcess,
  submitOne,
  submitTwice,
  useSubmitWorld,
} from "../../../test/support/submit-world.ts";
import type { MessageFinding } from "../../chain/port.ts";

const world = useSubmitWorld();

const UNSERVED: MessageFinding = { kind: "unserved", sinceMs: 10_000, isRemembered: true };
const SHORT: MessageFinding = { ...UNSERVED, kind: "absent", reachesBack: false, witnesses: 2 };

describe("a message whose stored signatures cannot be read", () => {
  it.each([
    ["no node shows the wallet's history", UNSERVED],
    ["the wallet's history does not reach back to the build", SHORT],
  ])("is not ruled expired until they can, if %s", async (_what, finding) => {
    const a = startProcess("a");
    const { trade, answer } = await submitOne(a);
    const other = resigned(trade);
    const [messageHash] = [...world.submissions.rows.keys()];
    await world.submissions.addSignature(messageHash!, {
      signature: other.signature,
      transaction: other.signedTransaction,
    });
    world.finding = finding;
    world.submissions.isDown = true;
    expire("a", trade.signature);
    await rest(5_000);
    expect(answer.error).toBeUndefined();
    world.submissions.isDown = false;
    await rest(1_100);
    land("a", other.signature);
    await rest(100);
    expect(answer.value).toMatchObject({ status: "confirmed", signature: other.signature, slot: SLOT });
  });

  it("says so after some seconds, until it is ruled on", async () => {
    const a = startProcess("a");
    const { trade, answer } = await submitOne(a);
    world.finding = UNSERVED;
    world.submissions.isDown = true;
    expire("a", trade.signature);
    await rest(2_000);
    expect(await a.find(principal, trade.signature)).toMatchObject({ status: "pending", pendingReason: undefined });
    await rest(8_000);
    expect(await a.find(principal, trade.signature)).toMatchObject({
      status: "pending",
      pendingReason: expect.stringContaining("under another signature"),
    });
    world.submissions.isDown = false;
    await rest(1_100);
    expect(answer.error).toMatchObject({ code: "TX_EXPIRED", facts: { safeToRebuild: false } });
  });

  it("is ruled expired at once if the wallet's history lacks it", async () => {
    const a = startProcess("a");
    const { trade, answer } = await submitOne(a);
    world.submissions.isDown = true;
    expire("a", trade.signature);
    await rest(3_000);
    expect(answer.error).toMatchObject({ code: "TX_EXPIRED", facts: { safeToRebuild: true } });
  });

  it("is broadcast at once by a process that takes over, although the database is slow", async () => {
    const a = startProcess("a");
    const { trade, other } = await submitTwice(a);
    await a.close();
    const read = world.submissions.signaturesOf;
    vi.spyOn(world.submissions, "signaturesOf").mockImplementation(async (messageHash) => {
      await rest(0);
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      return read(messageHash);
    });
    startProcess("b");
    await rest(1_300);
    expect([...world.inFlight.keys()]).toContain(`b ${trade.signature}`);
    expire("b", trade.signature);
    await rest(12_000);
    expect([...world.inFlight.keys()]).toContain(`b ${other.signature}`);
  });
});

describe("a signature submitted while the message is ruled on", () => {
  it.each([
    ["absent from the history of others' signatures", undefined],
    ["not looked for, since no node shows a history", UNSERVED],
  ])("is followed, though %s", async (_what, finding) => {
    const a = startProcess("a");
    if (finding !== undefined) world.finding = finding;
    const { trade, answer } = await submitOne(a);
    const other = resigned(trade);
    const read = world.submissions.signaturesOf;
    const reading = vi.spyOn(world.submissions, "signaturesOf").mockImplementationOnce(async (messageHash) => {
      const stored = await read(messageHash);
      boxOf(a.submit(other));
      await new Promise((resolve) => setTimeout(resolve, 10));
      return stored;
    });
    expire("a", trade.signature);
    await rest(200);
    expect(reading).toHaveBeenCalled();
    expect(answer.error).toBeUndefined();
    land("a", other.signature);
    await rest(100);
    expect(answer.value).toMatchObject({ status: "confirmed", signature: other.signature });
  });
});

describe("a record that a failed-over database lacks", () => {
  it("is written again while the trade is pending, with every signature", async () => {
    const a = startProcess("a");
    const { trade, other } = await submitTwice(a);
    const [messageHash] = [...world.submissions.rows.keys()];
    world.submissions.rows.clear();
    const storing = vi.spyOn(world.submissions, "addSignature");
    await rest(LEASE_MS / 2 + 1_100);
    expect(world.submissions.rows.get(messageHash!)).toMatchObject({ owner: "a", signature: trade.signature });
    expect(storing).toHaveBeenCalledWith(messageHash, expect.objectContaining({ signature: other.signature }));
    storing.mockClear();
    await rest(LEASE_MS);
    expect(storing).not.toHaveBeenCalled();
  });

  it("is completed if it is only a further signature, for the process that may take over", async () => {
    const a = startProcess("a");
    const { trade } = await submitOne(a);
    const other = resigned(trade);
    // Written, and lost with the server that wrote it.
    const storing = vi.spyOn(world.submissions, "addSignature").mockImplementationOnce(async () => {});
    boxOf(a.submit(other));
    await rest(LEASE_MS);
    const [messageHash] = [...world.submissions.rows.keys()];
    const stored = await world.submissions.signaturesOf(messageHash!);
    expect(stored.map(({ signature }) => signature)).toEqual([trade.signature, other.signature]);
    storing.mockClear();
    await rest(LEASE_MS);
    expect(storing).not.toHaveBeenCalled();
  });

  it("is written again with its outcome, once the trade is asked for", async () => {
    const a = startProcess("a");
    const { trade, answer } = await submitOne(a);
    land("a", trade.signature);
    await rest(100);
    const [row] = [...world.submissions.rows.values()];
    world.submissions.rows.clear();
    expect(await a.find(principal, trade.signature)).toMatchObject({ slot: answer.value!.slot });
    await rest(10);
    expect(world.submissions.rows.get(row!.messageHash)?.outcome).toBe(row!.outcome);
  });

  it("has the outcome that was answered, not another ruling, if only that was lost", async () => {
    const a = startProcess("a");
    const { trade, answer } = await submitOne(a);
    expire("a", trade.signature);
    await rest(100);
    expect(answer.error).toMatchObject({ code: "TX_EXPIRED" });
    const [row] = [...world.submissions.rows.values()];
    const answered = row!.outcome;
    world.submissions.rows.set(row!.messageHash, { ...row!, outcome: undefined, leaseUntilMs: 0 });
    world.finding = { kind: "unserved", sinceMs: 3_600_000, isRemembered: false };
    world.inFlight.clear();
    await rest(2_100);
    expect(world.inFlight.size).toBe(0);
    expect(world.submissions.rows.get(row!.messageHash)?.outcome).toBe(answered);
  });

  it("is written again with its outcome and signatures, although no caller asks for the trade", async () => {
    const a = startProcess("a");
    const { trade, other } = await submitTwice(a);
    land("a", trade.signature);
    await rest(100);
    const [row] = [...world.submissions.rows.values()];
    world.submissions.rows.clear();
    const storing = vi.spyOn(world.submissions, "addSignature");
    await rest(LEASE_MS / 2);
    expect(world.submissions.rows.get(row!.messageHash)?.outcome).toBe(row!.outcome);
    expect(storing).toHaveBeenCalledWith(row!.messageHash, expect.objectContaining({ signature: other.signature }));
  });
});

describe("an end that a failed-over database lacks", () => {
  it("is written again though the clock was set forward by an hour in between", async () => {
    const a = startProcess("a");
    const { trade } = await submitOne(a);
    land("a", trade.signature);
    await rest(100);
    const [row] = [...world.submissions.rows.values()];
    vi.setSystemTime(Date.now() + 3_600_000);
    await rest(LEASE_MS / 2);
    world.submissions.rows.clear();
    await rest(LEASE_MS / 2);
    expect(world.submissions.rows.get(row!.messageHash)?.outcome).toBe(row!.outcome);
  });

  it("is written again once the trade is asked for, each time, though another process follows it there", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const { trade } = await submitOne(a);
    land("a", trade.signature);
    await rest(3_600_000);
    const [row] = [...world.submissions.rows.values()];
    for (let failovers = 0; failovers < 2; failovers++) {
      const leaseUntilMs = Date.now() + LEASE_MS;
      world.submissions.rows.set(row!.messageHash, { ...row!, outcome: undefined, owner: "b", leaseUntilMs });
      await rest(100);
      expect(await a.find(principal, trade.signature)).toMatchObject({ slot: SLOT, result: {} });
      await rest(100);
      expect(world.submissions.rows.get(row!.messageHash)?.outcome).toBe(row!.outcome);
      expect(await b.find(principal, trade.signature)).toMatchObject({ slot: SLOT, result: {} });
    }
  });
});

describe("a landing that a failed-over database lacks", () => {
  it("is written again though another process has recorded an expiry there meanwhile", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const { trade } = await submitOne(b);
    const failOver = world.submissions.copy();
    const other = resigned(trade);
    const answer = boxOf(a.submit(other));
    await rest(200);
    land("a", other.signature);
    await rest(100);
    expect(answer.value).toMatchObject({ status: "confirmed", slot: SLOT });
    failOver();
    world.finding = UNSERVED;
    expire("b", trade.signature);
    await rest(LEASE_MS);
    for (const one of [startProcess("c"), a, b]) {
      for (const { signature } of [trade, other])
        expect(await one.find(principal, signature)).toMatchObject({ signature, slot: SLOT });
    }
  });
});

describe("a message that expired under its further signature last", () => {
  it("is written again as it was answered, so that every process answers it", async () => {
    const a = startProcess("a");
    const { trade, other, answer } = await submitTwice(a);
    expire("a", trade.signature);
    expire("a", other.signature);
    await rest(100);
    expect(answer.error).toMatchObject({ code: "TX_EXPIRED", facts: { safeToRebuild: true } });
    const [row] = [...world.submissions.rows.values()];
    world.submissions.rows.clear();
    await rest(LEASE_MS / 2);
    const { outcome, signature } = world.submissions.rows.get(row!.messageHash)!;
    expect({ outcome, signature }).toEqual({ outcome: row!.outcome, signature: row!.signature });
    const b = startProcess("b");
    for (const one of [trade, other])
      await expect(b.find(principal, one.signature)).rejects.toMatchObject({ code: "TX_EXPIRED" });
  });
});

describe("an outcome that the database does not take", () => {
  const refuse = () => Promise.reject(new Error("refused"));

  it("is on record before it is answered, if that takes no longer than an answer waits", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const { trade, answer } = await submitOne(a);
    const writing = vi.spyOn(world.submissions, "finish").mockImplementation(refuse);
    expire("a", trade.signature);
    await rest(1_500);
    expect(answer.error).toBeUndefined();
    writing.mockRestore();
    await rest(250);
    expect(answer.error).toMatchObject({ code: "TX_EXPIRED" });
    const other = boxOf(b.submit(trade));
    await rest(10);
    expect(other.error).toMatchObject({ code: "TX_EXPIRED" });
  });

  it("is written once the database is back, although it was away for longer than ends are looked for", async () => {
    const a = startProcess("a");
    world.submissions.isDown = true;
    const { trade, answer } = await submitOne(a);
    land("a", trade.signature);
    await rest(3_000);
    expect(answer.value).toMatchObject({ status: "confirmed" });
    await rest(3_600_000);
    world.submissions.isDown = false;
    await rest(LEASE_MS);
    expect([...world.submissions.rows.values()].map(({ outcome }) => outcome)).toEqual([expect.any(String)]);
    await rest(300_000);
    const reading = vi.spyOn(world.submissions, "digestsAmong");
    await rest(LEASE_MS);
    expect(reading).not.toHaveBeenCalled();
  });

  it("is answered without, and written by one writer, however long it takes", async () => {
    const a = startProcess("a");
    const { trade, answer } = await submitOne(a);
    const writing = vi.spyOn(world.submissions, "finish").mockImplementation(refuse);
    land("a", trade.signature);
    await rest(2_100);
    expect(answer.value).toMatchObject({ status: "confirmed" });
    const before = writing.mock.calls.length;
    await rest(60_000);
    expect(writing.mock.calls.length - before).toBeLessThanOrEqual(60);
    writing.mockRestore();
    await rest(1_000);
    expect([...world.submissions.rows.values()].map(({ outcome }) => outcome)).toEqual([expect.any(String)]);
  });
});
