import { beforeEach, describe, expect, it, vi } from "vitest";
import {
  boxOf,
  expire,
  LEASE_MS,
  land,
  principal,
  resigned,
  rest,
  SLOT,
  startBehind,
  startProcess,
  submitOne,
  twinOf,
  useSubmitWorld,
} from "../../../test/support/submit-world.ts";
import type { MessageFinding } from "../../chain/port.ts";
import type { Submitter } from "./submit-trade.ts";

const world = useSubmitWorld();
const refuse = () => Promise.reject(new Error("refused"));

let a: Submitter;
let b: Submitter;
beforeEach(() => {
  a = startProcess("a");
  b = startProcess("b");
});

describe("a process that waits for another one's outcome", () => {
  it.each([
    ["cannot read the record for a while", () => void Object.assign(world.submissions, { isDown: true })],
    ["finds the record gone with the server that had it", () => world.submissions.rows.clear()],
  ])("rules nothing beside it while its lease lasts, if it %s", async (_what, fail) => {
    const { trade, answer } = await submitOne(a);
    const joined = boxOf(b.submit(trade));
    await rest(10);
    fail();
    await rest(1_000);
    world.submissions.isDown = false;
    await rest(LEASE_MS / 2);
    expect([...world.inFlight.keys()]).toEqual([`a ${trade.signature}`]);
    land("a", trade.signature);
    await rest(1_000);
    expect(answer.value).toMatchObject({ status: "confirmed", witnesses: 2 });
    expect(joined.value).toEqual(answer.value);
  });

  it("drives the trade itself once the lease is over, though the database is away", async () => {
    const { trade } = await submitOne(a);
    boxOf(b.submit(trade));
    await rest(10);
    world.submissions.isDown = true;
    await rest(LEASE_MS + 1_000);
    expect([...world.inFlight.keys()]).toContain(`b ${trade.signature}`);
  });
});

/** The database answers the next claim later than a broadcast waits for it. */
function delayClaim(): void {
  const { claim } = world.submissions;
  vi.spyOn(world.submissions, "claim").mockImplementationOnce(async (...parameters) => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    return claim(...parameters);
  });
}

/** A trade that both processes drive: the second one's claim took too long. */
async function drivenByBoth() {
  const one = await submitOne(a);
  delayClaim();
  const beside = boxOf(b.submit(one.trade));
  await rest(250);
  expect([...world.inFlight.keys()]).toContain(`b ${one.trade.signature}`);
  return { ...one, beside };
}

/** Process "a" follows one signature and "b" another, which the database does not take. */
async function submittedUnstored() {
  const { trade, answer } = await submitOne(a);
  const other = resigned(trade);
  const storing = vi.spyOn(world.submissions, "addSignature").mockImplementation(refuse);
  const second = boxOf(b.submit(other));
  await rest(200);
  return { trade, answer, other, second, storing };
}

describe("a message that has ended on record", () => {
  it("ends for a process as soon as its claim is answered, however late, though no node shows it", async () => {
    const { trade, answer } = await submitOne(a);
    land("a", trade.signature);
    await rest(10);
    delayClaim();
    const again = boxOf(b.submit(trade));
    await rest(210);
    expect(again.value).toEqual(answer.value);
  });
});

describe("a message signed twice, each time submitted to another process", () => {
  it.each(["a", "b"])(
    "ends at both soon after process %s has recorded that it landed, though the nodes of the other show nothing",
    async (name) => {
      const { trade, answer } = await submitOne(a);
      const other = resigned(trade);
      const second = boxOf(b.submit(other));
      await rest(10);
      const third = resigned(trade, 5n);
      const lands = name === "a" ? third : other;
      if (name === "a") boxOf(a.submit(third));
      await rest(10);
      land(name, lands.signature);
      await rest(3_000);
      for (const { value } of [answer, second])
        expect(value).toMatchObject({ status: "confirmed", signature: lands.signature });
    },
  );

  it("does not end at the second by an expiry that covers only what the first knew of, and is corrected once it has landed", async () => {
    const { trade, answer, other, second, storing } = await submittedUnstored();
    world.finding = { kind: "unserved", sinceMs: 10_000, isRemembered: true };
    expire("a", trade.signature);
    await rest(3_000);
    expect(answer.error).toMatchObject({ code: "TX_EXPIRED", facts: { safeToRebuild: false } });
    expect([second.value, second.error]).toEqual([undefined, undefined]);
    storing.mockRestore();
    land("b", other.signature);
    await rest(3_000);
    expect(second.value).toMatchObject({ status: "confirmed", signature: other.signature });
    expect(await a.find(principal, trade.signature)).toMatchObject({ slot: SLOT });
    const again = boxOf(a.submit(trade));
    await rest(300);
    expect(again.value).toMatchObject({ signature: other.signature, slot: SLOT });
  });

  it("is corrected though the database takes no correction for a while", async () => {
    const { trade, answer, other, second, storing } = await submittedUnstored();
    world.finding = { kind: "unserved", sinceMs: 10_000, isRemembered: true };
    expire("a", trade.signature);
    await rest(3_000);
    expect(answer.error).toMatchObject({ code: "TX_EXPIRED", facts: { safeToRebuild: false } });
    storing.mockRestore();
    const replacing = vi.spyOn(world.submissions, "replaceOutcome").mockImplementation(refuse);
    land("b", other.signature);
    await rest(10_000);
    expect(second.value).toMatchObject({ status: "confirmed", signature: other.signature });
    replacing.mockRestore();
    await rest(2_000);
    for (const one of [a, b, startProcess("c")]) {
      expect(await one.find(principal, trade.signature)).toMatchObject({ slot: SLOT });
      const again = boxOf(one.submit(trade));
      await rest(300);
      expect(again.value).toMatchObject({ signature: other.signature, slot: SLOT });
    }
  });

  it("is told under the signature that landed, if that is recorded while the first is ruled expired", async () => {
    const { trade, answer, other, second } = await submittedUnstored();
    const { finish } = world.submissions;
    const finishing = vi.spyOn(world.submissions, "finish").mockImplementationOnce(async (...end) => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      return finish(...end);
    });
    world.finding = { kind: "unserved", sinceMs: 10_000, isRemembered: true };
    expire("a", trade.signature);
    await rest(200);
    land("b", other.signature);
    await rest(2_000);
    finishing.mockRestore();
    for (const { value } of [second, answer])
      expect(value).toMatchObject({ status: "confirmed", signature: other.signature });
    const again = boxOf(a.submit(trade));
    await rest(300);
    expect(again.value).toMatchObject({ signature: other.signature, slot: SLOT });
  });

  it("is told as landed at both, though the first had called it too old to tell", async () => {
    const { trade, answer, other, second, storing } = await submittedUnstored();
    world.finding = { kind: "unserved", sinceMs: 10_000, isRemembered: false };
    expire("a", trade.signature);
    await rest(3_000);
    expect(answer.error).toMatchObject({ code: "OUTCOME_UNKNOWN", facts: { safeToRebuild: false } });
    storing.mockRestore();
    land("b", other.signature);
    await rest(3_000);
    expect(second.value).toMatchObject({ status: "confirmed", signature: other.signature });
    expect(await b.find(principal, trade.signature)).toMatchObject({ slot: SLOT });
    const again = boxOf(a.submit(trade));
    await rest(300);
    expect(again.value).toMatchObject({ signature: other.signature, slot: SLOT });
  });

  it("is answered from memory as expired while the database is away, and until the record says otherwise", async () => {
    const { trade, answer } = await submitOne(a);
    world.finding = { kind: "unserved", sinceMs: 10_000, isRemembered: true };
    expire("a", trade.signature);
    await rest(100);
    for (const isDown of [false, true, false]) {
      world.submissions.isDown = isDown;
      const again = boxOf(a.submit(trade));
      await rest(300);
      expect(again.error).toEqual(answer.error);
    }
  });

  it("ends at the second by an expiry that is proven for every signature", async () => {
    const { trade } = await submitOne(a);
    const second = boxOf(b.submit(resigned(trade)));
    await rest(10);
    expire("a", trade.signature);
    await rest(10);
    expire("a", resigned(trade).signature);
    await rest(3_000);
    expect(second.error).toMatchObject({ code: "TX_EXPIRED", facts: { safeToRebuild: true } });
  });
});

describe("an end that a process has answered while the database was away from it alone", () => {
  const EXPIRED: MessageFinding = {
    kind: "absent",
    reachesBack: true,
    witnesses: 2,
    sinceMs: 10_000,
    isRemembered: true,
  };
  const HERE: MessageFinding = { kind: "unserved", sinceMs: 10_000, isRemembered: true };
  const TOO_OLD: MessageFinding = { ...EXPIRED, sinceMs: 2 * 86_400_000 };

  it.each([
    ["OUTCOME_UNKNOWN", TOO_OLD, "TX_EXPIRED", EXPIRED],
    ["OUTCOME_UNKNOWN", TOO_OLD, "TX_EXPIRED", HERE],
    ["TX_EXPIRED", EXPIRED, "OUTCOME_UNKNOWN", TOO_OLD],
    ["TX_EXPIRED", EXPIRED, "TX_EXPIRED", HERE],
  ])(
    "is its answer no more once the record has another: %s, %o, and %s, %o",
    async (code, seen, recorded, seenByOther) => {
      const c = startBehind("c");
      c.isCutOff = true;
      const { trade, answer } = await submitOne(c.submitter);
      const elsewhere = boxOf(b.submit(trade));
      await rest(200);
      world.finding = seen;
      expire("c", trade.signature);
      await rest(3_000);
      expect(answer.error).toMatchObject({ code });
      world.finding = seenByOther;
      expire("b", trade.signature);
      await rest(3_000);
      expect(elsewhere.error).toMatchObject({ code: recorded });
      c.isCutOff = false;
      await rest(2_000);
      world.inFlight.clear();
      for (const one of [c.submitter, b, startProcess("d"), c.submitter]) {
        const again = boxOf(one.submit(trade));
        await rest(500);
        const found = boxOf(one.find(principal, trade.signature));
        await rest(500);
        for (const { error } of [again, found]) expect(error).toEqual(elsewhere.error);
      }
      expect(world.inFlight.size).toBe(0);
      await b.close();
      const [row] = [...world.submissions.rows.values()];
      world.submissions.rows.clear();
      await rest(LEASE_MS);
      expect([...world.submissions.rows.values()]).toMatchObject([{ outcome: row!.outcome }]);
    },
  );
});

describe("a trade that lands under a signature of a process that is cut off from the database", () => {
  const UNSERVED: MessageFinding = { kind: "unserved", sinceMs: 10_000, isRemembered: true };

  /** Process "c" follows another signature than "b" does, and neither knows of the other's. */
  async function submittedApart(build = (trade: ReturnType<typeof resigned>) => trade) {
    const c = startBehind("c");
    c.isCutOff = true;
    const { trade, answer } = await submitOne(b);
    const other = resigned(build(trade));
    const apart = boxOf(c.submitter.submit(other));
    await rest(200);
    world.finding = UNSERVED;
    return { c, trade, answer, other, apart };
  }

  /** What every process says of both signatures. */
  async function expectLanded(processes: readonly Submitter[], ...forms: readonly ReturnType<typeof resigned>[]) {
    const signature = forms.at(-1)!.signature;
    for (const one of processes) {
      for (const form of forms) {
        expect(await one.find(principal, form.signature)).toMatchObject({ signature: form.signature, slot: SLOT });
        const again = boxOf(one.submit(form));
        await rest(300);
        expect(again.value).toMatchObject({ signature, slot: SLOT });
      }
    }
  }

  it.each([1_000, 3_600_000])(
    "is corrected once it is back, %i ms later, where another one had expired",
    async (ms) => {
      const { c, trade, answer, other, apart } = await submittedApart();
      expire("b", trade.signature);
      await rest(3_000);
      expect(answer.error).toMatchObject({ code: "TX_EXPIRED" });
      land("c", other.signature);
      await rest(3_000);
      expect(apart.value).toMatchObject({ status: "confirmed", signature: other.signature });
      await rest(ms);
      c.isCutOff = false;
      await rest(4_000);
      await expectLanded([startProcess("d"), c.submitter, b], trade, other);
    },
  );

  it.each(["alive", "dead"])(
    "is found by both once it is back, though the process of the first is %s",
    async (state) => {
      const { c, trade, other } = await submittedApart();
      if (state === "dead") await b.close();
      land("c", other.signature);
      c.isCutOff = false;
      await rest(4_000);
      await expectLanded([startProcess("d"), c.submitter], trade, other);
    },
  );

  it("is corrected once it is back, though the record is that of another build of the message", async () => {
    const { c, trade, other } = await submittedApart(twinOf);
    expire("b", trade.signature);
    await rest(3_000);
    land("c", other.signature);
    await rest(3_000);
    c.isCutOff = false;
    await rest(4_000);
    for (const one of [startProcess("d"), b]) {
      expect(await one.find(principal, trade.signature)).toMatchObject({ slot: SLOT });
      const [again, refused] = [boxOf(one.submit(trade)), boxOf(one.submit(other))];
      await rest(300);
      expect(again.value).toMatchObject({ signature: other.signature, slot: SLOT });
      expect(refused.error).toMatchObject({ code: "CONFLICT_ERROR" });
    }
  });

  it.each(["has ended", "is followed", "is followed by nobody"])(
    "is found by that process itself, though another build has the message, which %s, and its own nodes had shown nothing either",
    async (state) => {
      const { c, trade, answer, other } = await submittedApart(twinOf);
      if (state === "has ended") expire("b", trade.signature);
      if (state === "is followed by nobody") await b.close();
      await rest(3_000);
      const before = world.inFlight.get(`c ${other.signature}`);
      c.isCutOff = false;
      await rest(LEASE_MS);
      expect(world.inFlight.get(`c ${other.signature}`)).not.toBe(before);
      land("c", other.signature);
      await rest(4_000);
      if (state !== "has ended") expire("b", trade.signature);
      await rest(4_000);
      if (state === "is followed") expect(answer.value).toMatchObject({ signature: other.signature, slot: SLOT });
      for (const one of [startProcess("d"), c.submitter]) {
        expect(await one.find(principal, trade.signature)).toMatchObject({ slot: SLOT });
        const [again, refused] = [boxOf(one.submit(trade)), boxOf(one.submit(other))];
        await rest(300);
        expect(again.value).toMatchObject({ signature: other.signature, slot: SLOT });
        expect(refused.error).toMatchObject({ code: "CONFLICT_ERROR" });
      }
    },
  );

  it("is not corrected again once its own block was undone, and that is final on record", async () => {
    const { c, trade, other } = await submittedApart();
    expire("b", trade.signature);
    await rest(3_000);
    const [expired] = [...world.submissions.rows.values()];
    land("c", other.signature, { InstructionError: [0, { Custom: 1 }] });
    c.isCutOff = false;
    await rest(4_000);
    const [corrected] = [...world.submissions.rows.values()];
    expect(corrected!.outcome).not.toBe(expired!.outcome);
    await world.submissions.replaceOutcome(expired!, corrected!, expired!.outcome!, true);
    await rest(10_000);
    expect([...world.submissions.rows.values()]).toMatchObject([{ outcome: expired!.outcome, isFinalized: true }]);
  });

  it("is corrected again after a failover that has lost the correction", async () => {
    const { c, trade, other } = await submittedApart();
    expire("b", trade.signature);
    await rest(3_000);
    const failOver = world.submissions.copy();
    land("c", other.signature);
    c.isCutOff = false;
    await rest(4_000);
    await expectLanded([startProcess("d"), c.submitter, b], trade, other);
    failOver();
    await rest(LEASE_MS);
    await expectLanded([startProcess("e"), c.submitter, b], trade, other);
  });
});

describe("a trade that two processes drive", () => {
  it("has the answer on record at both, though the database takes no writes when the second one rules", async () => {
    const { trade, answer, beside } = await drivenByBoth();
    land("a", trade.signature);
    await rest(10);
    vi.spyOn(world.submissions, "finish").mockImplementation(refuse);
    land("b", trade.signature, null, 1);
    await rest(10);
    expect(answer.value).toMatchObject({ witnesses: 2 });
    expect(beside.value).toEqual(answer.value);
  });

  it("has the answer on record at both, though the database is away for a moment when the second one rules", async () => {
    const { trade, answer, beside } = await drivenByBoth();
    land("a", trade.signature);
    await rest(10);
    world.submissions.isDown = true;
    land("b", trade.signature, null, 1);
    await rest(1_000);
    expect(beside.value).toBeUndefined();
    world.submissions.isDown = false;
    await rest(250);
    expect(beside.value).toEqual(answer.value);
  });
});

describe("a process that drives a trade and whose nodes show nothing of it", () => {
  it("answers with the end that the other process has recorded, though it drives it beside that one", async () => {
    const { trade, beside } = await drivenByBoth();
    land("a", trade.signature);
    await rest(2_500);
    expect(beside.value).toMatchObject({ status: "confirmed", signature: trade.signature });
  });

  it("answers with it if the other process has taken the trade over, since no node answers this one", async () => {
    const { trade, answer } = await submitOne(a);
    world.cutOff.add("a");
    await rest(LEASE_MS + 1_100);
    land("b", trade.signature);
    await rest(2_500);
    expect(answer.value).toMatchObject({ status: "confirmed", signature: trade.signature });
  });

  it("records what it could not claim before, so that another one can take it over", async () => {
    world.cutOff.add("a");
    world.submissions.isDown = true;
    const { trade, answer } = await submitOne(a);
    world.submissions.isDown = false;
    await rest(1_100);
    expect([...world.submissions.rows.values()]).toMatchObject([{ owner: "a" }]);
    await rest(LEASE_MS + 1_100);
    land("b", trade.signature);
    await rest(1_100);
    expect(answer.value).toMatchObject({ status: "confirmed", signature: trade.signature });
  });
});
