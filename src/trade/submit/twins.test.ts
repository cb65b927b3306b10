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
  submitLanded,
  submitOne,
  twinOf,
  useSubmitWorld,
} from "../../../test/support/submit-world.ts";
import type { TradeQuery } from "../trade.ts";
import type { Submitter } from "./submit-trade.ts";

const world = useSubmitWorld();

/** How the submit of a build is refused whose message another build holds. */
const TAKEN = { code: "CONFLICT_ERROR", retryable: false, facts: { safeToRebuild: true, field: "submissionToken" } };

const EVERYTHING: TradeQuery = {
  most: 10,
  after: undefined,
  statuses: new Set(),
  sinceMs: undefined,
  untilMs: undefined,
};

/** Two processes, or one for both builds. */
const PLACES = [
  ["one process", () => [startProcess("a")]],
  ["two processes", () => [startProcess("a"), startProcess("b")]],
] as const satisfies readonly [string, () => Submitter[]][];

/** Submits both builds again, to every process and to one that has just started. */
async function submitAgain(
  processes: readonly Submitter[],
  trade: ReturnType<typeof signedTrade>,
  twin = twinOf(trade),
) {
  for (const one of [...processes, startProcess("new")]) {
    const [first, second] = [boxOf(one.submit(trade)), boxOf(one.submit(twin))];
    await rest(600);
    expect(first.error ?? first.value).toBeDefined();
    expect(first.error?.code).not.toBe(TAKEN.code);
    expect(second.value).toBeUndefined();
    expect(second.error).toMatchObject(TAKEN);
  }
}

describe.each(PLACES)("two builds of one message, submitted to %s", (_where, start) => {
  it("at once: one of them gets what moved, the other is refused, for ever", async () => {
    const processes = start();
    const [a] = processes;
    const trade = signedTrade();
    const twin = twinOf(trade);
    const first = boxOf(a!.submit(trade));
    const second = boxOf(processes.at(-1)!.submit(twin));
    await rest(300);
    expect([...world.inFlight.keys()]).toEqual([`a ${trade.signature}`]);
    expect(first).toEqual({ value: undefined, error: undefined });
    expect(second.error).toMatchObject(TAKEN);
    land("a", trade.signature);
    await rest(300);
    expect(first.value).toMatchObject({ status: "confirmed", slot: SLOT });
    await submitAgain(processes, trade, twin);
  });

  it.each([
    ["landed", (signature: string) => land("a", signature), undefined],
    ["failed on the chain", (signature: string) => land("a", signature, "AccountInUse"), "PROGRAM_ERROR"],
    ["expired", (signature: string) => expire("a", signature), "TX_EXPIRED"],
  ] as const)("one after the other, when the first has %s", async (_how, end, code) => {
    const processes = start();
    const { trade, answer } = await submitOne(processes[0]!);
    end(trade.signature);
    await rest(300);
    expect(answer.error?.code).toBe(code);
    const twin = twinOf(trade);
    const sent = world.inFlight.size;
    const second = boxOf(processes.at(-1)!.submit(twin));
    await rest(300);
    expect(second.error).toMatchObject(TAKEN);
    expect(world.inFlight.size).toBe(sent);
    await submitAgain(processes, trade, twin);
  });

  it("with another signature of the same wallet: it is neither sent nor kept", async () => {
    const processes = start();
    const { trade } = await submitOne(processes[0]!);
    const other = resigned(twinOf(trade));
    const second = boxOf(processes.at(-1)!.submit(other));
    await rest(600);
    expect(second.error).toMatchObject(TAKEN);
    expect([...world.inFlight.keys()]).toEqual([`a ${trade.signature}`]);
    const [messageHash] = world.submissions.rows.keys();
    expect((await world.submissions.signaturesOf(messageHash!)).map(({ signature }) => signature)).toEqual([
      trade.signature,
    ]);
    for (const one of processes)
      await expect(one.find(principal, other.signature)).rejects.toMatchObject({ code: "TRADE_NOT_FOUND" });
  });
});

it("the build that is submitted first holds the message, whichever was built first", async () => {
  const [a, b] = [startProcess("a"), startProcess("b")];
  const builtFirst = signedTrade();
  const trade = twinOf(builtFirst);
  const answer = boxOf(a.submit(trade));
  await rest(10);
  const refused = boxOf(b.submit(builtFirst));
  await rest(300);
  land("a", trade.signature);
  await rest(300);
  expect(answer.value?.status).toBe("confirmed");
  expect(refused.error).toMatchObject(TAKEN);
  await submitAgain([a, b], trade, builtFirst);
});

it("a look-up, a list and a stream know one trade: that of the build which holds the message", async () => {
  const [a, b] = [startProcess("a"), startProcess("b")];
  const trade = await submitLanded(a);
  const refused = boxOf(b.submit(twinOf(trade)));
  await rest(300);
  expect(refused.error).toMatchObject(TAKEN);
  for (const one of [a, b]) {
    expect(await one.find(principal, trade.signature)).toMatchObject({ slot: SLOT });
    expect((await one.list(principal, EVERYTHING)).trades).toHaveLength(1);
    for await (const shown of one.watch(principal, trade.signature, new AbortController().signal)) {
      expect(shown).toMatchObject({ slot: SLOT });
      break;
    }
  }
  expect([...world.submissions.rows.values()]).toMatchObject([{ submissionToken: trade.submissionToken, owner: "a" }]);
});

describe("a build whose message is held by a process that is gone", () => {
  it("is refused, and leaves the trade to the process that takes it over", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const { trade } = await submitOne(a);
    const renewed = vi.spyOn(world.submissions, "renew").mockImplementation(async (hashes) => hashes);
    await rest(LEASE_MS - 500);
    const twin = twinOf(trade);
    const refused = boxOf(b.submit(twin));
    await rest(900);
    expect(refused.error).toMatchObject(TAKEN);
    await rest(1_100);
    renewed.mockRestore();
    expect([...world.inFlight.keys()]).toContain(`b ${trade.signature}`);
    land("b", trade.signature);
    await rest(300);
    expect(await b.find(principal, trade.signature)).toMatchObject({ slot: SLOT });
    expect([...world.submissions.rows.values()]).toMatchObject([{ submissionToken: trade.submissionToken }]);
    await submitAgain([b], trade, twin);
  });

  it("takes over nothing at the moment the lease ends", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const { trade } = await submitOne(a);
    vi.spyOn(world.submissions, "renew").mockImplementation(async (hashes) => hashes);
    vi.spyOn(world.submissions, "abandoned").mockResolvedValue([]);
    await rest(LEASE_MS + 500);
    const refused = boxOf(b.submit(twinOf(trade)));
    await rest(300);
    expect(refused.error).toMatchObject(TAKEN);
    expect([...world.inFlight.keys()]).toEqual([`a ${trade.signature}`]);
    expect([...world.submissions.rows.values()]).toMatchObject([{ owner: "a" }]);
    vi.restoreAllMocks();
  });
});

describe("a build whose claim is written late", () => {
  /** Delays what process "b" claims, and nothing else. */
  const delayClaims = (ms: number) => {
    const { claim } = world.submissions;
    vi.spyOn(world.submissions, "claim").mockImplementation(async (...args) => {
      if (args[1].owner === "b") await rest(0).then(() => new Promise((resolve) => setTimeout(resolve, ms)));
      return claim(...args);
    });
  };

  it("is refused once the record is read, also if the message has landed meanwhile", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const { trade, answer } = await submitOne(a);
    delayClaims(400);
    const late = boxOf(b.submit(twinOf(trade)));
    await rest(200);
    expect([...world.inFlight.keys()]).toContain(`b ${trade.signature}`);
    land("b", trade.signature);
    await rest(1_000);
    expect(late.value).toBeUndefined();
    expect(late.error).toMatchObject(TAKEN);
    land("a", trade.signature);
    await rest(300);
    expect(answer.value?.status).toBe("confirmed");
    vi.restoreAllMocks();
    await submitAgain([a, b], trade);
  });

  it("leaves the signature that it has sent to the process that follows the message", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const { trade, answer } = await submitOne(a);
    delayClaims(400);
    const other = resigned(twinOf(trade));
    const late = boxOf(b.submit(other));
    await rest(200);
    expect([...world.inFlight.keys()]).toContain(`b ${other.signature}`);
    await rest(500);
    expect(late.error).toMatchObject(TAKEN);
    world.finding = { kind: "unserved", sinceMs: 10_000, isRemembered: true };
    expire("a", trade.signature);
    await rest(100);
    land("a", other.signature);
    await rest(100);
    expect(answer.value).toMatchObject({ status: "confirmed", signature: other.signature });
    vi.restoreAllMocks();
    await submitAgain([a, b], trade, other);
  });

  it("stops following the message once the record is read", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const { trade, answer } = await submitOne(a);
    delayClaims(400);
    const late = boxOf(b.submit(twinOf(trade)));
    await rest(1_000);
    expect(late.error).toMatchObject(TAKEN);
    vi.restoreAllMocks();
    // The same process may follow the trade of the other build afterwards.
    const joined = boxOf(b.submit(trade));
    await rest(50);
    land("a", trade.signature);
    await rest(500);
    for (const { value } of [answer, joined]) expect(value?.status).toBe("confirmed");
  });
});

describe("while the database is away", () => {
  it("a process confirms a message to one of its builds, and refuses none before that is on record", async () => {
    const a = startProcess("a");
    world.submissions.isDown = true;
    const { trade, answer } = await submitOne(a);
    const twin = twinOf(trade);
    const second = boxOf(a.submit(twin));
    await rest(1_000);
    land("a", trade.signature);
    await rest(3_000);
    expect(answer.value?.status).toBe("confirmed");
    expect(second.error).toMatchObject({ code: "UPSTREAM_ERROR", retryable: true });
    const again = boxOf(a.submit(twin));
    await rest(10_000);
    expect(again.error).toMatchObject({ code: "UPSTREAM_ERROR", retryable: true });
    world.submissions.isDown = false;
    await rest(3_000);
    await submitAgain([a], trade, twin);
  });

  it("a process refuses a build whose message it has only read to be another's", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    const writes = [vi.spyOn(world.submissions, "claim"), vi.spyOn(world.submissions, "finish")];
    for (const write of writes) write.mockRejectedValue(new Error("no answer"));
    const answer = boxOf(a.submit(trade));
    await rest(500);
    for (const write of writes) write.mockRestore();
    const elsewhere = boxOf(b.submit(trade));
    await rest(10);
    land("b", trade.signature);
    await rest(100);
    expect(elsewhere.value?.status).toBe("confirmed");
    for (const name of ["claim", "finish"] as const)
      vi.spyOn(world.submissions, name).mockRejectedValue(new Error("no answer"));
    land("a", trade.signature);
    await rest(100);
    vi.restoreAllMocks();
    expect(answer.value?.status).toBe("confirmed");
    await submitAgain([a], trade);
  });

  it("longer than an end is written again, the next submit has it written, and a build of the same message is refused", async () => {
    const a = startProcess("a");
    world.submissions.isDown = true;
    const { trade, answer } = await submitOne(a);
    land("a", trade.signature);
    await rest(11 * 60_000);
    world.submissions.isDown = false;
    expect(answer.value?.status).toBe("confirmed");
    await submitAgain([a], trade);
  });

  it("from one process, that process gives up the build whose message was claimed elsewhere, and follows the other", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    const { claim } = world.submissions;
    const claims = vi.spyOn(world.submissions, "claim");
    claims.mockImplementation(async (...args) => {
      if (args[1].owner === "b") throw new Error("away");
      return claim(...args);
    });
    const refused = boxOf(b.submit(twinOf(trade)));
    await rest(200);
    expect([...world.inFlight.keys()]).toEqual([`b ${trade.signature}`]);
    const answer = boxOf(a.submit(trade));
    await rest(200);
    const waiting = boxOf(b.submit(trade));
    claims.mockRestore();
    await rest(1_500);
    expect(refused.error).toMatchObject(TAKEN);
    land("a", trade.signature);
    await rest(500);
    for (const { value } of [answer, waiting]) expect(value).toMatchObject({ status: "confirmed", slot: SLOT });
    await submitAgain([a, b], trade);
  });
});

it("a process that could write neither its claim nor the end reads whose the message is before it answers", async () => {
  const [a, b] = [startProcess("a"), startProcess("b")];
  const trade = await submitLanded(a);
  for (const write of ["claim", "finish"] as const)
    vi.spyOn(world.submissions, write).mockRejectedValueOnce(new Error("reset"));
  const second = boxOf(b.submit(twinOf(trade)));
  await rest(100);
  land("b", trade.signature);
  await rest(100);
  expect(second.value).toBeUndefined();
  expect(second.error).toMatchObject(TAKEN);
});

it("what a process has confirmed without the database is told anew by the record that it finds: of the build claimed elsewhere", async () => {
  const [a, b] = [startProcess("a"), startProcess("b")];
  const { trade } = await submitOne(a);
  const lost = () => Promise.reject(new Error("away"));
  const { claim, finish } = world.submissions;
  const claims = vi.spyOn(world.submissions, "claim").mockImplementation(async (one, lease) => {
    return lease.owner === "b" ? lost() : claim(one, lease);
  });
  const ends = vi.spyOn(world.submissions, "finish").mockImplementation(lost);
  const reads = vi.spyOn(world.submissions, "byMessageHash").mockImplementation(lost);
  const renewals = vi.spyOn(world.submissions, "renew").mockImplementation(async (hashes) => hashes);
  const twin = twinOf(trade);
  const confirmed = boxOf(b.submit(twin));
  await rest(200);
  land("b", trade.signature);
  await rest(LEASE_MS + 500);
  expect(confirmed.value?.status).toBe("confirmed");
  claims.mockRestore();
  reads.mockRestore();
  ends.mockImplementation(finish);
  await rest(3_000);
  land("b", trade.signature);
  await rest(300);
  renewals.mockRestore();
  expect([...world.submissions.rows.values()]).toMatchObject([
    { submissionToken: trade.submissionToken, outcome: expect.stringContaining("confirmed") },
  ]);
  await submitAgain([b], trade, twin);
});

it("a failover that loses the claim lets one build have the message, whichever is written next", async () => {
  const [a, b] = [startProcess("a"), startProcess("b")];
  const { trade, answer } = await submitOne(a);
  world.submissions.rows.clear();
  const twin = twinOf(trade);
  const second = boxOf(b.submit(twin));
  await rest(LEASE_MS);
  expect(answer.error).toMatchObject(TAKEN);
  land("b", trade.signature);
  await rest(300);
  expect(second.value?.status).toBe("confirmed");
  await submitAgain([a, b], twin, trade);
});
