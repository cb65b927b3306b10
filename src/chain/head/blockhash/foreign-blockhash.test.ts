import bs58 from "bs58";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type FakeEndpoint, fakeEndpoint, fakeSubscriptions } from "../../../../test/support/fake-chain.ts";
import type { RpcEndpoint } from "../../rpc/rpc-endpoint.ts";
import { createRpcPool } from "../../rpc/rpc-pool.ts";
import { createChainHead, type LiveChainHead } from "../chain-head.ts";

const SLOT_MS = 400;
const MAX_AGE_MS = 10_000;
/** The chain: moves by hand. */
let slot: number;
/** Lists of blockhashes that were asked for. */
let lists: number;
let warnings: string[];
let doubted: string[];
let subscriptions: ReturnType<typeof fakeSubscriptions>;
let head: LiveChainHead | undefined;

beforeEach(() => {
  vi.useFakeTimers();
  beginAnew();
  lists = 0;
  warnings = [];
  doubted = [];
  subscriptions = fakeSubscriptions();
});
afterEach(() => {
  head?.close();
  vi.useRealTimers();
});

/** The blockhash of a slot's block, on the chain or on one that a liar makes up. */
function hashOf(of: number, chain = 1): string {
  const bytes = new Uint8Array(32).fill(chain);
  new DataView(bytes.buffer).setUint32(0, of);
  return bs58.encode(bytes);
}

/** When slot 20,000 begins. */
let startMs: number;

function clockAccount(at: number, timeOf: number) {
  const data = Buffer.alloc(40);
  data.writeBigUInt64LE(BigInt(at), 0);
  data.writeBigInt64LE(BigInt(Math.floor((startMs + (timeOf - 20_000) * SLOT_MS) / 1_000)), 32);
  const owner = "Sysvar1111111111111111111111111111111111111";
  return { lamports: 1, owner, data: [data.toString("base64"), "base64"], executable: false };
}

/** The list of the newest blockhashes, as much of it as is asked for. */
function listAccount(newest: number, chain: number, length: number) {
  const count = 150;
  const data = Buffer.alloc(8 + 40 * count);
  data.writeBigUInt64LE(BigInt(count), 0);
  for (let i = 0; i < count; i++) data.set(bs58.decode(hashOf(newest - i, chain)), 8 + 40 * i);
  const owner = "Sysvar1111111111111111111111111111111111111";
  return { lamports: 1, owner, data: [data.subarray(0, length).toString("base64"), "base64"], executable: false };
}

interface NodeOptions {
  /** The chain its blockhashes are of. */
  chain?: number;
  /** Slots it is behind. */
  lag?: number;
  /** The same of the time it names; absent: as many. */
  timeLag?: number;
  /** False: it keeps no list of the newest blockhashes. */
  listsBlockhashes?: boolean;
}

/** A node with a chain of its own to answer from. */
function node(
  name: string,
  { chain = 1, lag = 0, timeLag = lag, listsBlockhashes = true }: NodeOptions = {},
): FakeEndpoint {
  const newest = () => slot - lag;
  const answers = fakeEndpoint(
    {
      getGenesisHash: () => "genesis",
      getLatestBlockhash: () => ({
        context: { slot: newest() - 2 },
        value: { blockhash: hashOf(newest() - 2, chain), lastValidBlockHeight: newest() - 2 - 100 + 150 },
      }),
      isBlockhashValid: (hash: string) => {
        const of = new DataView(bs58.decode(hash).buffer).getUint32(0);
        const isKnown = hash === hashOf(of, chain) && of <= newest() && of > newest() - 150;
        return { context: { slot: newest() }, value: isKnown };
      },
      getMultipleAccounts: ([address]: string[], { dataSlice }: { dataSlice?: { length: number } } = {}) => {
        const isList = address?.startsWith("SysvarRecentB1ockHashes") === true;
        if (isList) lists += 1;
        const list = () => (listsBlockhashes ? listAccount(newest(), chain, dataSlice!.length) : null);
        const other = () => (address?.startsWith("Sysvar") ? clockAccount(newest(), slot - timeLag) : null);
        return { context: { slot: newest() }, value: [isList ? list() : other()] };
      },
      getEpochInfo: () => ({ absoluteSlot: newest(), blockHeight: newest() - 100, epoch: 3 }),
      getSlot: () => newest(),
      getMinimumBalanceForRentExemption: (size: number) => (128 + size) * 5_080,
      getRecentPerformanceSamples: () => [{ numSlots: 150, samplePeriodSecs: 60 }],
    },
    name,
  );
  return { ...answers, doubt: () => void doubted.push(name) };
}

async function start(nodes: readonly FakeEndpoint[], trusted?: RpcEndpoint): Promise<LiveChainHead> {
  const pool = createRpcPool({ endpoints: nodes, now: Date.now, warn: () => {} });
  const starting = createChainHead({
    pool,
    subscriptions,
    now: Date.now,
    monotonicMs: () => performance.now(),
    warn: (message) => warnings.push(message),
    trusted,
    maxAgeMs: MAX_AGE_MS,
  });
  await vi.advanceTimersByTimeAsync(1_000);
  head = await starting;
  return head;
}

/** A chain from its first slot on, now. */
function beginAnew(): void {
  slot = 20_000;
  startMs = Date.now();
}

/** Lets slots pass, with a build in each. @returns the blockhashes built on, undefined for a refused build */
async function build(slots: number): Promise<readonly (string | undefined)[]> {
  const used: (string | undefined)[] = [];
  for (let i = 0; i < slots; i++) {
    await vi.advanceTimersByTimeAsync(SLOT_MS);
    slot += 1;
    subscriptions.slot(BigInt(slot));
    try {
      used.push(bs58.encode(head!.lifetime().blockhash));
    } catch (error) {
      expect(error).toMatchObject({ code: "STATE_STALE", retryable: true });
      used.push(undefined);
    }
  }
  return used;
}

const isTrue = (hash: string | undefined) =>
  hash !== undefined && hash === hashOf(new DataView(bs58.decode(hash).buffer).getUint32(0));
/** Slots since the blockhash. */
const ageOf = (hash: string) => slot - new DataView(bs58.decode(hash).buffer).getUint32(0);

test.each([
  ["the first of two", (liar: FakeEndpoint) => [liar, node("b")]],
  ["the second of two", (liar: FakeEndpoint) => [node("b"), liar]],
  ["the first of three", (liar: FakeEndpoint) => [liar, node("b"), node("c")]],
])("a blockhash that only its own node knows is never built on: %s lies from the start", async (_which, nodesWith) => {
  // It denies no true blockhash.
  const liar = node("liar");
  liar.methods.getLatestBlockhash = node("foreign", { chain: 2 }).methods.getLatestBlockhash!;
  const nodes = nodesWith(liar);
  await start(nodes);
  const used = await build(60);
  expect(used.filter((hash) => !isTrue(hash))).toEqual([]);
  expect(ageOf(used.at(-1)!)).toBeLessThanOrEqual(5);
  if (nodes[0] !== liar) return;
  expect(new Set(doubted)).toEqual(new Set(["liar"]));
  expect(
    warnings.filter((line) => line.startsWith("The Solana node liar names a blockhash that")).length,
  ).toBeGreaterThan(0);
  expect(warnings.length).toBeLessThan(5);
});

test("a liar that denies every true blockhash too is outvoted by two others", async () => {
  await start([node("a"), node("liar", { chain: 2 }), node("c")]);
  const used = await build(60);
  expect(new Set(doubted)).toEqual(new Set(["liar"]));
  expect(used.filter((hash) => !isTrue(hash))).toEqual([]);
  expect(ageOf(used.at(-1)!)).toBeLessThanOrEqual(5);
});

test("two nodes that come to contradict each other in everything: the last proven one serves for its time, then STATE_STALE says why", async () => {
  const [a, b] = [node("a"), node("b")];
  await start([a, b]);
  await build(5);
  Object.assign(b.methods, node("foreign", { chain: 2 }).methods);
  const used = await build(MAX_AGE_MS / SLOT_MS + 10);
  const built = used.filter((hash) => hash !== undefined);
  expect(built.every(isTrue)).toBe(true);
  expect(built.length).toBeGreaterThan(MAX_AGE_MS / SLOT_MS - 5);
  expect(head!.fault()).toMatch(/contradict each other/);
  Object.assign(b.methods, { ...node("b").methods });
  expect((await build(5)).slice(3).every(isTrue)).toBe(true);
});

test("the trusted node's word decides between two", async () => {
  const trusted = node("a");
  await start([node("liar", { chain: 2 }), trusted], trusted);
  const used = await build(40);
  expect(used.every(isTrue)).toBe(true);
});

test("a node away or behind does not stop builds, nor does its silence make a foreign blockhash true at once", async () => {
  for (const other of [node("b", { lag: 8 }), node("b", { lag: 200 }), fakeEndpoint({}, "b")]) {
    const started = await start([node("a"), other]);
    expect((await build(40)).every(isTrue)).toBe(true);
    started.close();
  }
  const [liar, honest] = [node("liar"), node("b")];
  await start([liar, honest]);
  await build(5);
  for (const method of Object.keys(honest.methods)) delete honest.methods[method];
  liar.methods.getLatestBlockhash = node("foreign", { chain: 2 }).methods.getLatestBlockhash!;
  expect((await build(MAX_AGE_MS / 2 / SLOT_MS - 2)).every(isTrue)).toBe(true);
});

test.each([
  [9, 12],
  [20, 3],
  [30, 3],
  [49, 3],
])(
  "a node that falls %i slots behind stops no build, and one far behind costs blockhashes none of their life",
  async (lag, age) => {
    for (const nth of [0, 1]) {
      const nodes = [node("a"), node("b")];
      const started = await start(nodes);
      await build(20);
      Object.assign(nodes[nth]!.methods, node("behind", { lag }).methods);
      const used = await build(80);
      expect(used.every(isTrue)).toBe(true);
      expect(ageOf(used.at(-1)!)).toBeLessThanOrEqual(age);
      started.close();
    }
  },
);

test("of three nodes the one that is far ahead of both others is not believed", async () => {
  const liar = node("liar");
  await start([liar, node("b"), node("c")]);
  await build(5);
  Object.assign(liar.methods, node("ahead", { chain: 2, lag: -15 }).methods);
  const used = await build(60);
  expect(used.filter((hash) => hash !== undefined && !isTrue(hash))).toEqual([]);
});

test.each([-15, 15])(
  "a node that moves last valid heights by %i blocks at a time does not lead them away",
  async (step) => {
    for (const others of [[node("b")], [node("b"), node("c")]]) {
      const liar = node("liar");
      const started = await start([liar, ...others]);
      await build(5);
      let moved = 0;
      const latest = liar.methods.getLatestBlockhash as () => {
        context: object;
        value: { lastValidBlockHeight: number };
      };
      liar.methods.getLatestBlockhash = () => {
        const { context, value } = latest();
        moved += step;
        return { context, value: { ...value, lastValidBlockHeight: value.lastValidBlockHeight + moved } };
      };
      for (let i = 0; i < 100; i++) {
        await build(1);
        const { slot: at, lastValidBlockHeight } = started.lifetime();
        expect(Math.abs(Number(lastValidBlockHeight - at - 50n))).toBeLessThanOrEqual(48);
      }
      started.close();
    }
  },
);

test("an old blockhash named as a new one is refused, whichever node names it", async () => {
  for (const nth of [0, 1]) {
    const nodes = [node("a"), node("b")];
    const started = await start(nodes);
    await build(20);
    const old = bs58.encode(started.lifetime().blockhash);
    await build(50);
    const { methods } = nodes[nth]!;
    const latest = methods.getLatestBlockhash as () => { context: object; value: object };
    methods.getLatestBlockhash = () => ({ ...latest(), value: { ...latest().value, blockhash: old } });
    const used = await build(20);
    expect(used).not.toContain(old);
    expect(used.every(isTrue)).toBe(true);
    started.close();
  }
});

/** A node that names true blockhashes of so many slots ago, as those of now. */
function datingBack(slots: number): FakeEndpoint {
  const liar = node("liar");
  liar.methods.getLatestBlockhash = () => ({
    context: { slot: slot - 2 },
    value: { blockhash: hashOf(slot - slots), lastValidBlockHeight: slot - 2 - 100 + 150 },
  });
  return liar;
}

for (const back of [14, 30, 70, 141])
  test.each([
    ["the first of two", (liar: FakeEndpoint) => [liar, node("b")]],
    ["the second of two", (liar: FakeEndpoint) => [node("b"), liar]],
    ["the first of three", (liar: FakeEndpoint) => [liar, node("b"), node("c")]],
    ["the first of three, one without a list", (liar) => [liar, node("b", { listsBlockhashes: false }), node("c")]],
  ] as [string, (liar: FakeEndpoint) => FakeEndpoint[]][])(
    `a true blockhash of ${back} slots ago, never seen here, is not built on, though every node knows it: %s names it from the start`,
    async (_, nodesWith) => {
      await start(nodesWith(datingBack(back)));
      for (let i = 0; i < 60; i++) {
        const [built] = await build(1);
        expect(isTrue(built)).toBe(true);
        expect(ageOf(built!)).toBeLessThanOrEqual(6);
      }
    },
  );

test("of two nodes, one that keeps no list of the newest blockhashes is still a witness that one is known", async () => {
  const liar = node("liar");
  liar.methods.getLatestBlockhash = node("foreign", { chain: 2 }).methods.getLatestBlockhash!;
  await start([liar, node("b", { listsBlockhashes: false })]);
  const used = await build(40);
  expect(used.every(isTrue)).toBe(true);
  expect(ageOf(used.at(-1)!)).toBeLessThanOrEqual(5);
});

for (const lag of [20, 30, 41, 49, 60, 141, 200, 10_000])
  test.each([
    ["which its clock shows too", true],
    ["with the time of now", false],
  ])(`a node ${lag} slots behind from the start, %s, leads no build back`, async (_, isClockBehind) => {
    for (const nth of [0, 1]) {
      beginAnew();
      const nodes = [node("a"), node("b")];
      Object.assign(nodes[nth]!.methods, node("behind", { lag, timeLag: isClockBehind ? lag : 0 }).methods);
      const started = await start(nodes);
      let refused = 0;
      for (let i = 0; i < 60; i++) {
        const [built] = await build(1);
        if (built === undefined) refused += 1;
        else expect(ageOf(built)).toBeLessThanOrEqual(5);
      }
      // The wall clock decides between two that are further apart than the chain can have moved.
      if (isClockBehind || lag <= 49) expect(refused).toBe(0);
      started.close();
    }
  });

test("the proof of a blockhash takes one call in use, and none more than without it at rest", async () => {
  const nodes = [node("a"), node("b")];
  const of = (method: string) => nodes.reduce((sum, { countOf }) => sum + countOf(method), 0);
  await start(nodes);
  const proofs = lists;
  await build(50);
  expect(lists - proofs).toBeLessThanOrEqual(51);
  expect(of("isBlockhashValid")).toBe(0);
  for (let i = 0; i < 50; i++) {
    await vi.advanceTimersByTimeAsync(SLOT_MS);
    slot += 1;
    subscriptions.slot(BigInt(slot));
  }
  const calls = () => lists + of("getLatestBlockhash");
  const before = calls();
  for (let i = 0; i < 150; i++) {
    await vi.advanceTimersByTimeAsync(SLOT_MS);
    slot += 1;
    subscriptions.slot(BigInt(slot));
  }
  expect(calls() - before).toBeLessThanOrEqual(62);
});

test.each([-11, -13, -20, -39])(
  "of two nodes, one that names slots and blockhashes %i slots behind the other's, and lists none, is never built on",
  async (lag) => {
    for (const nth of [0, 1]) {
      const nodes = [node("a"), node("b")];
      const started = await start(nodes);
      await build(20);
      const { methods } = nodes[nth]!;
      const answer = methods.getMultipleAccounts!;
      methods.getLatestBlockhash = node("ahead", { chain: 2, lag }).methods.getLatestBlockhash!;
      Object.assign(methods, {
        isBlockhashValid: undefined,
        getMultipleAccounts: (addresses: never, config: never) => {
          if (String(addresses).startsWith("SysvarRecentB1ockHashes")) throw new Error("away");
          return answer(addresses, config);
        },
      });
      const used = await build(120);
      expect(used.filter((hash) => hash !== undefined && !isTrue(hash))).toEqual([]);
      started.close();
    }
  },
);
