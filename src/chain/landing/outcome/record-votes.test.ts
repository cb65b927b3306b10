import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it, test } from "vitest";
import { SYSTEM_PROGRAM } from "../../../solana/programs.ts";
import type { TransactionRecord } from "../../port.ts";
import type { RpcEndpoint } from "../../rpc/rpc-endpoint.ts";
import type { SignatureStatus } from "../../rpc/signature-status.ts";
import type { Witnesses } from "../../rpc/witnesses.ts";
import { RecordVotes } from "./record-votes.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

const nodes = ["a", "b"].map((name) => ({ name }) as RpcEndpoint) as [RpcEndpoint, RpcEndpoint];
const witnesses = {
  endpoints: nodes,
  trusted: undefined,
  silentAfterMs: 5_000,
  isSilent: () => false,
  isLeftBehind: () => false,
};

/** A failure with as long an error as a node may name. */
const failed = (round: number): TransactionRecord => ({
  slot: 1_100n,
  error: { round, words: `${round}`.padEnd(1_000_000, "x") },
  feeLamports: 5_000n,
  accounts: [],
  preBalances: [],
  postBalances: [],
  preTokenBalances: [],
  postTokenBalances: [],
  logs: [],
  computeUnitsConsumed: undefined,
});

test("a node that makes up another record each time leaves nothing behind", async () => {
  const votes = new RecordVotes(witnesses as unknown as Witnesses, () => true);
  votes.receiveRecord(nodes[0], failed(0), 0);
  const seen: WeakRef<TransactionRecord>[] = [];
  for (let round = 1; round <= 50; round++) {
    const record = failed(round);
    seen.push(new WeakRef(record));
    votes.receiveRecord(nodes[1], record, round);
    expect(votes.proven(round)).toBeUndefined();
  }
  // Weak references hold what they name until their turn ends.
  await nextTurn();
  collectGarbage();
  expect(seen.filter((record) => record.deref() !== undefined).length).toBeLessThanOrEqual(1);
});

test("nodes that gave one record agree on it, until one gives another", () => {
  const votes = new RecordVotes(witnesses as unknown as Witnesses, () => true);
  const landed = { ...failed(0), error: null };
  votes.receiveRecord(nodes[0], landed, 0);
  expect(votes.holds(landed)).toBe(true);
  expect(votes.proven(0)).toBeUndefined();
  votes.receiveRecord(nodes[1], landed, 0);
  expect(votes.proven(0)).toEqual({ record: landed, witnesses: 2 });
  votes.receiveRecord(nodes[1], { ...landed, feeLamports: 5_001n }, 0);
  expect(votes.proven(0)).toBeUndefined();
});

test("transfers that the agreeing nodes tell differently, or not all tell, say nothing", () => {
  const landed = { ...failed(0), error: null };
  const to = SYSTEM_PROGRAM;
  const transfersBy = (a: TransactionRecord["transfers"], b: TransactionRecord["transfers"]) => {
    const votes = new RecordVotes(witnesses as unknown as Witnesses, () => true);
    votes.receiveRecord(nodes[0], { ...landed, transfers: a }, 0);
    votes.receiveRecord(nodes[1], { ...landed, transfers: b }, 0);
    const { record, witnesses: agreeing } = votes.proven(0)!;
    expect(agreeing).toBe(2);
    return record.transfers;
  };
  const told = [{ to, lamports: 5n }];
  expect(transfersBy(told, [{ to, lamports: 5n }])).toEqual(told);
  expect(transfersBy(told, [{ to, lamports: 6n }])).toBeUndefined();
  expect(transfersBy([], told)).toBeUndefined();
  expect(transfersBy(told, undefined)).toBeUndefined();
  expect(transfersBy(undefined, told)).toBeUndefined();
});

describe("a node without records", () => {
  const landed = { ...failed(0), error: null };
  const { slot } = landed;
  const status = (commitment: SignatureStatus["commitment"], at = slot): SignatureStatus => ({
    slot: at,
    error: null,
    commitment,
  });
  const votesWith = (misses: readonly bigint[]) => {
    const votes = new RecordVotes(witnesses as unknown as Witnesses, () => true);
    votes.receiveRecord(nodes[0], landed, 0);
    votes.receiveStatus(nodes[0], status("confirmed"));
    votes.receiveRecord(nodes[1], "unserved", 0);
    for (const missed of misses) votes.receiveMiss(nodes[1], missed);
    return votes;
  };

  it("contradicts by what it missed at the time, not once it need no longer remember", () => {
    expect(votesWith([slot]).proven(0)).toBeUndefined();
    expect(votesWith([slot + 200n]).proven(0)).toBeUndefined();
    expect(votesWith([slot + 5_000n]).proven(0)?.witnesses).toBe(1);
    const votes = votesWith(Array.from({ length: 600 }, (_, later) => slot - 100n + BigInt(later)));
    expect(votes.proven(0)).toBeUndefined();
    votes.receiveStatus(nodes[1], status("confirmed"));
    expect(votes.proven(0)?.witnesses).toBe(1);
  });

  it("contradicts a record of any slot between two that it missed", () => {
    for (let before = 1n; before < 40n; before++)
      expect(votesWith([slot - before, slot + 1n]).proven(0)).toBeUndefined();
  });

  it("is waited for until it has come to the record's slot", () => {
    const votes = votesWith([slot - 1n]);
    expect(votes.proven(10_000)).toBeUndefined();
    votes.receiveStatus(nodes[1], status("processed"));
    expect(votes.proven(10_000)?.witnesses).toBe(1);
  });

  it("is waited for as long as it answers that it has none yet", () => {
    const votes = votesWith([]);
    votes.receiveRecord(nodes[1], "absent", 0);
    expect(votes.proven(60_000)).toBeUndefined();
    votes.receiveRecord(nodes[1], "unusable", 60_000);
    expect(votes.proven(60_000)?.witnesses).toBe(1);
  });

  it("is not passed over while it has the transaction in another block", () => {
    const votes = votesWith([]);
    votes.receiveStatus(nodes[1], status("processed", slot + 1n));
    expect(votes.proven(10_000)).toBeUndefined();
  });

  it("is passed over at once if it serves no statuses either, else after a time without one", () => {
    const votes = votesWith([]);
    expect(votes.proven(4_999)).toBeUndefined();
    expect(votes.proven(5_000)?.witnesses).toBe(1);
    votes.receiveRecord(nodes[1], "mute", 0);
    expect(votes.proven(0)?.witnesses).toBe(1);
  });
});

describe("records of several nodes", () => {
  const landed = { ...failed(0), error: null };
  const elsewhere = { ...landed, slot: 1_101n };
  /** Nodes that gave these records, and those that were set aside by the verdict. */
  function votesOf(records: readonly TransactionRecord[], { silent = [] as readonly number[], stuck = -1 } = {}) {
    const endpoints = records.map((_, i) => ({ name: `${i}` }) as RpcEndpoint);
    const aside: string[] = [];
    const votes = new RecordVotes(
      {
        ...witnesses,
        endpoints,
        isSilent: (one: RpcEndpoint) => silent.includes(endpoints.indexOf(one)),
        isLeftBehind: (one: RpcEndpoint) => endpoints.indexOf(one) === stuck,
        setAside: ({ name }: RpcEndpoint) => void aside.push(name),
      } as unknown as Witnesses,
      () => true,
    );
    for (const [i, record] of records.entries()) votes.receiveRecord(endpoints[i]!, record, 0);
    return { votes, endpoints, aside };
  }

  it("decide nothing while as many agree on another", () => {
    const { votes, aside } = votesOf([landed, { ...landed }, elsewhere, { ...elsewhere }]);
    expect(votes.proven(0)).toBeUndefined();
    expect(aside).toEqual([]);
  });

  it("decide once more agree than on any other, and the outvoted node is set aside", () => {
    const { votes, endpoints, aside } = votesOf([elsewhere, landed, { ...landed }]);
    const status = { slot: 1_101n, error: null };
    votes.receiveStatus(endpoints[1]!, { ...status, commitment: "processed" });
    expect(votes.proven(0)).toMatchObject({ record: { slot: 1_100n }, witnesses: 2 });
    expect(aside).toEqual(["0"]);
    votes.receiveStatus(endpoints[2]!, { ...status, commitment: "confirmed" });
    votes.proven(0);
    expect(aside).toEqual(["0", "0", "2"]);
  });

  it("decide nothing if they differ and one of the two falls silent", () => {
    const { votes, endpoints } = votesOf([landed, elsewhere], { silent: [1] });
    votes.receiveStatus(endpoints[0]!, { slot: 1_100n, error: null, commitment: "confirmed" });
    expect(votes.proven(10_000)).toBeUndefined();
  });

  it("decide alone beside a silent node that has seen the transaction in another block, unless that was confirmed", () => {
    const { votes, endpoints } = votesOf([landed, landed], { silent: [1] });
    votes.receiveRecord(endpoints[1]!, "unusable", 0);
    votes.receiveStatus(endpoints[0]!, { slot: 1_100n, error: null, commitment: "confirmed" });
    votes.receiveStatus(endpoints[1]!, { slot: 1_101n, error: null, commitment: "processed" });
    expect(votes.proven(0)?.witnesses).toBe(1);
    votes.receiveStatus(endpoints[1]!, { slot: 1_101n, error: null, commitment: "confirmed" });
    expect(votes.proven(0)).toBeUndefined();
  });

  it("have no logs if one of those that agree has cut them", () => {
    const whole = { ...landed, logs: ["Program a failed: b"] };
    const cut = { ...landed, logs: ["Log truncated"] };
    expect(votesOf([whole, cut]).votes.proven(0)).toMatchObject({ record: { logs: [] }, witnesses: 2 });
    expect(votesOf([whole, { ...whole }]).votes.proven(0)?.record.logs).toEqual(whole.logs);
  });

  it("are contradicted by a node that had come past their slot before it stood still", () => {
    const { votes, endpoints } = votesOf([landed, landed], { stuck: 1 });
    votes.receiveStatus(endpoints[0]!, { slot: 1_100n, error: null, commitment: "confirmed" });
    votes.receiveRecord(endpoints[1]!, "unserved", 0);
    votes.receiveMiss(endpoints[1]!, 1_060n);
    expect(votes.proven(10_000)?.witnesses).toBe(1);
    votes.receiveMiss(endpoints[1]!, 1_101n);
    expect(votes.proven(10_000)).toBeUndefined();
  });
});
