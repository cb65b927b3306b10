import { describe, expect, it, vi } from "vitest";
import {
  boxOf,
  LEASE_MS,
  land,
  principal,
  rest,
  seen,
  startBehind,
  startProcess,
  submitOne,
  useSubmitWorld,
} from "../../../test/support/submit-world.ts";
import type { Submitter } from "./submit-trade.ts";

const world = useSubmitWorld();
const FAILURE = { InstructionError: [0, { Custom: 1 }] };

/** A trade that process "b" drives, and process "c", which the database is away from: each has seen it end by the word of some nodes. */
async function endedApart(witnessesOfB: number, witnessesOfC: number, error: unknown = null) {
  const [b, c] = [startProcess("b"), startBehind("c")];
  c.isCutOff = true;
  const { trade } = await submitOne(b);
  boxOf(c.submitter.submit(trade));
  await rest(200);
  world.progress = seen("confirmed", error);
  land("c", trade.signature, error, witnessesOfC);
  await rest(3_000);
  land("b", trade.signature, error, witnessesOfB);
  await rest(3_000);
  return { b, c, trade };
}

/** What each process answers to the trade, submitted again and looked up, twice: each answer once, without what is the same for all. */
async function answersOf(trade: Parameters<Submitter["submit"]>[0] & { signature: string }, all: readonly Submitter[]) {
  const answers = new Set<string>();
  for (const one of [...all, ...all]) {
    for (const box of [boxOf(one.submit(trade)), boxOf(one.find(principal, trade.signature))]) {
      await rest(300);
      const { value, error } = box;
      const witnesses = value === undefined ? error?.facts.details?.witnesses : value.witnesses;
      answers.add(`${value?.status ?? error?.code} by ${witnesses}`);
    }
  }
  return [...answers];
}

describe("an end that two processes have seen by the word of different numbers of nodes", () => {
  it.each([
    [1, 2],
    [2, 1],
  ])("is stated once they share a database as those saw it who had more: %i and %i", async (ofB, ofC) => {
    const { b, c, trade } = await endedApart(ofB, ofC);
    c.isCutOff = false;
    await rest(LEASE_MS);
    expect(await answersOf(trade, [startProcess("d"), c.submitter, b])).toEqual(["confirmed by 2"]);
  });

  it("is stated so if it is a failure", async () => {
    const { b, c, trade } = await endedApart(1, 2, FAILURE);
    c.isCutOff = false;
    await rest(LEASE_MS);
    expect(await answersOf(trade, [startProcess("d"), c.submitter, b])).toEqual(["INSUFFICIENT_SOL by 2"]);
  });

  it("is stated so after an hour without the database", async () => {
    const { b, c, trade } = await endedApart(1, 2);
    await rest(3_600_000);
    c.isCutOff = false;
    await rest(LEASE_MS);
    expect(await answersOf(trade, [startProcess("d"), c.submitter, b])).toEqual(["confirmed by 2"]);
  });

  it("is stated so again after a failover that has lost that", async () => {
    const { b, c, trade } = await endedApart(1, 2);
    const failOver = world.submissions.copy();
    c.isCutOff = false;
    await rest(LEASE_MS);
    failOver();
    await rest(LEASE_MS);
    expect(await answersOf(trade, [startProcess("d"), c.submitter, b])).toEqual(["confirmed by 2"]);
  });

  it("stays as it was reported as final, at both", async () => {
    const { b, c, trade } = await endedApart(1, 2);
    world.progress = seen("finalized");
    expect(await b.find(principal, trade.signature)).toMatchObject({ status: "finalized", witnesses: 1 });
    c.isCutOff = false;
    await rest(LEASE_MS);
    expect(await answersOf(trade, [startProcess("d"), c.submitter, b])).toEqual(["finalized by 1"]);
  });

  it("stays final if that is reported as the other's word is written", async () => {
    const { replaceOutcome } = world.submissions;
    const look = vi.fn(async () => {});
    world.submissions.replaceOutcome = async (...change) => {
      await look();
      return replaceOutcome(...change);
    };
    const { b, c, trade } = await endedApart(1, 2);
    world.progress = seen("finalized");
    look.mockImplementationOnce(async () => void (await b.find(principal, trade.signature)));
    c.isCutOff = false;
    await rest(LEASE_MS);
    expect(look).toHaveBeenCalled();
    expect(await answersOf(trade, [startProcess("d"), c.submitter, b])).toEqual(["finalized by 1"]);
    expect([...world.submissions.rows.values()]).toMatchObject([{ isFinalized: true }]);
  });
});

describe("an end that the database had lacked for long", () => {
  it("is written again also if a failover loses it soon after it was written", async () => {
    const { c, trade } = await endedApart(2, 2);
    await rest(3_600_000);
    world.submissions.rows.clear();
    c.isCutOff = false;
    await rest(LEASE_MS);
    const [row] = [...world.submissions.rows.values()];
    expect(row?.outcome).toEqual(expect.any(String));
    world.submissions.rows.clear();
    await rest(LEASE_MS);
    expect(await startProcess("d").find(principal, trade.signature)).toMatchObject({ witnesses: 2 });
  });
});
