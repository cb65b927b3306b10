import { afterEach, expect, test } from "vitest";
import { fakeSubscriptions } from "../../../test/support/fake-chain.ts";
import { answer, type FakeCall, type FakeNode, startFakeNode } from "../../../test/support/fake-node.ts";
import { RunningTime } from "../../primitives/turns/running-time.ts";
import type { LandingOutcome } from "../port.ts";
import { createRpcEndpoint } from "../rpc/rpc-endpoint.ts";
import { createRpcPool } from "../rpc/rpc-pool.ts";
import { Witnesses } from "../rpc/witnesses.ts";
import { createLanding } from "./landing.ts";
import { createNodeSender, OWN_NODES } from "./sender.ts";

const NO_TOKENS = { preTokenBalances: [], postTokenBalances: [] };

const SIGNATURE = "5".repeat(88);
const STOPPED_MS = 6_000;
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A node that holds back its records until the test lets them go. */
async function startNode(error: unknown): Promise<FakeNode & { readonly held: (() => void)[] }> {
  const status = { slot: 1_100, err: error, confirmationStatus: "confirmed" };
  const meta = { err: error, fee: 5_000, preBalances: [9], postBalances: [4], ...NO_TOKENS, logMessages: [] };
  const message = { accountKeys: ["11111111111111111111111111111111"] };
  const record = { slot: 1_100, transaction: { signatures: [SIGNATURE], message }, meta };
  const held: (() => void)[] = [];
  const getTransaction: FakeCall = (request, response) => void held.push(() => answer(record)(request, response));
  const node = await startFakeNode({
    sendTransaction: answer(SIGNATURE),
    getSignatureStatuses: answer({ context: { slot: 1_100 }, value: [status] }),
    getTransaction,
  });
  closers.push(() => void node.close());
  return Object.assign(node, { held });
}

test("after a process stood still, the first of two nodes that answers does not decide alone", async () => {
  const [liar, honest] = [await startNode({ InstructionError: [0, { Custom: 1 }] }), await startNode(null)];
  let stoodMs = 0;
  const monotonicMs = () => performance.now() + stoodMs;
  const time = new RunningTime(monotonicMs, 500);
  const turns = setInterval(() => time.turn(), 10);
  closers.push(() => clearInterval(turns));
  const endpoints = [liar, honest].map(({ url }) =>
    createRpcEndpoint({ url, now: monotonicMs, runningMs: time.now, timeoutMs: 60_000 }),
  );
  const pool = createRpcPool({ endpoints, now: monotonicMs, warn: () => {} });
  const landing = createLanding({
    ...{ pool, monotonicMs, runningMs: time.now, now: monotonicMs, random: () => 0.5, warn: () => {} },
    witnesses: new Witnesses({ pool, now: time.now, warn: () => {} }),
    senders: endpoints.map((endpoint, i) => createNodeSender(endpoint, i, { now: monotonicMs })),
    subscriptions: fakeSubscriptions(),
    head: { blockHeight: () => 100n, slot: () => 1_100n, slotMs: () => 100 },
  });
  closers.push(() => landing.close());
  let outcome: LandingOutcome | undefined;
  const order = { signature: SIGNATURE, transaction: Uint8Array.of(1), lastValidBlockHeight: 150n };
  void landing.land({ ...order, deadlineMs: Number.MAX_SAFE_INTEGER / 2 ** 22, senders: [OWN_NODES] }).then((ended) => {
    outcome = ended;
  });
  await expect.poll(() => [liar.held.length, honest.held.length]).toEqual([1, 1]);
  // Both have answered meanwhile; what the liar sent is read first.
  stoodMs += STOPPED_MS;
  liar.held[0]!();
  await expect.poll(() => liar.held.length === 2 || outcome !== undefined).toBe(true);
  expect(outcome).toBeUndefined();
  for (const letGo of [liar.held[1]!, honest.held[0]!]) letGo();
  await expect.poll(() => liar.held.length + honest.held.length > 3 || outcome !== undefined).toBe(true);
  expect(outcome).toBeUndefined();
});
