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
  signedTrade,
  startProcess,
  submitOne,
  useSubmitWorld,
} from "../../../test/support/submit-world.ts";
import { createTestWallet } from "../../../test/support/wallet.ts";

const world = useSubmitWorld();

describe("submits of the same bytes", () => {
  it("are one attempt in a process, and one across processes: all get the same answer", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    const answers = [a, a, b].map((one) => boxOf(one.submit(trade)));
    await rest(300);
    expect([...world.inFlight.keys()]).toEqual([`a ${trade.signature}`]);
    land("a", trade.signature);
    await rest(300);
    const [first, ...others] = answers.map(({ value }) => value!);
    expect(first).toMatchObject({ status: "confirmed", slot: SLOT, result: { inAmount: 100_000n, outAmount: 42n } });
    for (const other of others) expect(other).toEqual(first);
  });

  it("are answered as pending in time; asking again returns the outcome", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    const early = boxOf(a.submit(trade));
    await rest(25_000);
    expect(early.value?.status).toBe("pending");
    expire("a", trade.signature);
    await rest(100);
    for (const one of [a, b]) {
      const late = boxOf(one.submit(trade));
      await rest(300);
      expect(late.error).toMatchObject({ code: "TX_EXPIRED", facts: { safeToRebuild: true } });
      expect(late.error!.facts.details).toMatchObject({
        diagnosis: "unknown",
        remedy: expect.stringMatching(/^Build/),
      });
    }
  });
});

it("a submit keeps the transaction's bytes alone, not the memory that they came in", async () => {
  const trade = signedTrade();
  const received = Buffer.concat([new Uint8Array(4_096), trade.signedTransaction]).subarray(4_096);
  boxOf(startProcess("a").submit({ ...trade, signedTransaction: received }));
  await rest(10);
  const { transaction } = world.inFlight.get(`a ${trade.signature}`)!.order;
  expect(transaction).toEqual(trade.signedTransaction);
  expect(transaction.buffer.byteLength).toBe(received.length);
});

describe("several signatures of one message", () => {
  it("are all sent and followed, and every process reports the one that lands", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    const other = resigned(trade);
    const answers = [boxOf(a.submit(trade)), boxOf(a.submit(other))];
    await rest(10);
    expect([...world.inFlight.keys()].toSorted()).toEqual([`a ${trade.signature}`, `a ${other.signature}`].toSorted());
    expire("a", trade.signature);
    await rest(10);
    expect(answers[0]!.error).toBeUndefined();
    land("a", other.signature);
    await rest(200);
    for (const { value } of answers) expect(value).toMatchObject({ status: "confirmed", signature: other.signature });
    expect(await b.find(principal, other.signature)).toMatchObject({ signature: other.signature, slot: SLOT });
    const late = boxOf(b.submit(trade));
    await rest(200);
    expect(late.value).toMatchObject({ status: "finalized", signature: other.signature });
  });

  it("are followed by a process that joined with the first, once it gets the second", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    const other = resigned(trade);
    boxOf(a.submit(trade));
    await rest(10);
    const joined = boxOf(b.submit(trade));
    await rest(300);
    expect([...world.inFlight.keys()]).toEqual([`a ${trade.signature}`]);
    boxOf(b.submit(other));
    await rest(300);
    land("b", other.signature);
    await rest(200);
    expect(joined.value).toMatchObject({ status: "confirmed", signature: other.signature });
  });

  it("are followed by the process that gets the second while another holds the first", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    const other = resigned(trade);
    const first = boxOf(a.submit(trade));
    await rest(10);
    boxOf(b.submit(other));
    await rest(200);
    expect([...world.inFlight.keys()]).toContain(`b ${other.signature}`);
    land("b", other.signature);
    await rest(200);
    expire("a", trade.signature);
    await rest(200);
    land("a", other.signature);
    await rest(200);
    expect(first.value).toMatchObject({ status: "confirmed", slot: SLOT });
  });
});

describe("a further signature of a message", () => {
  it("is stored before it is sent, and followed by the process that takes over", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    const other = resigned(trade);
    boxOf(a.submit(trade));
    await rest(10);
    const store = world.submissions.addSignature;
    const storing = vi.spyOn(world.submissions, "addSignature").mockImplementation(async (messageHash, form) => {
      await rest(0);
      expect([...world.inFlight.keys()]).toEqual([`a ${trade.signature}`]);
      await store(messageHash, form);
    });
    boxOf(a.submit(other));
    await rest(10);
    expect(storing).toHaveBeenCalledTimes(1);
    expect([...world.inFlight.keys()]).toContain(`a ${other.signature}`);
    const renewed = vi.spyOn(world.submissions, "renew").mockImplementation(async (hashes) => hashes);
    await rest(LEASE_MS + 1_100);
    renewed.mockRestore();
    expect([...world.inFlight.keys()]).toContain(`b ${other.signature}`);
    land("b", other.signature);
    await rest(100);
    expect(await b.find(principal, other.signature)).toMatchObject({ slot: SLOT, result: {} });
  });

  it("is sent at once while the database is away, and stored when it is back", async () => {
    const a = startProcess("a");
    const trade = signedTrade();
    const other = resigned(trade);
    boxOf(a.submit(trade));
    await rest(10);
    world.submissions.isDown = true;
    boxOf(a.submit(other));
    await rest(10);
    expect([...world.inFlight.keys()]).toContain(`a ${other.signature}`);
    world.submissions.isDown = false;
    await rest(1_100);
    const [messageHash] = [...world.submissions.rows.keys()];
    expect((await world.submissions.signaturesOf(messageHash!)).map(({ signature }) => signature)).toEqual([
      trade.signature,
      other.signature,
    ]);
  });

  it("stored by another process is followed before the message is ruled expired", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    const other = resigned(trade);
    const first = boxOf(a.submit(trade));
    await rest(10);
    boxOf(b.submit(other));
    await rest(300);
    expire("a", trade.signature);
    await rest(100);
    expect(first.error).toBeUndefined();
    land("a", other.signature);
    await rest(100);
    expect(first.value).toMatchObject({ status: "confirmed", signature: other.signature });
  });

  it("sent elsewhere is found in the wallet's history before the message is ruled expired", async () => {
    const a = startProcess("a");
    const trade = signedTrade();
    const other = resigned(trade);
    const answer = boxOf(a.submit(trade));
    await rest(10);
    const absent = world.finding;
    world.finding = { kind: "found", transaction: other.signedTransaction, sinceMs: 1, isRemembered: true };
    expire("a", trade.signature);
    await rest(10);
    world.finding = absent;
    land("a", other.signature);
    await rest(10);
    expect(answer.value).toMatchObject({ status: "confirmed", signature: other.signature });
  });

  it("that a node has made up is not followed", async () => {
    const a = startProcess("a");
    const trade = signedTrade();
    const answer = boxOf(a.submit(trade));
    await rest(10);
    const absent = world.finding;
    const forged = trade.signedTransaction.slice();
    forged[5]! ^= 1;
    world.finding = { kind: "found", transaction: forged, sinceMs: 1, isRemembered: true };
    expire("a", trade.signature);
    await rest(500);
    world.finding = absent;
    await rest(1_000);
    expect(world.inFlight.size).toBe(1);
    expect(answer.error?.code).toBe("TX_EXPIRED");
  });
});

describe("a message that has expired", () => {
  const HOUR_MS = 3_600_000;
  const times = { sinceMs: 10_000, isRemembered: true };
  it.each([
    [
      "expired, proven by the wallet's history",
      { kind: "absent", reachesBack: true, witnesses: 2, ...times },
      "TX_EXPIRED",
      true,
    ],
    ["expired for what was submitted here, without a history", { kind: "unserved", ...times }, "TX_EXPIRED", false],
    [
      "expired for what was submitted here, if the history does not reach back to the build",
      { kind: "absent", reachesBack: false, witnesses: 2, ...times },
      "TX_EXPIRED",
      false,
    ],
    [
      "expired, although the nodes no longer remember statuses, if their history reaches back",
      { kind: "absent", reachesBack: true, witnesses: 2, sinceMs: HOUR_MS, isRemembered: false },
      "TX_EXPIRED",
      true,
    ],
    [
      "unknown, if the nodes no longer remember and their history does not reach back",
      { kind: "absent", reachesBack: false, witnesses: 2, sinceMs: HOUR_MS, isRemembered: false },
      "OUTCOME_UNKNOWN",
      false,
    ],
    [
      "unknown, if the nodes no longer remember and serve no history",
      { kind: "unserved", sinceMs: HOUR_MS, isRemembered: false },
      "OUTCOME_UNKNOWN",
      false,
    ],
    [
      "unknown, once the history is no longer relied on",
      { kind: "absent", reachesBack: true, witnesses: 2, sinceMs: 25 * HOUR_MS, isRemembered: false },
      "OUTCOME_UNKNOWN",
      false,
    ],
  ] as const)("is %s", async (_what, finding, code, safeToRebuild) => {
    const a = startProcess("a");
    const trade = signedTrade();
    const answer = boxOf(a.submit(trade));
    await rest(10);
    world.finding = finding;
    expire("a", trade.signature);
    await rest(10);
    expect(answer.error).toMatchObject({ code, facts: { safeToRebuild } });
  });

  it("is unknown if its token expired longer ago than history is relied on, whatever the blocks say", async () => {
    const a = startProcess("a");
    const trade = signedTrade();
    await rest(25 * HOUR_MS);
    const answer = boxOf(a.submit(trade));
    await rest(10);
    expire("a", trade.signature);
    await rest(10);
    expect(answer.error).toMatchObject({ code: "OUTCOME_UNKNOWN", facts: { safeToRebuild: false } });
  });
});

describe("while the database is away", () => {
  it("a submit is broadcast and answered, found again, and recorded when the database is back", async () => {
    const a = startProcess("a");
    const trade = signedTrade();
    world.submissions.isDown = true;
    const answer = boxOf(a.submit(trade));
    await rest(10);
    expect(world.inFlight.size).toBe(1);
    land("a", trade.signature);
    await rest(10);
    expect(answer.value).toMatchObject({ status: "confirmed", slot: SLOT });
    expect(await a.find(principal, trade.signature)).toMatchObject({ status: "finalized", slot: SLOT });
    await expect(a.find({ ...principal, accountId: "acc_2" }, trade.signature)).rejects.toThrow("database");
    world.submissions.isDown = false;
    await rest(1_100);
    const [row] = world.submissions.rows.values();
    expect(row).toMatchObject({ signature: trade.signature, submissionToken: trade.submissionToken });
    expect(row?.outcome).toContain('"confirmed"');
  });

  it("a claim is written once the database is back, while the trade is pending", async () => {
    const a = startProcess("a");
    const trade = signedTrade();
    world.submissions.isDown = true;
    boxOf(a.submit(trade));
    await rest(2_000);
    world.submissions.isDown = false;
    await rest(1_100);
    const [row] = world.submissions.rows.values();
    expect(row).toMatchObject({ owner: "a", outcome: undefined });
    expect(row!.leaseUntilMs).toBeGreaterThan(Date.now());
  });
});

describe("a submit for another wallet than the key's", () => {
  it("is refused before anything is sent or written, even for the same account", async () => {
    const a = startProcess("a");
    const trade = signedTrade();
    const stranger = createTestWallet(new Uint8Array(32).fill(6)).address;
    await expect(a.submit({ ...trade, principal: { ...principal, wallet: stranger } })).rejects.toMatchObject({
      code: "WALLET_MISMATCH",
    });
    await rest(300);
    expect(world.inFlight.size).toBe(0);
    expect(world.submissions.rows.size).toBe(0);
  });
});

describe("an expiry that covers only what was submitted", () => {
  it.each(["a", "b"])(
    "does not answer for a signature submitted later, to process %s: it is looked for",
    async (owner) => {
      const both = { a: startProcess("a"), b: startProcess("b") };
      const { trade, answer } = await submitOne(both.a);
      world.finding = { kind: "unserved", sinceMs: 10_000, isRemembered: true };
      expire("a", trade.signature);
      await rest(2_000);
      expect(answer.error).toMatchObject({ code: "TX_EXPIRED", facts: { safeToRebuild: false } });
      const other = resigned(trade);
      const late = boxOf(both[owner as "a" | "b"].submit(other));
      await rest(1_000);
      land(owner, other.signature);
      await rest(1_000);
      expect(late.value).toMatchObject({ status: "confirmed", slot: SLOT, signature: other.signature });
      for (const one of [both.a, both.b]) {
        for (const form of [trade, other]) {
          const again = boxOf(one.submit(form));
          await rest(3_000);
          expect(again.value).toMatchObject({ slot: SLOT, signature: other.signature });
        }
      }
    },
  );

  it("is not its end to those who look it up either, until it has expired too; that is on record then", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const { trade } = await submitOne(a);
    world.finding = { kind: "unserved", sinceMs: 10_000, isRemembered: true };
    world.progress = undefined;
    expire("a", trade.signature);
    await rest(2_000);
    const other = resigned(trade);
    boxOf(b.submit(other));
    await rest(1_000);
    const look = async (one: typeof a, signature: string) => {
      const found = boxOf(one.find(principal, signature));
      await rest(1_000);
      return found;
    };
    const all = [a, b, startProcess("c")];
    for (const one of all) {
      expect((await look(one, other.signature)).value).toMatchObject({ status: "pending", signature: other.signature });
      expect((await look(one, trade.signature)).error).toMatchObject({ code: "TX_EXPIRED" });
    }
    // The process that was asked follows it, too, because the one that got the submit may be gone.
    for (const owner of ["a", "b", "c"])
      for (const { signature } of [trade, other]) world.inFlight.get(`${owner} ${signature}`)?.end({ kind: "expired" });
    await rest(2_000);
    const signatures = [trade, other].map(({ signature }) => signature).toSorted();
    world.inFlight.clear();
    for (const one of [...all, startProcess("d")]) {
      for (const { signature } of [trade, other]) {
        const { error } = await look(one, signature);
        expect(error).toMatchObject({ code: "TX_EXPIRED", facts: { safeToRebuild: false } });
      }
    }
    const { error } = await look(startProcess("e"), other.signature);
    expect(`${error?.facts.details?.signatures}`.split(", ").toSorted()).toEqual(signatures);
    expect(world.inFlight.size).toBe(0);
  });

  it.each(["a", "b"])("stands in all processes beside another, at %s, that is too old to tell", async (owner) => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const { trade } = await submitOne(a);
    world.finding = { kind: "unserved", sinceMs: 10_000, isRemembered: true };
    expire("a", trade.signature);
    await rest(2_000);
    world.finding = { kind: "unserved", sinceMs: 400_000, isRemembered: false };
    const other = resigned(trade);
    const late = boxOf((owner === "a" ? a : b).submit(other));
    await rest(1_000);
    for (const { signature } of [trade, other]) expire(owner, signature);
    await rest(2_000);
    expect(late.error).toMatchObject({ code: "OUTCOME_UNKNOWN", facts: { safeToRebuild: false } });
    world.inFlight.clear();
    for (const one of [a, b, startProcess("c")]) {
      for (const form of [trade, other]) {
        const [again, found] = [boxOf(one.submit(form)), boxOf(one.find(principal, form.signature))];
        await rest(1_000);
        const code = form === trade ? "TX_EXPIRED" : "OUTCOME_UNKNOWN";
        for (const { error } of [again, found])
          expect(error).toMatchObject({ code, facts: { details: { signature: form.signature } } });
      }
    }
    expect(world.inFlight.size).toBe(0);
  });

  it.each([
    ["its own", { kind: "unserved", sinceMs: 10_000, isRemembered: true }],
    ["the message", { kind: "absent", reachesBack: true, witnesses: 2, sinceMs: 10_000, isRemembered: true }],
  ] as const)("that is too old to tell stays so, once another is shown to have expired: %s", async (_what, shown) => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    world.progress = undefined;
    const { trade, answer } = await submitOne(a);
    world.finding = { kind: "unserved", sinceMs: 400_000, isRemembered: false };
    expire("a", trade.signature);
    await rest(2_000);
    expect(answer.error?.code).toBe("OUTCOME_UNKNOWN");
    world.finding = shown;
    const other = resigned(trade);
    const late = boxOf(b.submit(other));
    await rest(1_000);
    for (const { signature } of [trade, other]) expire("b", signature);
    await rest(2_000);
    world.inFlight.clear();
    for (const one of [b, a, startProcess("c")]) {
      for (const form of [trade, other]) {
        const [again, found] = [boxOf(one.submit(form)), boxOf(one.find(principal, form.signature))];
        await rest(1_000);
        const { error } = form === trade ? answer : late;
        for (const told of [again, found]) expect(told.error).toMatchObject({ code: error!.code });
      }
    }
    expect(world.inFlight.size).toBe(0);
  });

  it.each([true, false])(
    "is no reason to look for more once it covers as many signatures as are followed: remembered %s",
    async (isRemembered) => {
      const [a, b] = [startProcess("a"), startProcess("b")];
      const { trade, answer } = await submitOne(a);
      world.finding = { kind: "unserved", sinceMs: 10_000, isRemembered };
      expire("a", trade.signature);
      await rest(2_000);
      let followed = 1;
      for (let nonce = 1n; nonce <= 12n; nonce++) {
        world.inFlight.clear();
        const late = boxOf((nonce % 2n === 0n ? a : b).submit(resigned(trade, nonce)));
        for (let turn = 0; turn < 3; turn++) {
          await rest(1_000);
          for (const { end } of world.inFlight.values()) end({ kind: "expired" });
        }
        if (world.inFlight.size > 0) followed++;
        expect(late.error?.code).toBe(nonce < 4n ? answer.error?.code : "OUTCOME_UNKNOWN");
      }
      expect(followed).toBe(4);
      for (const one of [a, b]) {
        for (const [nonce, code] of [
          [2n, answer.error?.code],
          [12n, "OUTCOME_UNKNOWN"],
        ] as const) {
          const again = boxOf(one.submit(resigned(trade, nonce)));
          await rest(1_000);
          expect(again.error?.code).toBe(code);
        }
      }
      const stored = await world.submissions.signaturesOf([...world.submissions.rows.keys()][0]!);
      expect(new Set(stored.map(({ signature }) => signature)).size).toBe(4);
    },
  );

  it("answers for it where it was seen to expire, too, and goes on to answer for the first", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const { trade } = await submitOne(a);
    world.finding = { kind: "unserved", sinceMs: 10_000, isRemembered: true };
    expire("a", trade.signature);
    await rest(2_000);
    const other = resigned(trade);
    const late = boxOf(b.submit(other));
    await rest(1_000);
    for (const { signature } of [trade, other]) expire("b", signature);
    await rest(2_000);
    expect(late.error).toMatchObject({ code: "TX_EXPIRED", facts: { safeToRebuild: false } });
    world.inFlight.clear();
    const again = boxOf(b.submit(other));
    await rest(1_000);
    expect(again.error).toMatchObject({ code: "TX_EXPIRED" });
    const elsewhere = boxOf(a.submit(trade));
    await rest(1_000);
    expect(elsewhere.error).toMatchObject({ code: "TX_EXPIRED" });
    expect(world.inFlight.size).toBe(0);
  });
});
