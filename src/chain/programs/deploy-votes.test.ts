import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Address } from "../../primitives/address.ts";
import { derive } from "../../solana/pda.ts";
import { UPGRADEABLE_LOADER } from "../../solana/programs.ts";
import type { DeployedProgram } from "../port.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { ReadOptions, RpcPool } from "../rpc/rpc-pool.ts";
import type { SubscriptionRequest } from "../rpc/subscriptions/held-subscriptions.ts";
import { createProgramReader } from "./program-reader.ts";
import { createProgramWatch, type ProgramWatch } from "./program-watch.ts";

const PROGRAM = Address.from(new Uint8Array(32).fill(1));
const CODE = derive(UPGRADEABLE_LOADER, PROGRAM);

let watch: ProgramWatch;
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  watch.close();
  vi.useRealTimers();
});

/** What a node says: the slot of its state, and that of the program's deployment. Undefined: it does not answer. */
type Said = { readonly at: number; readonly deploySlot: number } | undefined;

function headerAt(slot: number): Buffer {
  const data = Buffer.alloc(45);
  data.writeUInt32LE(3, 0);
  data.writeBigUInt64LE(BigInt(slot), 4);
  return data;
}

function pointer(): Buffer {
  const data = Buffer.alloc(36);
  data.writeUInt32LE(2, 0);
  data.set(CODE.bytes, 4);
  return data;
}

const wire = (data: Buffer, executable: boolean) => ({
  data: [data.toString("base64"), "base64"],
  owner: UPGRADEABLE_LOADER.toString(),
  lamports: 1,
  executable,
  rentEpoch: 0,
  space: data.length,
});

/** A watch over nodes that say what the test sets, and a stream that reports what it sends. */
async function start(nodes: Said[], trusted?: number) {
  const endpoints = nodes.map((_, i) => ({ name: `node ${i}` }) as RpcEndpoint);
  let asked = 0;
  const pool = {
    endpoints,
    async read(_method: string, [addresses]: [readonly string[]], { only, startAt = 0 }: ReadOptions = {}) {
      const said = nodes[only === undefined ? startAt % nodes.length : endpoints.indexOf(only)];
      if (only !== undefined) asked += 1;
      if (said === undefined) throw new Error("no answer");
      const value = addresses.map((one) =>
        one === CODE.toString() ? wire(headerAt(said.deploySlot), false) : wire(pointer(), true),
      );
      return { context: { slot: said.at }, value };
    },
  } as unknown as RpcPool;
  let stream!: SubscriptionRequest;
  let doubts = 0;
  const subscriptions = {
    subscribe(request: SubscriptionRequest) {
      stream = request;
      return () => {};
    },
    doubt: () => ++doubts > 0,
    host: () => "stream.example",
  };
  const warnings: string[] = [];
  const contradicted: string[] = [];
  const replaced: bigint[] = [];
  const options = { commitment: "processed", warn: (line: string) => void warnings.push(line) } as const;
  let nowMs = 0;
  watch = createProgramWatch({
    reader: createProgramReader({
      pool,
      trusted: trusted === undefined ? undefined : endpoints[trusted],
      commitment: "processed",
    }),
    subscriptions,
    ...options,
    now: () => nowMs,
    contradict: ({ name }) => void contradicted.push(name),
    pollMs: 1e9,
    pauseMs: 1,
  });
  watch.onReplaced(({ slot }: DeployedProgram) => void replaced.push(slot));
  await watch.follow([PROGRAM]);
  asked = 0;
  return {
    contradicted,
    replaced,
    warnings,
    asked: () => asked,
    doubts: () => doubts,
    advance(ms: number): void {
      nowMs += ms;
    },
    notice: (slot: number, at: number) =>
      stream.onNotice({ context: { slot: at }, value: wire(headerAt(slot), false) }),
    /** Resolves once the deployments that count have changed so often. */
    async until(count: number): Promise<void> {
      while (replaced.length < count) await vi.advanceTimersByTimeAsync(1);
    },
  };
}

test("two nodes that agree outvote a stream that lies in every slot: it withholds once, and is set aside by name", async () => {
  const rig = await start([
    { at: 100, deploySlot: 5 },
    { at: 100, deploySlot: 5 },
  ]);
  rig.notice(99, 99);
  expect(rig.replaced).toEqual([99n]);
  await rig.until(2);
  expect(rig.replaced).toEqual([99n, 5n]);
  expect(rig.warnings).toEqual([expect.stringMatching(/stream\.example .* slot 99, two nodes say 5/)]);
  expect(rig.doubts()).toBe(1);
  for (let slot = 100; slot < 140; slot++) rig.notice(slot, slot);
  expect([rig.replaced.length, watch.get(PROGRAM)?.slot]).toEqual([2, 5n]);
  expect(rig.asked()).toBeLessThanOrEqual(4);
});

test("a real replacement counts at once, though nodes are behind the stream, and set aside once a node confirms it", async () => {
  const nodes: Said[] = [
    { at: 100, deploySlot: 5 },
    { at: 100, deploySlot: 5 },
  ];
  const rig = await start(nodes);
  rig.notice(101, 101);
  expect(rig.replaced).toEqual([101n]);
  nodes[0] = { at: 101, deploySlot: 101 };
  nodes[1] = { at: 101, deploySlot: 101 };
  rig.advance(60_000);
  rig.notice(99, 102);
  nodes[0] = { at: 102, deploySlot: 101 };
  nodes[1] = { at: 102, deploySlot: 101 };
  await rig.until(3);
  expect(rig.replaced).toEqual([101n, 99n, 101n]);
});

test("one node alone outvotes nothing, and a stream's own slot far ahead of the nodes does not protect its lie", async () => {
  const nodes: Said[] = [{ at: 100, deploySlot: 5 }, undefined];
  const rig = await start(nodes);
  rig.notice(99, 1_000_000);
  expect(rig.replaced).toEqual([99n]);
  nodes[1] = { at: 100, deploySlot: 5 };
  rig.advance(10_000);
  await rig.until(2);
  expect(rig.replaced).toEqual([99n, 5n]);
});

test("a stream's own node that confirms its lie is outvoted by two others, however soon it answers", async () => {
  const nodes: Said[] = [
    { at: 100, deploySlot: 5 },
    { at: 98, deploySlot: 5 },
    { at: 100, deploySlot: 99 },
  ];
  const rig = await start(nodes);
  rig.notice(99, 99);
  nodes[1] = { at: 100, deploySlot: 5 };
  await rig.until(2);
  expect(rig.replaced).toEqual([99n, 5n]);
});

/** A poll, and time for a vote on it to begin and to end. */
async function poll(): Promise<void> {
  await watch.refresh();
  await vi.advanceTimersByTimeAsync(5);
}

test("a node that makes up a replacement, or hides one, moves nothing against two others and is named", async () => {
  const nodes: Said[] = [5, 5, 5].map((deploySlot) => ({ at: 100, deploySlot }));
  const rig = await start(nodes);
  nodes[0] = { at: 101, deploySlot: 99 };
  nodes[1] = nodes[2] = { at: 101, deploySlot: 5 };
  for (let round = 0; round < 6; round++) await poll();
  expect([rig.replaced, watch.get(PROGRAM)?.slot]).toEqual([[], 5n]);
  expect(new Set(rig.contradicted)).toEqual(new Set(["node 0"]));
  nodes[1] = nodes[2] = { at: 103, deploySlot: 102 };
  while (rig.replaced.length === 0) await poll();
  expect(rig.replaced).toEqual([102n]);
});

test("of two divided nodes the later deployment counts once both had their time, and is logged; never the earlier", async () => {
  const nodes: Said[] = [5, 5].map((deploySlot) => ({ at: 100, deploySlot }));
  const rig = await start(nodes);
  /** Polls of both nodes, and more than the time they have. */
  const pass = async () => {
    for (let round = 0; round < 6; round++) {
      await poll();
      rig.advance(10_000);
    }
  };
  nodes[0] = { at: 101, deploySlot: 4 };
  await pass();
  expect(rig.replaced).toEqual([]);
  nodes[0] = { at: 101, deploySlot: 99 };
  while (rig.replaced.length === 0) await pass();
  await pass();
  expect(rig.replaced).toEqual([99n]);
  nodes[0] = { at: 101, deploySlot: 5 };
  while (rig.replaced.length === 1) await pass();
  expect(rig.replaced).toEqual([99n, 5n]);
  expect(rig.warnings.filter((line) => /disagree on the slot/.test(line))).toHaveLength(1);
});

test("a silent node leaves the other's word, and the trusted one decides", async () => {
  const nodes: Said[] = [{ at: 100, deploySlot: 5 }, undefined];
  const alone = await start(nodes);
  nodes[0] = { at: 101, deploySlot: 99 };
  while (alone.replaced.length === 0) await poll();
  expect(watch.get(PROGRAM)?.slot).toBe(99n);
  watch.close();

  const three: Said[] = [5, 5, 5].map((deploySlot) => ({ at: 100, deploySlot }));
  const rig = await start(three, 2);
  three[2] = { at: 101, deploySlot: 101 };
  while (rig.replaced.length === 0) await poll();
  expect(rig.replaced).toEqual([101n]);
});

test("a node that has not reached a replacement takes none back and is not named, even if it is the trusted one", async () => {
  for (const trusted of [undefined, 2]) {
    const nodes: Said[] = [5, 5, 5].map((deploySlot) => ({ at: 100, deploySlot }));
    const rig = await start(nodes, trusted);
    nodes[0] = nodes[1] = { at: 101, deploySlot: 101 };
    rig.notice(101, 101);
    for (let round = 0; round < 6; round++) await poll();
    expect([rig.replaced, rig.contradicted]).toEqual([[101n], []]);
    nodes[0] = nodes[1] = nodes[2] = { at: 103, deploySlot: 5 };
    while (rig.replaced.length === 1) await poll();
    expect(watch.get(PROGRAM)?.slot).toBe(5n);
    watch.close();
  }
});

test("nodes that stay divided are asked ever less often, until they have had their time", async () => {
  const nodes: Said[] = [5, 5].map((deploySlot) => ({ at: 100, deploySlot }));
  const rig = await start(nodes);
  nodes[0] = { at: 101, deploySlot: 99 };
  await poll();
  await poll();
  await vi.advanceTimersByTimeAsync(100);
  expect(rig.asked()).toBeGreaterThan(6);
  expect(rig.asked()).toBeLessThan(2 * 25);
});

test("two nodes that were divided at the start, of which neither can outvote the other, are named", async () => {
  const rig = await start([
    { at: 100, deploySlot: 90 },
    { at: 100, deploySlot: 5 },
  ]);
  await watch.refresh();
  await watch.refresh();
  await vi.advanceTimersByTimeAsync(10);
  expect(rig.warnings).toEqual([]);
  rig.advance(11_000);
  await vi.advanceTimersByTimeAsync(100);
  expect(rig.warnings).toEqual([expect.stringMatching(/disagree .*node 0 90, node 1 5/)]);
  expect([rig.replaced, rig.contradicted]).toEqual([[], []]);
  expect(watch.get(PROGRAM)?.slot).toBe(90n);
});

test("a node that shows a deployment from later than its own state says nothing", async () => {
  const rig = await start([
    { at: 100, deploySlot: 1_000_000 },
    { at: 100, deploySlot: 5 },
  ]);
  expect(watch.get(PROGRAM)?.slot).toBe(5n);
  await watch.refresh();
  rig.advance(11_000);
  await vi.advanceTimersByTimeAsync(100);
  expect(rig.replaced).toEqual([]);
  expect(watch.get(PROGRAM)?.slot).toBe(5n);
});
