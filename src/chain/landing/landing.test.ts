import bs58 from "bs58";
import { afterEach, beforeEach, describe, expect, it, test, vi } from "vitest";
import {
  type FakeEndpoint,
  type FakeSubscriptions,
  fakeEndpoint,
  fakeSubscriptions,
} from "../../../test/support/fake-chain.ts";
import { signTransfer } from "../../../test/support/transfer.ts";
import { createTestWallet } from "../../../test/support/wallet.ts";
import type { Address } from "../../primitives/address.ts";
import { accountsOf } from "../../solana/message/message-accounts.ts";
import { wireLayout } from "../../solana/message.ts";
import type { LandingEvent, LandingOrder, LandingOutcome } from "../port.ts";
import { NodeError } from "../rpc/node-error.ts";
import { createRpcPool } from "../rpc/rpc-pool.ts";
import { parseRpcJson } from "../rpc/rpc-values.ts";
import { Witnesses } from "../rpc/witnesses.ts";
import { createLanding, type LiveLanding } from "./landing.ts";
import { createNodeSender, OWN_NODES, type Sender } from "./sender.ts";

const NO_TOKENS = { preTokenBalances: [], postTokenBalances: [] };

const SIGNATURE = "5".repeat(88);
const LAST_VALID = 150n;
type Status = { slot: number; err: unknown; confirmationStatus: string };

/** One node's view of the chain; each test changes it. */
interface NodeView {
  finalizedSlot: number;
  finalizedHeight: number;
  statusSlot: number;
  status: Status | null;
  /** Its record, if it is not what the status says. */
  record?: Status | null;
}

let height: bigint;
let leastHeight: bigint | undefined;
let views: NodeView[];
let endpoints: FakeEndpoint[];
let subscriptions: FakeSubscriptions;
let landing: LiveLanding;
let warnings: string[];
/** The transactions that were reported as landed, with their slots. */
let landed: (readonly [bytes: readonly number[], slot: bigint])[];

beforeEach(() => {
  vi.useFakeTimers();
  height = 100n;
  leastHeight = undefined;
  warnings = [];
  landed = [];
});
afterEach(() => {
  landing.close();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

function start(count: number, trusted?: string): void {
  views = Array.from(
    { length: count },
    (): NodeView => ({
      finalizedSlot: 1_070,
      finalizedHeight: 70,
      statusSlot: 1_100,
      status: null,
    }),
  );
  endpoints = views.map((view, i) =>
    fakeEndpoint(
      {
        sendTransaction: () => SIGNATURE,
        getSignatureStatuses: (signatures: readonly string[]) => ({
          context: { slot: view.statusSlot },
          value: signatures.map(() => view.status),
        }),
        getTransaction: () => recordOf(view),
        // Below finality a chain is always some blocks ahead, on a branch that may still be dropped.
        getEpochInfo: (config?: { readonly commitment?: string }) => {
          const ahead = config?.commitment === "finalized" ? 0 : 31;
          return { absoluteSlot: view.finalizedSlot + ahead, blockHeight: view.finalizedHeight + ahead };
        },
      },
      `node ${i}`,
    ),
  );
  subscriptions = fakeSubscriptions();
  const pool = createRpcPool({ endpoints, now: Date.now, warn: () => {} });
  landing = createLanding({
    pool,
    witnesses: new Witnesses({
      pool,
      now: Date.now,
      warn: (message) => void warnings.push(message),
      trusted: endpoints.find(({ name }) => name === trusted),
    }),
    senders: endpoints.map((endpoint, i) => createNodeSender(endpoint, i, { now: Date.now })),
    subscriptions,
    head: {
      blockHeight: () => height,
      leastBlockHeight: () => leastHeight ?? height,
      slot: () => height + 1_000n,
      slotMs: () => 200,
    },
    now: Date.now,
    monotonicMs: () => performance.now(),
    warn: (message) => void warnings.push(message),
    random: () => 0.5,
    onLanded: (transaction, slot) => void landed.push([[...transaction], slot]),
  });
}

/** A node's record: once the status is confirmed, unless the test gives another. */
function recordOf({ status, record = status?.confirmationStatus === "processed" ? null : status }: NodeView) {
  if (record === null) return null;
  const accountKeys = ["11111111111111111111111111111111"];
  const meta = { err: record.err, fee: 5_000, preBalances: [9], postBalances: [4], ...NO_TOKENS, logMessages: [] };
  return { slot: record.slot, transaction: { signatures: [SIGNATURE], message: { accountKeys } }, meta };
}

/** The outcome of a transaction that landed in this slot. */
const landedIn = (slot: bigint, error: unknown = null) => ({ kind: "landed", record: { slot, error } });

/** Starts landing; the returned box holds the outcome once there is one. */
function land(order: Partial<LandingOrder> = {}): { outcome: LandingOutcome | undefined } {
  const box: { outcome: LandingOutcome | undefined } = { outcome: undefined };
  void landing
    .land({
      transaction: Uint8Array.of(1, 2, 3),
      signature: SIGNATURE,
      lastValidBlockHeight: LAST_VALID,
      deadlineMs: Date.now() + 25_000,
      senders: [OWN_NODES],
      ...order,
    })
    .then((outcome) => {
      box.outcome = outcome;
    });
  return box;
}

const confirmed = (slot: number, err: unknown = null): Status => ({ slot, err, confirmationStatus: "confirmed" });

test("a transaction that is dropped is sent no more, and every wait for it ends as pending", async () => {
  start(1);
  const boxes = [land(), land()];
  await vi.advanceTimersByTimeAsync(1_000);
  const sent = endpoints[0]!.countOf("sendTransaction");
  landing.drop(SIGNATURE);
  landing.drop("another one");
  await vi.advanceTimersByTimeAsync(10_000);
  for (const { outcome } of boxes) expect(outcome).toEqual({ kind: "pending" });
  expect(endpoints[0]!.countOf("sendTransaction")).toBe(sent);
  expect(vi.getTimerCount()).toBe(0);
});

test("a transaction that lands is reported once, however many wait for it, and one that is dropped is not", async () => {
  start(1);
  land();
  landing.drop(SIGNATURE);
  expect(landed).toEqual([]);
  const boxes = [land(), land()];
  views[0]!.status = confirmed(1_101);
  await vi.advanceTimersByTimeAsync(2_000);
  for (const { outcome } of boxes) expect(outcome).toMatchObject(landedIn(1_101n));
  expect(landed).toEqual([[[1, 2, 3], 1_101n]]);
});

test("the bytes go to every endpoint at once, without preflight or the node's own retries", async () => {
  start(3);
  land();
  await vi.advanceTimersByTimeAsync(0);
  for (const { calls } of endpoints)
    expect(calls.find(({ method }) => method === "sendTransaction")?.params).toEqual([
      "AQID",
      { encoding: "base64", skipPreflight: true, maxRetries: 0 },
    ]);
});

test("the bytes are on their way before anything else is asked about them", async () => {
  start(2);
  land();
  expect(endpoints.map((endpoint) => endpoint.countOf("sendTransaction"))).toEqual([1, 1]);
  expect(subscriptions.count()).toBe(0);
  await vi.advanceTimersByTimeAsync(0);
  expect(subscriptions.count()).toBe(1);
});

test("a transaction that is only looked for is sent once somebody wants it sent", async () => {
  start(2);
  land({ senders: [] });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(endpoints.map((endpoint) => endpoint.countOf("sendTransaction"))).toEqual([0, 0]);
  land();
  land();
  expect(endpoints.map((endpoint) => endpoint.countOf("sendTransaction"))).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(endpoints.map((endpoint) => endpoint.countOf("sendTransaction"))).toEqual([3, 3]);
});

test("what has ended before anything was asked about it is not asked about", async () => {
  start(1);
  const box = land();
  landing.close();
  await vi.advanceTimersByTimeAsync(0);
  expect(box.outcome).toEqual({ kind: "pending" });
  expect(subscriptions.count()).toBe(0);
});

test("broadcasts repeat every two slots until the transaction is confirmed; a block that holds it rests them for five", async () => {
  start(1);
  const seen: bigint[] = [];
  const box = land({ onEvent: (event) => event.kind === "processed" && seen.push(event.slot) });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(endpoints[0]!.countOf("sendTransaction")).toBe(6);
  views[0]!.status = { slot: 1_103, err: null, confirmationStatus: "processed" };
  await vi.advanceTimersByTimeAsync(2_000);
  expect(box.outcome).toBeUndefined();
  expect(endpoints[0]!.countOf("sendTransaction")).toBe(9);
  views[0]!.status = confirmed(1_105);
  await vi.advanceTimersByTimeAsync(400);
  expect(box.outcome).toMatchObject(landedIn(1_105n));
  expect(seen).toEqual([1_103n, 1_105n]);
  const sent = endpoints[0]!.countOf("sendTransaction");
  await vi.advanceTimersByTimeAsync(5_000);
  expect(endpoints[0]!.countOf("sendTransaction")).toBe(sent);
});

test("nodes that name another slot in turn, for as long as a trade is pending, add events up to a bound", async () => {
  start(2);
  const seen: bigint[] = [];
  const box = land({ onEvent: (event) => event.kind === "processed" && seen.push(event.slot) });
  views[0]!.status = { slot: 1_103, err: null, confirmationStatus: "processed" };
  views[1]!.status = { slot: 1_104, err: null, confirmationStatus: "processed" };
  await vi.advanceTimersByTimeAsync(20_000);
  expect(seen.slice(0, 3)).toEqual([1_103n, 1_104n, 1_103n]);
  expect(seen.length).toBe(32);
  for (const view of views) view.status = confirmed(1_105);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(box.outcome).toMatchObject(landedIn(1_105n));
});

describe("a transaction that a block holds is not sent again", () => {
  const sent = () => endpoints[0]!.countOf("sendTransaction");
  const processed = (slot: number): Status => ({ slot, err: null, confirmationStatus: "processed" });

  /** Seen by every node within the first slot, before anything is repeated. */
  async function landIntoBlock(nodes: number): Promise<void> {
    start(nodes);
    for (const view of views) view.status = processed(1_101);
    land();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sent()).toBe(1);
  }

  it("until a node at that block or past it lacks it: then at once", async () => {
    await landIntoBlock(1);
    views[0]!.status = null;
    views[0]!.statusSlot = 1_102;
    await vi.advanceTimersByTimeAsync(225);
    expect(sent()).toBe(2);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(sent()).toBe(7);
  });

  it("nor before the answer of a node that is asked for it, if that comes within a period", async () => {
    start(1);
    const answer = Promise.withResolvers<unknown>();
    endpoints[0]!.methods.getSignatureStatuses = () => answer.promise;
    land();
    await vi.advanceTimersByTimeAsync(550);
    expect(sent()).toBe(1);
    answer.resolve({ context: { slot: 1_101 }, value: [processed(1_101)] });
    await vi.advanceTimersByTimeAsync(100);
    expect(sent()).toBe(1);
  });

  it("but a node that does not answer delays one repetition only", async () => {
    start(1);
    endpoints[0]!.methods.getSignatureStatuses = () => new Promise(() => {});
    land();
    await vi.advanceTimersByTimeAsync(550);
    expect(sent()).toBe(1);
    await vi.advanceTimersByTimeAsync(100);
    expect(sent()).toBe(2);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(sent()).toBe(7);
  });

  it("even if a lagging node lacks it", async () => {
    start(1);
    views[0]!.status = processed(1_101);
    land();
    await vi.advanceTimersByTimeAsync(300);
    views[0]!.status = null;
    await vi.advanceTimersByTimeAsync(800);
    expect(sent()).toBe(1);
  });

  it("until another branch has it in another block", async () => {
    await landIntoBlock(1);
    views[0]!.status = processed(1_104);
    await vi.advanceTimersByTimeAsync(225);
    expect(sent()).toBe(2);
  });

  it("but one node alone that reports so holds up nothing for longer than the next node takes", async () => {
    start(2);
    views[0]!.status = processed(1_101);
    views[1]!.statusSlot = 1_101;
    land();
    await vi.advanceTimersByTimeAsync(425);
    expect(sent()).toBe(2);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(sent()).toBe(7);
  });
});

test("a transaction that has already landed is reported at once, with its error", async () => {
  start(1);
  height = 5_000n;
  views[0]!.status = { slot: 1_090, err: { InstructionError: [2, { Custom: 6005 }] }, confirmationStatus: "finalized" };
  const box = land();
  await vi.advanceTimersByTimeAsync(0);
  expect(box.outcome).toMatchObject(landedIn(1_090n, { InstructionError: [2, { Custom: 6005 }] }));
  expect(endpoints[0]!.countOf("sendTransaction")).toBe(0);
});

test("no refused broadcast is final", async () => {
  start(2);
  for (const { methods } of endpoints)
    methods.sendTransaction = () => {
      throw new NodeError("answered", "Blockhash not found", { rpcCode: -32002 });
    };
  const box = land();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(box.outcome).toBeUndefined();
  for (const view of views) view.status = confirmed(1_104);
  await vi.advanceTimersByTimeAsync(600);
  expect(box.outcome).toMatchObject(landedIn(1_104n));
});

test("an endpoint with an unanswered broadcast gets no second one", async () => {
  start(2);
  endpoints[0]!.methods.sendTransaction = () => new Promise(() => {});
  land();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(endpoints[0]!.countOf("sendTransaction")).toBe(1);
  expect(endpoints[1]!.countOf("sendTransaction")).toBe(6);
});

test("a notice brings the outcome before the next poll, with the status's own slot", async () => {
  start(1);
  const box = land();
  await vi.advanceTimersByTimeAsync(10);
  subscriptions.activate();
  views[0]!.status = confirmed(1_101);
  subscriptions.notify("signature", SIGNATURE, { context: { slot: 1_102 }, value: { err: null } });
  await vi.advanceTimersByTimeAsync(0);
  expect(box.outcome).toMatchObject(landedIn(1_101n));
  expect(subscriptions.count()).toBe(0);
});

test("if statuses cannot be read, a single node's notice and record decide", async () => {
  start(1);
  delete endpoints[0]!.methods.getSignatureStatuses;
  const box = land();
  await vi.advanceTimersByTimeAsync(0);
  subscriptions.activate();
  subscriptions.notify("signature", SIGNATURE, { context: { slot: 1_102 }, value: { err: "AccountInUse" } });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(box.outcome).toBeUndefined();
  views[0]!.record = confirmed(1_101, "AccountInUse");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(box.outcome).toMatchObject(landedIn(1_101n, "AccountInUse"));
});

test("a notice without a record decides nothing", async () => {
  start(1);
  const box = land();
  await vi.advanceTimersByTimeAsync(10);
  subscriptions.activate();
  subscriptions.notify("signature", SIGNATURE, { context: { slot: 1_102 }, value: { err: null } });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(box.outcome).toBeUndefined();
});

test("a status without a record decides nothing, and neither does a record that contradicts it", async () => {
  start(1);
  const box = land();
  views[0]!.status = confirmed(1_101, "AccountInUse");
  views[0]!.record = null;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(box.outcome).toBeUndefined();
  views[0]!.record = confirmed(1_101);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(box.outcome).toBeUndefined();
});

test("a status that lags behind the record revokes nothing", async () => {
  start(1);
  const box = land();
  await vi.advanceTimersByTimeAsync(10);
  subscriptions.activate();
  views[0]!.record = confirmed(1_101);
  views[0]!.status = { ...confirmed(1_101), confirmationStatus: "processed" };
  subscriptions.notify("signature", SIGNATURE, { context: { slot: 1_102 }, value: { err: null } });
  await vi.advanceTimersByTimeAsync(0);
  expect(box.outcome).toMatchObject(landedIn(1_101n));
});

test("a node's receipt of the signature decides nothing", async () => {
  start(1);
  const box = land();
  await vi.advanceTimersByTimeAsync(10);
  subscriptions.activate();
  subscriptions.notify("signature", SIGNATURE, { context: { slot: 1_102 }, value: "receivedSignature" });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(box.outcome).toBeUndefined();
});

test.each([
  ["before its message could land", 900n, 1_797, 1_798],
  ["after its message could land", 1_100n, 2_041, 2_040],
  ["ahead of every block there is", 900n, 1_941, 1_940],
])(
  "a status %s is rejected, with a tolerance of 40 blocks, or of half the slots since",
  async (_where, at, wrong, right) => {
    start(1);
    height = at;
    const box = land({ lastValidBlockHeight: 1_000n });
    views[0]!.status = confirmed(wrong);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(box.outcome).toBeUndefined();
    expect(await landing.fetchProgress(SIGNATURE, 1_000n)).toBeUndefined();
    views[0]!.status = confirmed(right);
    expect(await landing.fetchProgress(SIGNATURE, 1_000n)).toMatchObject({ slot: BigInt(right) });
    await vi.advanceTimersByTimeAsync(400);
    expect(box.outcome).toMatchObject(landedIn(BigInt(right)));
  },
);

test("callers with the same signature share one pending transaction, each with its own deadline", async () => {
  start(1);
  const short = land({ deadlineMs: Date.now() + 1_000 });
  const long = land();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(short.outcome).toEqual({ kind: "pending" });
  expect(long.outcome).toBeUndefined();
  expect(endpoints[0]!.countOf("sendTransaction")).toBe(3);
  views[0]!.status = confirmed(1_106);
  await vi.advanceTimersByTimeAsync(200);
  expect(long.outcome).toMatchObject({ kind: "landed" });
});

test("at the deadline the outcome is pending, and broadcasting stops", async () => {
  start(1);
  const box = land({ deadlineMs: Date.now() + 1_000 });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(box.outcome).toEqual({ kind: "pending" });
  expect(vi.getTimerCount()).toBe(0);
});

test("statuses are read for at most 256 signatures per call", async () => {
  start(1);
  for (let i = 0; i < 600; i++) land({ signature: `signature ${i}` });
  await vi.advanceTimersByTimeAsync(210);
  const sizes = endpoints[0]!.calls
    .filter(({ method }) => method === "getSignatureStatuses")
    .map(({ params }) => (params[0] as unknown[]).length);
  expect(Math.max(...sizes)).toBe(256);
  expect(sizes.length).toBeLessThan(8);
});

test("broadcasting goes on while one of two nodes has yet to come to the message's end, but not for ever", async () => {
  start(2);
  leastHeight = LAST_VALID;
  height = LAST_VALID + 600n;
  land();
  const sends = () => endpoints[0]!.countOf("sendTransaction");
  expect(sends()).toBe(1);
  await vi.advanceTimersByTimeAsync(1_000);
  const before = sends();
  expect(before).toBeGreaterThan(1);
  leastHeight = LAST_VALID + 1n;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(sends()).toBe(before);
  leastHeight = LAST_VALID;
  height = LAST_VALID + 601n;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(sends()).toBe(before);
});

test("broadcasting ends past the last valid block height", async () => {
  start(1);
  const box = land();
  await vi.advanceTimersByTimeAsync(1_000);
  const sent = endpoints[0]!.countOf("sendTransaction");
  height = LAST_VALID + 1n;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(endpoints[0]!.countOf("sendTransaction")).toBe(sent);
  expect(box.outcome).toBeUndefined();
});

test.each([
  [LAST_VALID, 1],
  [LAST_VALID + 1n, 0],
])("at height %i it is sent %i times", async (at, times) => {
  start(1);
  height = at;
  land();
  await vi.advanceTimersByTimeAsync(0);
  expect(endpoints[0]!.countOf("sendTransaction")).toBe(times);
});

/** Past the last valid height, with each node's view then. */
async function overdue(...given: Partial<NodeView>[]): Promise<{ readonly outcome: LandingOutcome | undefined }> {
  start(given.length);
  const box = land();
  height = LAST_VALID + 40n;
  given.forEach((view, i) => {
    Object.assign(views[i]!, view);
  });
  await vi.advanceTimersByTimeAsync(4_000);
  return box;
}

const past = { finalizedSlot: 1_160, finalizedHeight: 151, statusSlot: 1_195 };

test("expired: the finalized height is past, and the node's whole history lacks the signature", async () => {
  expect((await overdue(past)).outcome).toEqual({ kind: "expired" });
  expect(endpoints[0]!.calls.findLast(({ method }) => method === "getSignatureStatuses")?.params[1]).toEqual({
    searchTransactionHistory: true,
  });
});

test.each([
  ["not expired while the chain still accepts the blockhash, whatever the reported height", 1_195, true, undefined],
  ["expired if only a lagging endpoint still accepts it", 1_159, true, { kind: "expired" }],
  ["expired if it is no longer accepted", 1_195, false, { kind: "expired" }],
])("%s", async (_name, slot, value, outcome) => {
  start(1);
  const wallet = createTestWallet();
  const blockhash = new Uint8Array(32).fill(9);
  const { transaction } = signTransfer({ from: wallet, to: wallet.address, lamports: 1n, blockhash });
  const asked: unknown[] = [];
  endpoints[0]!.methods.isBlockhashValid = (text: string) => {
    asked.push(text);
    return { context: { slot }, value };
  };
  const box = land({ transaction });
  height = LAST_VALID + 40n;
  Object.assign(views[0]!, past);
  await vi.advanceTimersByTimeAsync(4_000);
  expect(box.outcome).toEqual(outcome);
  expect(asked[0]).toBe(bs58.encode(blockhash));
});

/** Far past the time for which nodes remember statuses. */
const long = { finalizedSlot: 1_900, finalizedHeight: 900, statusSlot: 1_932 };

describe("nodes that give no status of a transaction that they have forgotten, though asked to search their history", () => {
  const overdueLong = async (...records: readonly (Status | null)[]) => {
    start(records.length);
    height = 932n;
    for (const [i, record] of records.entries()) Object.assign(views[i]!, long, { record });
    const box = land({ senders: [] });
    const moving = setInterval(() => views.forEach((view) => void view.statusSlot++), 200);
    await vi.advanceTimersByTimeAsync(8_000);
    clearInterval(moving);
    return box.outcome;
  };

  it.each([1, 2, 3])("do not make it expire if %i have its record: it has landed", async (count) => {
    const records = Array.from({ length: count }, () => confirmed(1_101));
    expect(await overdueLong(...records)).toMatchObject({ ...landedIn(1_101n), witnesses: Math.min(count, 2) });
  });

  it("leave it pending if only one of two has its record", async () => {
    expect(await overdueLong(confirmed(1_101), null)).toBeUndefined();
  });

  it("make it expire if they have no record either", async () => {
    expect(await overdueLong(null, null)).toEqual({ kind: "expired" });
  });

  it("leave it pending while one gives no answer about its record", async () => {
    start(1);
    height = 932n;
    Object.assign(views[0]!, long);
    endpoints[0]!.methods.getTransaction = () => Promise.reject(new NodeError("answered", "busy", { rpcCode: -32603 }));
    const box = land({ senders: [] });
    await vi.advanceTimersByTimeAsync(8_000);
    expect(box.outcome).toBeUndefined();
  });

  it("leave it pending if a single node lacked it while it must have remembered it", async () => {
    start(1);
    Object.assign(views[0]!, past, { record: confirmed(1_101) });
    height = LAST_VALID + 40n;
    const box = land();
    await vi.advanceTimersByTimeAsync(8_000);
    expect(box.outcome).toBeUndefined();
  });
});

describe("one of two nodes that stands still", () => {
  /** The other one has come past the message's life, and finds it in no block. */
  const besideOneAt = async (processedHeight: number, knowsBlockhash = false) => {
    start(2);
    Object.assign(views[0]!, { finalizedSlot: 1_510, finalizedHeight: 501, statusSlot: 1_541 });
    const finalized = { finalizedSlot: 969 + processedHeight, finalizedHeight: processedHeight - 31 };
    Object.assign(views[1]!, { ...finalized, statusSlot: 1_000 + processedHeight });
    for (const [i, endpoint] of endpoints.entries())
      endpoint.methods.isBlockhashValid = () => ({
        context: { slot: views[i]!.statusSlot },
        value: i === 1 && knowsBlockhash,
      });
    const wallet = createTestWallet();
    const { transaction } = signTransfer({
      from: wallet,
      to: wallet.address,
      lamports: 1n,
      blockhash: new Uint8Array(32),
    });
    height = 540n;
    const box = land({ transaction, lastValidBlockHeight: 500n, deadlineMs: Date.now() + 60_000 });
    const moving = setInterval(() => void views[0]!.statusSlot++, 200);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(box.outcome).toBeUndefined();
    await vi.advanceTimersByTimeAsync(4_000);
    clearInterval(moving);
    return box.outcome;
  };

  it("has no say about a message whose blockhash is later than its newest block", async () => {
    expect(await besideOneAt(348)).toEqual({ kind: "expired" });
  });

  it.each([
    ["may have it in a block, if it stopped after its blockhash", 420, true],
    ["may have it in a block, though it does not know the blockhash", 420, false],
    ["keeps its say if it knows the blockhash, whatever the heights say", 348, true],
  ])("%s: it stays pending", async (_what, height, knows) => {
    expect(await besideOneAt(height, knows)).toBeUndefined();
  });
});

test("a record that one of three nodes makes up does not keep the others from finding it expired", async () => {
  start(3);
  for (const view of views) Object.assign(view, past);
  views[2]!.record = confirmed(1_101);
  height = LAST_VALID + 40n;
  const box = land();
  await vi.advanceTimersByTimeAsync(4_000);
  expect(box.outcome).toEqual({ kind: "expired" });
  expect(warnings.join()).toContain("node 2 contradicts");
});

test("not expired at the last valid height itself", async () => {
  expect((await overdue({ ...past, finalizedHeight: 150 })).outcome).toBeUndefined();
});

test("not expired if the status comes from an older state than the height", async () => {
  expect((await overdue({ ...past, statusSlot: 1_159 })).outcome).toBeUndefined();
});

test("with several endpoints, two must agree", async () => {
  expect((await overdue(past, past)).outcome).toEqual({ kind: "expired" });
});

test("one of two endpoints is not enough if the other lags", async () => {
  expect((await overdue(past, { ...past, finalizedHeight: 149 })).outcome).toBeUndefined();
});

test("one of two endpoints is not enough if the other is down", async () => {
  start(2);
  const box = land();
  height = LAST_VALID + 40n;
  Object.assign(views[0]!, past);
  delete endpoints[1]!.methods.getEpochInfo;
  await vi.advanceTimersByTimeAsync(4_000);
  expect(box.outcome).toBeUndefined();
});

test("two of three are enough if the third is down", async () => {
  start(3);
  const box = land();
  height = LAST_VALID + 40n;
  for (const view of views) Object.assign(view, past);
  delete endpoints[1]!.methods.getEpochInfo;
  await vi.advanceTimersByTimeAsync(4_000);
  expect(box.outcome).toEqual({ kind: "expired" });
});

describe("a transaction that one of two nodes alone says has expired", () => {
  it.each<[string, Partial<NodeView>, string]>([
    ["whose height is far behind", { ...past, finalizedHeight: 20 }, "fewer nodes than must agree"],
    [
      "who sees it in a block",
      { ...past, status: { slot: 1_150, err: null, confirmationStatus: "processed" } },
      "a node still reports it in a block",
    ],
    ["who still accepts its blockhash", past, "a node still accepts its blockhash"],
  ])("beside one %s stays pending, and says why", async (_what, other, why) => {
    start(2);
    const wallet = createTestWallet();
    const blockhash = new Uint8Array(32).fill(9);
    const { transaction } = signTransfer({ from: wallet, to: wallet.address, lamports: 1n, blockhash });
    endpoints.forEach((endpoint, i) => {
      const value = i === 1 && why.includes("blockhash");
      endpoint.methods.isBlockhashValid = () => ({ context: { slot: 1_195 }, value });
    });
    const reasons: string[] = [];
    const box = land({
      transaction,
      deadlineMs: Date.now() + 600_000,
      onDispute: (reason) => void reasons.push(reason),
    });
    height = LAST_VALID + 40n;
    Object.assign(views[0]!, past);
    Object.assign(views[1]!, other);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(reasons).toEqual([]);
    await vi.advanceTimersByTimeAsync(26_000);
    expect(reasons).toEqual([expect.stringContaining(why)]);
    expect(warnings.filter((text) => text.includes(SIGNATURE))).toEqual([expect.stringContaining(why)]);
    expect(box.outcome).toBeUndefined();
    Object.assign(views[1]!, past, { status: null });
    endpoints[1]!.methods.isBlockhashValid = () => ({ context: { slot: 1_195 }, value: false });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(box.outcome).toEqual({ kind: "expired" });
  });
});

test("a transaction that every node says can still land has no reason to be pending", async () => {
  start(2);
  const reasons: string[] = [];
  land({ deadlineMs: Date.now() + 600_000, onDispute: (reason) => void reasons.push(reason) });
  height = LAST_VALID + 40n;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(reasons).toEqual([]);
});

test("never expired while any endpoint has seen it in a block", async () => {
  const processed = { slot: 1_150, err: null, confirmationStatus: "processed" };
  const box = await overdue(past, { ...past, status: processed });
  expect(box.outcome).toBeUndefined();
  for (const view of views) view.status = confirmed(1_150);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(box.outcome).toMatchObject(landedIn(1_150n));
});

test("a transaction in the last valid block has landed, even if every endpoint had dropped it", async () => {
  expect((await overdue({ ...past, status: confirmed(1_159) })).outcome).toMatchObject(landedIn(1_159n));
});

describe("two nodes", () => {
  it("one that adds an error to its status does not make the trade fail, and is set aside", async () => {
    start(2);
    const box = land();
    views[0]!.status = confirmed(1_101, { InstructionError: [2, { Custom: 6005 }] });
    views[0]!.record = confirmed(1_101);
    views[1]!.status = confirmed(1_101);
    views[1]!.record = null;
    await vi.advanceTimersByTimeAsync(2_000);
    delete views[1]!.record;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(box.outcome).toMatchObject({ ...landedIn(1_101n), witnesses: 2 });
    expect(warnings.join()).toContain("node 0 contradicts");
  });

  it("one that adds an error to status and record leaves it pending with the reason, until it agrees", async () => {
    start(2);
    const reasons: string[] = [];
    const box = land({ deadlineMs: Date.now() + 120_000, onDispute: (reason) => reasons.push(reason) });
    views[0]!.status = confirmed(1_101, "AccountInUse");
    views[1]!.status = confirmed(1_101);
    await vi.advanceTimersByTimeAsync(30_000);
    for (const view of views) Object.assign(view, past);
    height = LAST_VALID + 40n;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(box.outcome).toBeUndefined();
    expect(reasons).toEqual(["the nodes' records of the transaction differ"]);
    expect(warnings.join()).toContain("node 0, node 1");
    views[0]!.status = confirmed(1_101);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(box.outcome).toMatchObject(landedIn(1_101n));
  });

  it("one that alone has seen the transaction decides nothing, not even with a record", async () => {
    start(2);
    const box = land();
    views[0]!.status = confirmed(1_135, "AccountInUse");
    const moving = setInterval(() => views[1]!.statusSlot++, 200);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(box.outcome).toBeUndefined();
    clearInterval(moving);
  });

  it("the trusted one decides a contradiction", async () => {
    start(2, "node 1");
    const box = land();
    views[0]!.status = confirmed(1_101, "AccountInUse");
    views[1]!.status = confirmed(1_101);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(box.outcome).toMatchObject({ ...landedIn(1_101n), witnesses: 1 });
  });

  it("one decides alone once the other has been silent long enough, by record and status in agreement", async () => {
    start(2);
    let silentMs = 4_000;
    const [silent, speaking] = [endpoints[0]!, views[1]!];
    silent.silentForMs = () => silentMs;
    for (const method of Object.keys(silent.methods))
      silent.methods[method] = () => Promise.reject(new NodeError("unreachable", "no answer"));
    speaking.status = confirmed(1_101);
    const box = land();
    await vi.advanceTimersByTimeAsync(4_000);
    expect(box.outcome).toBeUndefined();
    silentMs = 5_000;
    speaking.record = confirmed(1_101, "AccountInUse");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(box.outcome).toBeUndefined();
    delete speaking.record;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(box.outcome).toMatchObject({ ...landedIn(1_101n), witnesses: 1 });
  });

  /** A node that does not answer from now on. */
  const fallSilent = (endpoint: FakeEndpoint) => {
    const fromMs = Date.now();
    endpoint.silentForMs = () => Date.now() - fromMs;
    for (const method of Object.keys(endpoint.methods))
      endpoint.methods[method] = () => Promise.reject(new NodeError("unreachable", "no answer"));
  };

  it("one takes nothing back that the other has shown before it fell silent", async () => {
    start(2);
    const reasons: string[] = [];
    const box = land({ deadlineMs: Date.now() + 300_000, onDispute: (reason) => reasons.push(reason) });
    views[0]!.status = confirmed(1_101);
    views[1]!.statusSlot = 1_110;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(box.outcome).toBeUndefined();
    fallSilent(endpoints[0]!);
    height = 300n;
    Object.assign(views[1]!, { finalizedSlot: 1_270, finalizedHeight: 270, statusSlot: 1_300 });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(box.outcome).toBeUndefined();
    expect(reasons).toHaveLength(1);
    // Of three, two show that it is in no block.
    landing.close();
    height = 100n;
    start(3);
    const decided = land({ deadlineMs: Date.now() + 300_000 });
    views[0]!.status = confirmed(1_101);
    for (const view of views.slice(1)) view.statusSlot = 1_110;
    await vi.advanceTimersByTimeAsync(2_000);
    fallSilent(endpoints[0]!);
    height = 300n;
    for (const view of views.slice(1))
      Object.assign(view, { finalizedSlot: 1_270, finalizedHeight: 270, statusSlot: 1_300 });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(decided.outcome).toEqual({ kind: "expired" });
  });

  it("beside a third that has shown it before it fell silent, take nothing back that they may have forgotten", async () => {
    start(3);
    const box = land({ deadlineMs: Date.now() + 300_000 });
    views[2]!.status = confirmed(1_101);
    for (const view of views.slice(0, 2)) view.statusSlot = 1_099;
    await vi.advanceTimersByTimeAsync(2_000);
    fallSilent(endpoints[2]!);
    height = 932n;
    for (const view of views.slice(0, 2)) Object.assign(view, long);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(box.outcome).toBeUndefined();
  });

  it("one makes up nothing that the other lacked at that slot before it fell silent", async () => {
    start(2);
    const box = land({ deadlineMs: Date.now() + 300_000 });
    views[0]!.statusSlot = 1_105;
    await vi.advanceTimersByTimeAsync(1_000);
    fallSilent(endpoints[0]!);
    views[1]!.status = confirmed(1_101);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(box.outcome).toBeUndefined();
    // Of a later slot it has said nothing.
    views[1]!.status = confirmed(1_106);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(box.outcome).toMatchObject({ ...landedIn(1_106n), witnesses: 1 });
  });

  it("one that is stuck at a slot is passed over in time", async () => {
    start(2);
    const box = land({ deadlineMs: Date.now() + 60_000 });
    await vi.advanceTimersByTimeAsync(2_000);
    views[1]!.status = confirmed(1_101);
    const moving = setInterval(() => views[1]!.statusSlot++, 200);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(box.outcome).toBeUndefined();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(box.outcome).toMatchObject({ ...landedIn(1_101n), witnesses: 1 });
    clearInterval(moving);
  });

  it("one that goes on from an older slot, as after a restart, is not stuck: it is waited for", async () => {
    start(2);
    height = 130n;
    const box = land({ deadlineMs: Date.now() + 60_000 });
    views[1]!.statusSlot = 1_130;
    await vi.advanceTimersByTimeAsync(1_000);
    views[1]!.statusSlot = 1_080;
    Object.assign(views[0]!, { statusSlot: 1_160, status: confirmed(1_160, "AccountInUse") });
    const moving = setInterval(() => views.forEach((view) => void view.statusSlot++), 200);
    await vi.advanceTimersByTimeAsync(9_000);
    expect(box.outcome).toBeUndefined();
    clearInterval(moving);
  });

  it("two that are stuck are not passed over: the chain may stand still, and the third make up a block", async () => {
    start(3);
    const box = land({ deadlineMs: Date.now() + 60_000 });
    await vi.advanceTimersByTimeAsync(2_000);
    views[2]!.status = confirmed(1_101);
    const moving = setInterval(() => views[2]!.statusSlot++, 200);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(box.outcome).toBeUndefined();
    clearInterval(moving);
  });

  it.each([
    [0, 1],
    [1, 0],
  ])("node %i, without records, leaves the other's to decide, unless its status contradicts", async (bare, full) => {
    start(2);
    delete endpoints[bare]!.methods.getTransaction;
    const box = land();
    views[bare]!.status = confirmed(1_101, "AccountInUse");
    views[full]!.status = confirmed(1_101);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(box.outcome).toBeUndefined();
    views[bare]!.status = confirmed(1_101);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(box.outcome).toMatchObject({ ...landedIn(1_101n), witnesses: 1 });
  });

  it.each(["refused", "answered"] as const)(
    "one that alone has seen it decides nothing beside one that gives no record (%s) and has it in no block",
    async (kind) => {
      start(2);
      const [lying, honest] = views as [NodeView, NodeView];
      endpoints[1]!.methods.getTransaction = () =>
        Promise.reject(new NodeError(kind, "no record", { rpcCode: -32603 }));
      const box = land({ deadlineMs: Date.now() + 60_000 });
      lying.status = confirmed(1_101, "AccountInUse");
      honest.statusSlot = 1_105;
      const moving = setInterval(() => honest.statusSlot++, 200);
      await vi.advanceTimersByTimeAsync(30_000);
      expect(box.outcome).toBeUndefined();
      lying.status = confirmed(1_107);
      honest.status = confirmed(1_107);
      await vi.advanceTimersByTimeAsync(6_000);
      expect(box.outcome).toMatchObject({ ...landedIn(1_107n), witnesses: 1 });
      clearInterval(moving);
    },
  );

  it("one decides nothing because the other fails to give its record for a moment", async () => {
    start(2);
    const { getTransaction } = endpoints[1]!.methods;
    endpoints[1]!.methods.getTransaction = () =>
      Promise.reject(new NodeError("answered", "internal error", { rpcCode: -32603 }));
    delete endpoints[1]!.methods.getSignatureStatuses;
    const box = land();
    views[0]!.status = confirmed(1_101, "AccountInUse");
    await vi.advanceTimersByTimeAsync(4_000);
    expect(box.outcome).toBeUndefined();
    views[1]!.record = confirmed(1_101);
    endpoints[1]!.methods.getTransaction = getTransaction!;
    views[0]!.status = confirmed(1_101);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(box.outcome).toMatchObject({ ...landedIn(1_101n), witnesses: 2 });
  });

  it("one decides nothing beside one whose block is too far for the heights known here: those may be wrong", async () => {
    start(2);
    height = 650n;
    const box = land({ deadlineMs: Date.now() + 60_000 });
    views[0]!.status = confirmed(1_101, "AccountInUse");
    views[1]!.status = confirmed(1_650);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(box.outcome).toBeUndefined();
    views[0]!.status = confirmed(1_650);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(box.outcome).toMatchObject({ ...landedIn(1_650n), witnesses: 2 });
  });

  it("one decides nothing beside one without records whose status is of such a block", async () => {
    start(2);
    height = 650n;
    delete endpoints[1]!.methods.getTransaction;
    const box = land({ deadlineMs: Date.now() + 60_000 });
    views[0]!.status = confirmed(1_101, "AccountInUse");
    views[1]!.status = confirmed(1_650);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(box.outcome).toBeUndefined();
  });

  it("cost one call more than one: a record from each", async () => {
    start(2);
    const box = land();
    await vi.advanceTimersByTimeAsync(10);
    subscriptions.activate();
    for (const view of views) view.status = confirmed(1_101);
    subscriptions.notify("signature", SIGNATURE, { context: { slot: 1_102 }, value: { err: null } });
    await vi.advanceTimersByTimeAsync(0);
    expect(box.outcome).toMatchObject(landedIn(1_101n));
    for (const endpoint of endpoints) expect(endpoint.countOf("getTransaction")).toBe(1);
  });

  it("finality is what both report", async () => {
    start(2);
    views[0]!.status = { slot: 1_100, err: null, confirmationStatus: "finalized" };
    views[1]!.status = confirmed(1_100);
    expect(await landing.fetchProgress(SIGNATURE)).toMatchObject({ slot: 1_100n, commitment: "confirmed" });
    views[1]!.status = { slot: 1_100, err: null, confirmationStatus: "finalized" };
    expect(await landing.fetchProgress(SIGNATURE)).toMatchObject({ slot: 1_100n, commitment: "finalized" });
  });
});

test("a status that cannot be read hides no other", async () => {
  start(1);
  views[0]!.status = confirmed(1_101);
  endpoints[0]!.methods.getSignatureStatuses = (signatures: readonly string[]) => ({
    context: { slot: 1_101 },
    value: signatures.map((one) => (one === SIGNATURE ? views[0]!.status : { slot: "none" })),
  });
  land({ signature: "4".repeat(88) });
  const box = land();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(box.outcome).toMatchObject(landedIn(1_101n));
});

describe("a record that names other accounts than were signed", () => {
  const from = createTestWallet();
  const order = signTransfer({ from, to: createTestWallet().address, lamports: 1n, blockhash: new Uint8Array(32) });
  const namedBy = (accounts: readonly Address[]) => () => {
    const balances = accounts.map(() => 9);
    const meta = {
      err: null,
      fee: 5_000,
      preBalances: balances,
      postBalances: balances,
      ...NO_TOKENS,
      logMessages: [],
    };
    const message = { accountKeys: accounts.map(String) };
    return { slot: 1_101, transaction: { signatures: [order.signature], message }, meta };
  };
  const named = accountsOf(wireLayout(order.transaction).message);

  it("decides nothing, and an honest node decides beside it in time", async () => {
    start(2);
    endpoints[0]!.methods.getTransaction = namedBy(named.filter((address) => address !== from.address));
    endpoints[1]!.methods.getTransaction = namedBy(named);
    for (const view of views) view.status = confirmed(1_101);
    const box = land(order);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(box.outcome).toMatchObject({ record: { accounts: named }, witnesses: 1 });
    expect(warnings.join()).toContain("node 0 contradicts");
  });

  it("decides nothing from a single node, until it gives the right one", async () => {
    start(1);
    endpoints[0]!.methods.getTransaction = namedBy(named.toReversed());
    views[0]!.status = confirmed(1_101);
    const box = land(order);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(box.outcome).toBeUndefined();
    endpoints[0]!.methods.getTransaction = namedBy(named);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(box.outcome).toMatchObject(landedIn(1_101n));
  });
});

describe("one of three nodes that lies", () => {
  it("is outvoted, whatever it reports", async () => {
    start(3);
    const box = land();
    views[2]!.status = confirmed(1_101, "AccountInUse");
    await vi.advanceTimersByTimeAsync(2_000);
    for (const view of views.slice(0, 2)) view.status = confirmed(1_103);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(box.outcome).toMatchObject({ ...landedIn(1_103n), witnesses: 2 });
    expect(warnings.join()).toContain("node 2 contradicts");
  });

  it("stops nothing by errors that no chain writes", async () => {
    start(3);
    const box = land();
    const error = parseRpcJson('{"InstructionError":[0,{"Custom":[1,99999999999999999999]}]}');
    views[0]!.record = null;
    for (const [i, view] of views.entries()) view.status = confirmed(1_101, i === 0 ? error : null);
    await vi.advanceTimersByTimeAsync(0);
    subscriptions.activate();
    const notify = () =>
      subscriptions.notify("signature", SIGNATURE, { context: { slot: 1_101 }, value: { err: error } });
    expect(notify).toThrow(NodeError);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(box.outcome).toMatchObject({ ...landedIn(1_101n), witnesses: 2 });
    expect((await landing.fetchProgress(SIGNATURE))?.commitment).toBe("confirmed");
  });

  it("does not keep a transaction from expiring", async () => {
    const lie = { ...past, status: confirmed(1_150) };
    expect((await overdue(past, past, lie)).outcome).toEqual({ kind: "expired" });
    expect(warnings.join()).toContain("node 2 contradicts");
  });
});

test("looks at the progress of many transactions share calls", async () => {
  start(2);
  for (const view of views) view.status = confirmed(1_100);
  const signatures = Array.from({ length: 300 }, (_, i) => `signature ${i}`);
  const seen = await Promise.all(signatures.map((signature) => landing.fetchProgress(signature)));
  expect(seen).toEqual(signatures.map(() => ({ slot: 1_100n, commitment: "confirmed", error: null })));
  expect(endpoints.map((endpoint) => endpoint.countOf("getSignatureStatuses"))).toEqual([2, 2]);
});

test("a slot may be final once the notices of slots say so, or say nothing", async () => {
  start(1);
  expect(landing.mayBeFinal(1_100n)).toBe(true);
  subscriptions.slot(1_130n, 1_129n, 1_099n);
  expect(landing.mayBeFinal(1_099n)).toBe(true);
  expect(landing.mayBeFinal(1_100n)).toBe(false);
  subscriptions.slot(1_131n, 1_130n, 1_100n);
  // Another node, which is behind, takes nothing back.
  subscriptions.slot(1_129n, 1_128n, 1_098n);
  expect(landing.mayBeFinal(1_100n)).toBe(true);
  expect(landing.mayBeFinal(1_101n)).toBe(false);
  await vi.advanceTimersByTimeAsync(1_001);
  expect(landing.mayBeFinal(1_101n)).toBe(true);
});

test("progress that only one of two endpoints reports is at most processed", async () => {
  start(2);
  views[1]!.status = { slot: 1_100, err: null, confirmationStatus: "finalized" };
  expect(await landing.fetchProgress(SIGNATURE)).toMatchObject({ slot: 1_100n, commitment: "processed" });
  views[1]!.status = null;
  expect(await landing.fetchProgress(SIGNATURE)).toBeUndefined();
});

test("progress outside the message's lifetime is rejected, and another endpoint asked", async () => {
  start(2);
  views[0]!.status = confirmed(1_390);
  expect(await landing.fetchProgress(SIGNATURE, LAST_VALID)).toBeUndefined();
  views[1]!.status = confirmed(1_100);
  expect(await landing.fetchProgress(SIGNATURE, LAST_VALID)).toMatchObject({ slot: 1_100n, commitment: "processed" });
});

test("a slot outside the message's lifetime is rejected", async () => {
  start(1);
  const box = land();
  views[0]!.status = confirmed(1_390);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(box.outcome).toBeUndefined();
  views[0]!.status = confirmed(1_102);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(box.outcome).toMatchObject(landedIn(1_102n));
});

test("a rate-limited sender gets every first broadcast, and repetitions within its limit, least repeated first", async () => {
  start(1);
  const sent: string[] = [];
  const warnings: string[] = [];
  const sender = createNodeSender(fakeEndpoint({ sendTransaction: (bytes: string) => void sent.push(bytes) }), 0, {
    now: Date.now,
    perSecond: 3,
  });
  const pool = createRpcPool({ endpoints, now: Date.now, warn: () => {} });
  landing = createLanding({
    pool,
    witnesses: new Witnesses({ pool, now: Date.now, warn: () => {} }),
    senders: [sender],
    subscriptions,
    head: { blockHeight: () => height, slot: () => height + 1_000n, slotMs: () => 200 },
    now: Date.now,
    monotonicMs: () => performance.now(),
    warn: (message) => void warnings.push(message),
    random: () => 0.5,
  });
  const order = (n: number) => ({ signature: `old-${n}`, transaction: Uint8Array.of(n) });
  for (let n = 0; n < 8; n++) land(order(n));
  await vi.advanceTimersByTimeAsync(0);
  expect(sent).toHaveLength(8);
  await vi.advanceTimersByTimeAsync(2_000);
  sent.length = 0;
  land({ signature: "new", transaction: Uint8Array.of(99) });
  await vi.advanceTimersByTimeAsync(1_000);
  const fresh = Buffer.of(99).toString("base64");
  expect(sent.filter((bytes) => bytes === fresh).length).toBe(3);
  expect(sent.length).toBeLessThanOrEqual(1 + 4);
  expect(warnings).toHaveLength(1);
});

test("a relay that repeats by itself gets each transaction once, and only transactions that allow it", async () => {
  start(1);
  const relay = fakeEndpoint({ sendTransaction: () => "taken" });
  const node = createNodeSender(relay, 0, { now: Date.now });
  const sender: Sender = {
    name: "relay",
    allowedAs: "relay",
    repeats: true,
    isCooling: () => node.isCooling(),
    takeTurn: () => node.takeTurn(),
    send: (encoded) => node.send(encoded),
  };
  const pool = createRpcPool({ endpoints, now: Date.now, warn: () => {} });
  landing = createLanding({
    pool,
    witnesses: new Witnesses({ pool, now: Date.now, warn: () => {} }),
    senders: [createNodeSender(endpoints[0]!, 0, { now: Date.now }), sender],
    subscriptions,
    head: { blockHeight: () => height, slot: () => height + 1_000n, slotMs: () => 200 },
    now: Date.now,
    monotonicMs: () => performance.now(),
    warn: () => {},
    random: () => 0.5,
  });
  const events: LandingEvent[] = [];
  land({ senders: [OWN_NODES, "relay"], onEvent: (event) => void events.push(event) });
  land({ signature: "another", senders: [OWN_NODES] });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(relay.countOf("sendTransaction")).toBe(1);
  expect(endpoints[0]!.countOf("sendTransaction")).toBe(12);
  expect(events).toEqual([
    { kind: "sent", sender: "rpc-1" },
    { kind: "sent", sender: "relay" },
  ]);
});
