import bs58 from "bs58";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  type FakeEndpoint,
  type FakeSubscriptions,
  fakeEndpoint,
  fakeSubscriptions,
} from "../../../test/support/fake-chain.ts";
import { steadyClock } from "../../primitives/clock.ts";
import { createRpcPool } from "../rpc/rpc-pool.ts";
import { createChainHead, type LiveChainHead } from "./chain-head.ts";

/** Each block has its own. */
const blockhashOf = (of: number) => bs58.encode(Buffer.alloc(32, String(of)));
/** The fake chain: moves by hand. */
let slot: number;
let endpoint: FakeEndpoint;
let subscriptions: FakeSubscriptions;
let head: LiveChainHead | undefined;

function clockAccount({ at = BigInt(slot), laterBy = 0n } = {}) {
  const data = Buffer.alloc(40);
  data.writeBigUInt64LE(at, 0);
  data.writeBigUInt64LE(3n, 16);
  data.writeBigInt64LE(1_795_000_000n + laterBy, 32);
  const owner = "Sysvar1111111111111111111111111111111111111";
  return { lamports: 1, owner, data: [data.toString("base64"), "base64"], executable: false };
}

beforeEach(() => {
  vi.useFakeTimers();
  slot = 1_000;
  subscriptions = fakeSubscriptions();
  endpoint = fakeEndpoint({
    getGenesisHash: () => "genesis",
    getLatestBlockhash: () => ({
      context: { slot: slot - 1 },
      value: { blockhash: blockhashOf(slot - 1), lastValidBlockHeight: slot - 101 + 150 },
    }),
    getMultipleAccounts: ([address]: string[]) => ({
      context: { slot },
      value: [address?.startsWith("Sysvar") ? clockAccount() : null],
    }),
    getEpochInfo: () => ({ absoluteSlot: slot, blockHeight: slot - 100, epoch: 3 }),
    getMinimumBalanceForRentExemption: (size: number) => (128 + size) * 5_080,
    getRecentPerformanceSamples: () => [{ numSlots: 200, samplePeriodSecs: 60 }],
  });
});
afterEach(() => {
  head?.close();
  vi.useRealTimers();
});

interface StartOptions {
  readonly maxAgeMs?: number;
  readonly clockMaxAgeMs?: number;
  readonly now?: () => number;
  readonly wallMs?: () => number;
  readonly warn?: (message: string) => void;
}

async function start(options: StartOptions = {}): Promise<LiveChainHead> {
  const pool = createRpcPool({ endpoints: [endpoint], now: Date.now, warn: () => {} });
  head = await createChainHead({
    pool,
    subscriptions,
    now: Date.now,
    monotonicMs: () => performance.now(),
    warn: () => {},
    ...options,
  });
  return head;
}

function later<T>(answer: T, afterMs: number): Promise<T> {
  return new Promise((resolve) => setTimeout(() => resolve(answer), afterMs));
}

async function run(slots: number, slotMs: number): Promise<void> {
  for (let i = 0; i < slots; i++) {
    await vi.advanceTimersByTimeAsync(slotMs);
    slot += 1;
    subscriptions.slot(BigInt(slot));
  }
}

test("everything is known once it has started", async () => {
  const started = await start();
  expect(started.genesisHash()).toBe("genesis");
  expect(started.slotMs()).toBe(300);
  expect(started.lifetime()).toMatchObject({ lastValidBlockHeight: 1_049n, slot: 999n });
  expect(started.lifetime().blockhash.length).toBe(32);
  expect(started.clock()).toEqual({ slot: 1_000n, epoch: 3n, unixTimestamp: 1_795_000_000n });
  expect(started.blockHeight()).toBe(900n);
});

test("rent is the node's, at any size", async () => {
  const started = await start();
  expect(started.rentExemption(165)).toBe(1_488_440n);
  expect(started.rentExemption(0)).toBe(650_240n);
});

test("slot time follows the slots, within seconds of a change", async () => {
  const started = await start();
  await run(100, 400);
  expect(started.slotMs()).toBeCloseTo(400, 0);
  await run(50, 200);
  expect(started.slotMs()).toBeGreaterThan(198);
  expect(started.slotMs()).toBeLessThan(205);
});

test("block height and blockhash move with the slots", async () => {
  const started = await start();
  await run(10, 200);
  expect(started.blockHeight()).toBe(910n);
  expect(started.lifetime().slot).toBeGreaterThan(1_005n);
});

test("skipped slots do not count as blocks", async () => {
  const started = await start();
  endpoint.methods.getEpochInfo = () => ({ absoluteSlot: slot, blockHeight: slot - 105, epoch: 3 });
  await run(50, 250);
  expect(started.blockHeight()).toBe(BigInt(slot - 105));
});

test("a node that stands still makes blockhash and clock stale, even while it answers", async () => {
  const started = await start();
  await vi.advanceTimersByTimeAsync(1_900);
  expect(started.lifetime().slot).toBe(999n);
  await vi.advanceTimersByTimeAsync(200);
  expect(() => started.lifetime()).toThrowError(expect.objectContaining({ code: "STATE_STALE", retryable: true }));
  expect(() => started.clock()).toThrowError(expect.objectContaining({ code: "STATE_STALE" }));
  expect(started.slotAgeMs()).toBeGreaterThan(2_000);
  slot += 1;
  await vi.advanceTimersByTimeAsync(400);
  expect(started.lifetime().slot).toBe(1_000n);
});

test("a wall clock that is set back by an hour makes nothing fresh again, and times that others see follow it", async () => {
  const now = steadyClock(Date.now, () => performance.now());
  const started = await start({ now, wallMs: Date.now });
  await run(5, 400);
  vi.setSystemTime(Date.now() - 3_600_000);
  const inTenBlocksMs = started.heightAtMs(started.blockHeight() + 10n) - Date.now();
  expect(Math.abs(inTenBlocksMs - 10 * started.slotMs())).toBeLessThan(1_000);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(() => started.lifetime()).toThrowError(expect.objectContaining({ code: "STATE_STALE" }));
});

test("a chain that pauses is not stale while its node answers, up to the longest pause", async () => {
  const started = await start({ maxAgeMs: 10_000, clockMaxAgeMs: 2_000 });
  await run(4, 400);
  for (let i = 0; i < 9; i++) {
    await vi.advanceTimersByTimeAsync(1_000);
    expect(started.fault()).toBeUndefined();
    expect(started.silenceMs()).toBeLessThan(2_000);
  }
  await vi.advanceTimersByTimeAsync(2_000);
  expect(started.fault()).toMatch(/1\d{4} ms old/);
  expect(started.silenceMs()).toBeGreaterThan(10_000);
});

test("a node that does not answer leaves the clock and the state stale, though the blockhash is good for longer", async () => {
  const started = await start({ maxAgeMs: 10_000, clockMaxAgeMs: 2_000 });
  await run(4, 400);
  for (const method of Object.keys(endpoint.methods)) delete endpoint.methods[method];
  await vi.advanceTimersByTimeAsync(3_000);
  expect(started.lifetime().slot).toBeGreaterThan(0n);
  expect(() => started.clock()).toThrowError(expect.objectContaining({ code: "STATE_STALE" }));
  expect(started.silenceMs()).toBeGreaterThan(2_000);
});

test("four skipped slots leave everything fresh; a node's blockhash that eleven blocks have left behind is stale", async () => {
  const started = await start({ maxAgeMs: 10_000, clockMaxAgeMs: 2_000 });
  await run(10, 400);
  const standing = slot - 1;
  endpoint.methods.getLatestBlockhash = () => ({
    context: { slot: standing },
    value: { blockhash: blockhashOf(standing), lastValidBlockHeight: standing - 100 + 150 },
  });
  await vi.advanceTimersByTimeAsync(1_600);
  slot += 5;
  subscriptions.slot(BigInt(slot));
  expect(started.fault()).toBeUndefined();
  await run(7, 400);
  expect(started.fault()).toBeUndefined();
  await run(5, 400);
  expect(started.fault()).toMatch(/blockhash/);
});

test("a node that takes its time leaves the blockhash good: most of its life remains", async () => {
  const started = await start({ maxAgeMs: 10_000, clockMaxAgeMs: 10_000 });
  await run(10, 50);
  endpoint.methods.getLatestBlockhash = () => new Promise(() => {});
  await run(100, 50);
  expect(started.fault()).toBeUndefined();
  await run(120, 50);
  expect(started.fault()).toMatch(/blockhash/);
});

test("the life of a blockhash is the chain's, not a constant", async () => {
  endpoint.methods.getLatestBlockhash = () => ({
    context: { slot: slot - 1 },
    value: { blockhash: blockhashOf(slot - 1), lastValidBlockHeight: slot - 101 + 300 },
  });
  const started = await start();
  await run(60, 250);
  expect(started.blockHeight()).toBe(BigInt(slot - 100));
  expect(started.lifetime().lastValidBlockHeight - started.blockHeight()).toBeGreaterThan(290n);
});

test("at rest blockhash and clock are read once a second, in use every 400 ms", async () => {
  const started = await start();
  await run(60, 400);
  const countOver = async (ms: number) => {
    const before = endpoint.countOf("getLatestBlockhash") + endpoint.countOf("getMultipleAccounts");
    await run(ms / 400, 400);
    return endpoint.countOf("getLatestBlockhash") + endpoint.countOf("getMultipleAccounts") - before;
  };
  expect(await countOver(60_000)).toBeLessThanOrEqual(2 * 60 + 4);
  started.lifetime();
  expect(await countOver(8_000)).toBe(2 * 20);
});

/** The chain is undone: from now on the nodes serve another one, so many slots ahead, whose heights have begun anew. */
function undo(aheadSlots: number, ...nodes: FakeEndpoint[]): void {
  slot += aheadSlots;
  const first = slot;
  for (const node of nodes)
    Object.assign(node.methods, {
      getLatestBlockhash: () => ({
        context: { slot: slot - 1 },
        value: { blockhash: blockhashOf(10 * slot), lastValidBlockHeight: slot - first + 150 },
      }),
      getEpochInfo: () => ({ absoluteSlot: slot, blockHeight: slot - first + 1, epoch: 3 }),
      isBlockhashValid: (blockhash: string) => ({ context: { slot }, value: blockhash === blockhashOf(10 * slot) }),
    });
}

test.each([
  [5_000, 1],
  [5_000, 2],
  [3, 1],
])(
  "a blockhash of a chain that was undone, %i slots ahead on %i nodes, is dropped at the next refresh",
  async (ahead, count) => {
    const nodes = [endpoint, truthful()].slice(0, count);
    for (const node of nodes) node.methods.isBlockhashValid = () => ({ context: { slot }, value: true });
    const started = await startWith(...nodes);
    await run(10, 400);
    const undone = started.lifetime();
    undo(ahead, ...nodes);
    let refused = 0;
    for (let i = 0; i < 40; i++) {
      await run(1, 400);
      if (started.fault() !== undefined) refused += 1;
      else expect([i, started.lifetime().lastValidBlockHeight]).not.toEqual([i, undone.lastValidBlockHeight]);
    }
    expect(refused).toBeLessThan(8);
  },
);

test("a blockhash stays while a node that has come to its slot knows it, or none has, though others name none that follow", async () => {
  const behind = () => ({ context: { slot: 900 }, value: false });
  const known = () => ({ context: { slot }, value: true });
  for (const says of [behind, known]) {
    const started = await start({ maxAgeMs: 10_000 });
    await run(10, 400);
    const { slot: at } = started.lifetime();
    const honest = endpoint.methods.getLatestBlockhash!;
    endpoint.methods.getLatestBlockhash = blockhashAt({ height: 200 });
    endpoint.methods.isBlockhashValid = says;
    await run(5, 400);
    expect(started.lifetime().slot).toBe(at);
    endpoint.methods.getLatestBlockhash = honest;
    started.close();
  }
});

test("one found after the last was dropped stays, though the head could not be found anew at once and a later read fails", async () => {
  const started = await start({ maxAgeMs: 10_000, clockMaxAgeMs: 10_000 });
  await run(10, 400);
  const honest = { ...endpoint.methods };
  endpoint.methods.getLatestBlockhash = blockhashAt({ height: 200 });
  endpoint.methods.isBlockhashValid = () => ({ context: { slot }, value: false });
  delete endpoint.methods.getEpochInfo;
  await run(3, 400);
  expect(started.fault()).toMatch(/undone/);
  Object.assign(endpoint.methods, honest);
  await run(5, 400);
  expect(started.fault()).toBeUndefined();
  delete endpoint.methods.getMultipleAccounts;
  for (let i = 0; i < 5; i++) {
    await run(1, 400);
    expect(started.fault()).toBeUndefined();
  }
});

test("a lagging endpoint does not bring back an old blockhash", async () => {
  const started = await start();
  endpoint.methods.getLatestBlockhash = () => ({
    context: { slot: slot - 200 },
    value: { blockhash: blockhashOf(slot - 200), lastValidBlockHeight: slot - 200 },
  });
  await vi.advanceTimersByTimeAsync(800);
  expect(started.lifetime()).toMatchObject({ lastValidBlockHeight: 1_049n, slot: 999n });
});

test("without samples the slots themselves are measured", async () => {
  delete endpoint.methods.getRecentPerformanceSamples;
  const starting = start();
  await run(5, 210);
  expect((await starting).slotMs()).toBeCloseTo(210, 0);
});

test("an unreachable node fails the start with UPSTREAM_ERROR", async () => {
  delete endpoint.methods.getLatestBlockhash;
  await expect(start()).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  expect(vi.getTimerCount()).toBe(0);
});

const blockhashAt = (shift: { slot?: number; height?: number }) => () => ({
  context: { slot: slot - 1 + (shift.slot ?? 0) },
  value: {
    blockhash: blockhashOf(slot - 1 + (shift.slot ?? 0)),
    lastValidBlockHeight: slot - 101 + 150 + (shift.height ?? 0),
  },
});

/** A second endpoint of the same chain, which is right. */
const truthful = () => fakeEndpoint({ ...endpoint.methods }, "truthful");

const startWith = (...endpoints: FakeEndpoint[]) => startTrusting(undefined, ...endpoints);

async function startTrusting(trusted: FakeEndpoint | undefined, ...endpoints: FakeEndpoint[]): Promise<LiveChainHead> {
  const pool = createRpcPool({ endpoints, now: Date.now, warn: () => {} });
  head = await createChainHead({
    pool,
    subscriptions,
    now: Date.now,
    monotonicMs: () => performance.now(),
    warn: () => {},
    trusted,
  });
  return head;
}

test.each([{ height: 200 }, { height: -200 }, { slot: 200 }, { slot: -200 }])(
  "with two endpoints, one that lies about the blockhash by %o is passed over",
  async (shift) => {
    const honest = truthful();
    const started = await startWith(endpoint, honest);
    endpoint.methods.getLatestBlockhash = blockhashAt(shift);
    for (let i = 0; i < 40; i++) {
      await run(1, 250);
      const { slot: at, lastValidBlockHeight } = started.lifetime();
      expect(slot - Number(at)).toBeLessThanOrEqual(10);
      expect(lastValidBlockHeight - at).toBe(50n);
    }
    expect(started.slot()).toBe(BigInt(slot));
  },
);

test.each([{ height: 200 }, { height: -200 }])(
  "if the only endpoint is wrong about the last valid height by %o, the head is stale, never wrong",
  async (shift) => {
    const started = await start();
    await run(4, 250);
    endpoint.methods.getLatestBlockhash = blockhashAt(shift);
    let refused = 0;
    for (let i = 0; i < 60; i++) {
      await run(1, 250);
      try {
        const { slot: at, lastValidBlockHeight } = started.lifetime();
        expect(lastValidBlockHeight - at).toBe(50n);
      } catch (error) {
        expect(error).toMatchObject({ code: "STATE_STALE" });
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(40);
    endpoint.methods.getLatestBlockhash = blockhashAt({});
    await run(4, 250);
    expect(started.lifetime().slot).toBeGreaterThan(BigInt(slot - 4));
  },
);

const clockSaying = (lie: Parameters<typeof clockAccount>[0]) => () => ({
  context: { slot },
  value: [clockAccount(lie)],
});

test.each([{ at: 1n << 60n }, { at: 1n }, { laterBy: 3_600n }, { laterBy: -3_600n }, { laterBy: 1n << 61n }])(
  "a clock that one of two or three nodes makes up, %o, is passed over and leaves nothing behind",
  async (lie) => {
    const [b, c] = [truthful(), truthful()];
    for (const nodes of [
      [endpoint, b],
      [b, endpoint],
      [b, endpoint, c],
    ]) {
      const started = await startWith(...nodes);
      const honest = endpoint.methods.getMultipleAccounts!;
      endpoint.methods.getMultipleAccounts = clockSaying(lie);
      for (let i = 0; i < 40; i++) {
        await run(1, 400);
        const { slot: at, unixTimestamp } = started.clock();
        expect([slot - Number(at) < 5, unixTimestamp]).toEqual([true, 1_795_000_000n]);
      }
      endpoint.methods.getMultipleAccounts = honest;
      started.close();
    }
  },
);

test("a clock of a slot or two after the one that its answer names is believed, always and now and then", async () => {
  for (const ahead of [() => 2, () => slot % 3]) {
    const started = await start();
    await run(4, 400);
    const honest = endpoint.methods.getMultipleAccounts!;
    endpoint.methods.getMultipleAccounts = () => clockSaying({ at: BigInt(slot + ahead()) })();
    for (let i = 0; i < 30; i++) {
      await run(1, 400);
      expect(slot - Number(started.clock().slot)).toBeLessThan(4);
    }
    endpoint.methods.getMultipleAccounts = honest;
    started.close();
  }
});

test("a clock from the future that the only node names once leaves the next one true", async () => {
  const started = await start();
  await run(4, 400);
  const honest = endpoint.methods.getMultipleAccounts!;
  endpoint.methods.getMultipleAccounts = clockSaying({ at: 1n << 60n });
  await run(1, 400);
  endpoint.methods.getMultipleAccounts = honest;
  await run(4, 400);
  expect(started.clock().slot).toBeGreaterThan(BigInt(slot - 4));
});

test("a chain whose time differs from the wall clock by years is believed by two nodes", async () => {
  const started = await startWith(endpoint, truthful());
  await run(10, 400);
  expect(started.clock().unixTimestamp).toBe(1_795_000_000n);
});

test("a trusted node that is far behind says nothing about the chain's time", async () => {
  const behind = truthful();
  behind.methods.getMultipleAccounts = () => ({
    context: { slot: slot - 100 },
    value: [clockAccount({ at: BigInt(slot - 100), laterBy: -40n })],
  });
  const started = await startTrusting(behind, endpoint, behind, truthful());
  await run(50, 400);
  expect(slot - Number(started.clock().slot)).toBeLessThan(5);
});

test("a lie about the time that the other node was away for is not held against its word later", async () => {
  vi.setSystemTime(1_795_000_000_000);
  const clockOf = (laterBy: bigint) => () => ({
    context: { slot },
    value: [clockAccount({ laterBy: laterBy + BigInt(Math.floor(Date.now() / 1_000) - 1_795_000_000) })],
  });
  const honest = truthful();
  endpoint.methods.getMultipleAccounts = clockOf(0n);
  honest.methods.getMultipleAccounts = clockOf(0n);
  const started = await startWith(endpoint, honest);
  endpoint.methods.getMultipleAccounts = clockOf(3_600n);
  const answer = honest.methods.getMultipleAccounts;
  honest.methods.getMultipleAccounts = () => {
    throw new Error("away");
  };
  await run(30, 400);
  honest.methods.getMultipleAccounts = answer;
  await run(60, 400);
  const { slot: at, unixTimestamp } = started.clock();
  expect([slot - Number(at) < 5, Number(unixTimestamp) * 1_000 - Date.now() < 2_000]).toEqual([true, true]);
});

test("an impossible slot is rejected, and later ones are accepted", async () => {
  const started = await start();
  await run(10, 250);
  subscriptions.slot(BigInt(slot + 200));
  expect(started.slot()).toBe(BigInt(slot));
  await run(1, 250);
  expect(started.slot()).toBe(BigInt(slot));
  expect(started.slotMs()).toBeGreaterThan(200);
});

/** Slots of 400 ms, in which builds must be possible. @returns the longest that the state counted as silent, in milliseconds */
async function runInUse(started: LiveChainHead, slots: number): Promise<number> {
  let silentMs = 0;
  for (let i = 0; i < slots; i++) {
    await run(1, 400);
    silentMs = Math.max(silentMs, started.silenceMs());
    expect(started.fault()).toBeUndefined();
  }
  return silentMs;
}

test("a slot ahead of the chain that a stream names is taken back before anything is stale, unless two nodes answer", async () => {
  endpoint.methods.getSlot = () => slot;
  const started = await start();
  await runInUse(started, 30);
  for (const ahead of [5, 12, 30, 39]) {
    subscriptions.slot(BigInt(slot + ahead));
    expect(started.slot()).toBe(BigInt(slot + ahead));
    expect(await runInUse(started, 20)).toBeLessThan(2_000);
    expect(started.slot()).toBe(BigInt(slot));
    expect(started.slotMs()).toBeCloseTo(400, -2);
  }
});

test("answers that come late, as in a process that stood still, take back no slot that began meanwhile", async () => {
  const warnings: string[] = [];
  endpoint.methods.getSlot = () => slot;
  const started = await start({ warn: (message) => warnings.push(message) });
  const readNow = endpoint.methods.getMultipleAccounts!;
  await run(30, 400);
  // The clock's answer is on its way while five slots begin, and is read before the sixth.
  endpoint.methods.getMultipleAccounts = (...params) => later(readNow(...params), 2_900);
  await run(5, 400);
  await vi.advanceTimersByTimeAsync(1_300);
  expect(endpoint.countOf("getSlot")).toBe(0);
  endpoint.methods.getMultipleAccounts = readNow;
  await run(30, 400);
  // A wrong slot is asked about; by the time of the answer the chain has passed it.
  endpoint.methods.getSlot = () => later(slot, 3_300);
  subscriptions.slot(BigInt(slot + 12));
  await run(4, 400);
  expect(endpoint.countOf("getSlot")).toBe(1);
  await run(12, 400);
  expect(warnings).toEqual([]);
  expect(started.slot()).toBe(BigInt(slot));
});

test("no stream leads further ahead of two nodes than a healthy one may be, by however many steps", async () => {
  endpoint.methods.getSlot = () => slot;
  const started = await startWith(endpoint, truthful());
  await runInUse(started, 30);
  for (let round = 0; round < 8; round++) {
    for (let step = 1; step <= 20; step++) subscriptions.slot(BigInt(slot + 4 * step));
    expect(Number(started.slot()) - slot).toBeLessThanOrEqual(12);
    expect(await runInUse(started, 1)).toBeLessThan(2_000);
  }
  await runInUse(started, 20);
  expect(started.slot()).toBe(BigInt(slot));
});

test("what one of two nodes is behind, or the other ahead, is not reached for certain", async () => {
  endpoint.methods.getSlot = () => slot;
  const other = truthful();
  const started = await startWith(endpoint, other);
  await runInUse(started, 30);
  expect(started.blockHeight() - started.leastBlockHeight()).toBeLessThanOrEqual(1n);
  const { getMultipleAccounts } = other.methods;
  other.methods.getMultipleAccounts = (...params: readonly never[]) => {
    const answer = getMultipleAccounts!(...params) as { readonly value: unknown };
    return { ...answer, context: { slot: slot - 20 } };
  };
  await runInUse(started, 10);
  expect(Number(started.blockHeight() - started.leastBlockHeight())).toBeGreaterThanOrEqual(18);
});

test("of three nodes none, nor the stream, leads further ahead of the chain than a healthy one may be", async () => {
  endpoint.methods.getSlot = () => slot;
  const honest = truthful();
  const started = await startWith(endpoint, honest, truthful());
  await runInUse(started, 30);
  for (const ahead of [12, 30, 39]) {
    subscriptions.slot(BigInt(slot + ahead));
    expect([ahead, started.slot()]).toEqual([ahead, BigInt(slot)]);
    expect(started.isCredible(BigInt(slot + ahead))).toBe(false);
  }
  endpoint.methods.getLatestBlockhash = blockhashAt({ slot: 30, height: 30 });
  for (let i = 0; i < 20; i++) {
    subscriptions.slot(BigInt(slot + 30));
    expect(await runInUse(started, 1)).toBeLessThan(2_000);
    expect(started.lifetime().slot).toBeLessThanOrEqual(BigInt(slot));
  }
  expect(started.slot()).toBe(BigInt(slot));
});

test("a blockhash from a slot that neither of two nodes has come to is not built on", async () => {
  endpoint.methods.getSlot = () => slot;
  const started = await startWith(endpoint, truthful());
  await runInUse(started, 30);
  endpoint.methods.getLatestBlockhash = blockhashAt({ slot: 30, height: 30 });
  for (let i = 0; i < 30; i++) {
    expect(await runInUse(started, 1)).toBeLessThan(2_000);
    expect(started.lifetime().slot).toBeLessThanOrEqual(BigInt(slot));
  }
});

test("the newest slot of a chain that pauses, or of nodes that lag evenly, stays", async () => {
  endpoint.methods.getSlot = () => slot;
  const started = await startWith(endpoint, truthful(), truthful());
  await runInUse(started, 10);
  await vi.advanceTimersByTimeAsync(1_800);
  expect(started.slot()).toBe(BigInt(slot));
  for (let i = 0; i < 10; i++) {
    await vi.advanceTimersByTimeAsync(400);
    slot += 1;
    subscriptions.slot(BigInt(slot + 8));
    expect(started.slot()).toBe(BigInt(slot + 8));
  }
  expect(endpoint.countOf("getSlot")).toBe(0);
});

test("a block height that contradicts the blockhash or exceeds its slot is rejected", async () => {
  const started = await start();
  for (const wrong of [-500, 200, 100_000]) {
    endpoint.methods.getEpochInfo = () => ({ absoluteSlot: slot, blockHeight: slot - 100 + wrong, epoch: 3 });
    await run(50, 250);
    expect(started.blockHeight()).toBe(BigInt(slot - 100));
  }
});

test("rent follows the chain within its refresh", async () => {
  const started = await start();
  endpoint.methods.getMinimumBalanceForRentExemption = (size: number) => (128 + size) * 3_480;
  await run(50, 250);
  expect(started.rentExemption(165)).toBe(1_019_640n);
});

test("ten seconds after slots double their pace, a blockhash's end is right within a second", async () => {
  const started = await start();
  await run(100, 400);
  await run(50, 200);
  const { lastValidBlockHeight } = started.lifetime();
  const left = Number(lastValidBlockHeight - started.blockHeight());
  expect(Math.abs(left * started.slotMs() - left * 200)).toBeLessThan(1_000);
});
