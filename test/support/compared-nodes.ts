import { vi } from "vitest";
import type { AccountReader } from "../../src/chain/port.ts";
import type { AccountFeed, FeedListener } from "../../src/chain/state/account-feed.ts";
import type { StateWitness } from "../../src/chain/state/compare/witness-nodes.ts";
import { createStateSource, type LiveStateSource } from "../../src/chain/state/state-source.ts";
import { Address } from "../../src/primitives/address.ts";
import { createRandom } from "../../src/primitives/random.ts";
import type { Account } from "../../src/solana/account.ts";
import { SYSTEM_PROGRAM } from "../../src/solana/programs.ts";

export const VAULT = Address.from(new Uint8Array(32).fill(7));
const DEFAULT_SLOT_MS = 200;
const SAMPLES = 4;

interface WorldOptions {
  /** The stream is neither node's, and there is no other. */
  readonly isOnlyStream?: boolean;
  /** The stream reports the state at the end of a slot, not every change. */
  readonly isWebSocket?: boolean;
  readonly trusted?: number;
  readonly behind?: readonly bigint[];
  readonly comparisonsPerSecond?: number;
  /** Node 1 has a stream too, and it is that many slots behind. */
  readonly witnessBehind?: bigint;
  readonly slotMs?: number;
  /** All nodes but one are that many slots behind, when it is asked what two have come to. */
  readonly nodesBehind?: bigint;
  /** Of the times at which the nodes are compared. */
  readonly seed?: number;
}

/** One vault, its stream, and nodes that may lie about it. The stream is that of node 0. */
export async function startWorld(nodes: number, options: WorldOptions = {}) {
  const {
    trusted,
    behind = [],
    comparisonsPerSecond = 40,
    isOnlyStream = false,
    witnessBehind,
    nodesBehind,
    slotMs = DEFAULT_SLOT_MS,
    isWebSocket = !isOnlyStream,
  } = options;
  let listener!: FeedListener;
  const random = createRandom(options.seed ?? 1);
  let slot = 1_000n;
  let witnessed = slot + 1n;
  let streamed = slot + 1n;
  let liveAtMs = Date.now();
  let order = 0;
  const balances = new Map<bigint, number>([[slot, 1_000]]);
  const lies = new Map<number, { readonly of: (balance: number) => number; readonly ahead: bigint }>();
  const silent = new Set<number>();
  const setAside: string[] = [];
  const at = (then: bigint): number => {
    for (let s = then; s >= 1_000n; s--) if (balances.has(s)) return balances.get(s)!;
    return 1_000;
  };
  const accountOf = (balance: number, of: bigint): Account => {
    const data = new Uint8Array(8);
    new DataView(data.buffer).setFloat64(0, balance);
    return { address: VAULT, owner: SYSTEM_PROGRAM, lamports: 1n, data, executable: false, slot: of };
  };
  const stateOf = (node: number): Account => {
    const then = slot - (behind[node] ?? 0n);
    const lie = lies.get(node);
    return lie === undefined ? accountOf(at(then), then) : accountOf(lie.of(at(then)), then + lie.ahead);
  };
  const world = {
    calls: 0,
    /** Times the stream was left for another. */
    doubts: 0,
    moveEverySlot: false,
    /** What it holds in one slot it holds again in the second after it. */
    comesBack: false,
    /** Slots in which it does not move even then. */
    restsIn: (_slot: bigint): boolean => false,
    /** Slots by which changes are reported later than their slots. */
    reportsLate: 0n,
    /** Every slot ends in another state than the nodes know of. */
    movesWithin: false,
    streamLies: undefined as ((balance: number, slot: bigint) => number) | undefined,
    /** A stream that lies reports a state in every slot, not only where there is a change. */
    liesInEverySlot: true,
    /** Slots whose changes the stream does not report, though it reports the slots. */
    leavesOut: (_slot: bigint): boolean => false,
    /** What the stream of node 1 says instead, and slots whose changes it does not report. */
    witnessLies: undefined as ((balance: number, slot: bigint) => number) | undefined,
    witnessLeavesOut: (_slot: bigint): boolean => false,
    /** The stream, or that of node 1, says nothing, and what it missed only when it goes on. */
    streamStops: false,
    witnessStops: false,
    /** How long after a slot's beginning WebSockets report its changes. Milliseconds. */
    noticesLateMs: 0,
    /** Lines of the log. */
    warnings: [] as string[],
    /** Called four times a slot. */
    onSample: () => {},
  };
  const readerOf = (node: () => number, isCounted: boolean): AccountReader => ({
    async fetchAccounts(addresses) {
      if (isCounted) world.calls += 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
      const chosen = node();
      if (silent.has(chosen)) throw new Error("silent");
      const account = stateOf(chosen);
      return { slot: account.slot, accounts: addresses.map(() => account) };
    },
    fetchProgramAccounts: async () => "refused",
  });
  const witnesses: StateWitness[] = Array.from({ length: nodes }, (_, node) => ({
    name: `node ${node}`,
    reader: readerOf(() => node, true),
    isTrusted: node === trusted,
    setAside: () => {
      if (!setAside.includes(`node ${node}`)) setAside.push(`node ${node}`);
    },
  }));
  const feed: AccountFeed = {
    reportsEveryChange: !isWebSocket,
    listen(received) {
      listener = received;
    },
    follow: (addresses) => listener.onCovered(addresses, slot),
    unfollow: () => {},
    liveAtMs: () => liveAtMs,
    liveTimes: () => () => liveAtMs,
    leastLiveAtMs: () => liveAtMs,
    readStamp: () => ({ epoch: 0, order: ++order }),
    doubt() {
      world.doubts += 1;
      return !isOnlyStream;
    },
    close: () => {},
  };
  const witnessListeners = new Set<FeedListener>();
  const openWitness = (): AccountFeed => {
    let witnessListener!: FeedListener;
    return {
      ...feed,
      listen(received) {
        witnessListener = received;
        witnessListeners.add(received);
      },
      follow: (addresses) => witnessListener.onCovered(addresses, slot - (witnessBehind ?? 0n)),
      close: () => void witnessListeners.delete(witnessListener),
    };
  };
  const source: LiveStateSource = createStateSource({
    reader: readerOf(() => 0, false),
    witnessStreams: witnessBehind === undefined ? [] : [{ host: "node 1", open: openWitness }],
    ...{
      feed,
      witnesses,
      comparisonsPerSecond,
      now: Date.now,
      warn: (message) => void world.warnings.push(message),
      headSlot: () => slot,
      slotByNodes: () => (nodesBehind === undefined ? undefined : slot - nodesBehind),
      // As every real stream has one: what another host's stream reports too, a node has not made up.
      followedHost: () => (isOnlyStream ? "stream" : "node 0"),
      random: () => random.u32() / 2 ** 32,
    },
  });
  let known: Account | null | undefined;
  source.onAccount((_, account) => {
    known = account;
  });
  const beginSlot = () => {
    slot += 1n;
    if (world.moveEverySlot && !world.restsIn(slot)) balances.set(slot, Number(world.comesBack ? slot % 2n : slot));
    const begun: bigint[] = [];
    for (; !world.streamStops && streamed <= slot; streamed += 1n) begun.push(streamed);
    for (const one of begun) {
      listener.onSlot(one, one - 1n);
      listener.onRoot(one - 32n);
    }
    if (!world.streamStops) liveAtMs = Date.now();
    for (; !world.witnessStops && witnessed <= slot; witnessed += 1n)
      for (const witness of witnessListeners) reportTo(witness, witnessed - (witnessBehind ?? 0n));
    for (const one of begun) {
      if (isWebSocket) late(() => reportChanges(one - world.reportsLate));
      else reportChanges(one - world.reportsLate);
    }
  };
  const reportChanges = (then: bigint) => {
    if (world.leavesOut(then)) return;
    const isChange = balances.has(then) && then > 1_000n;
    const reported = world.streamLies?.(at(then), then) ?? at(then);
    if (isChange || (world.liesInEverySlot && world.streamLies !== undefined)) report(accountOf(reported, then));
    if (world.movesWithin) report(accountOf(at(then) + 0.5, then));
  };
  const reportTo = (witness: FeedListener, then: bigint) => {
    witness.onSlot(then, then - 1n);
    const lie = world.witnessLies?.(at(then), then);
    const isChange = balances.has(then) && then > 1_000n;
    if ((!isChange && lie === undefined) || world.witnessLeavesOut(then)) return;
    const account = accountOf(lie ?? at(then), then);
    late(() => witness.onAccount({ address: VAULT, account, slot: then, epoch: 0, order: ++order }));
  };
  const late = (notify: () => void) => {
    if (world.noticesLateMs === 0) notify();
    else setTimeout(notify, world.noticesLateMs);
  };
  const report = (account: Account) =>
    listener.onAccount({ address: VAULT, account, slot: account.slot, epoch: 0, order: ++order });
  beginSlot();
  const following = source.follow([VAULT]);
  await vi.advanceTimersByTimeAsync(50);
  await following;
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += slotMs) {
      beginSlot();
      source.use([VAULT]);
      for (let part = 0; part < SAMPLES; part++) {
        world.onSample();
        await vi.advanceTimersByTimeAsync(slotMs / SAMPLES);
      }
    }
  };
  await pass(1_000);
  return Object.assign(world, {
    source,
    setAside,
    pass,
    balance: () => at(slot),
    known: () => (known ? new DataView(known.data.buffer).getFloat64(0) : undefined),
    lie(node: number, of: ((balance: number) => number) | undefined, ahead = 0n) {
      if (of === undefined) lies.delete(node);
      else lies.set(node, { of, ahead });
    },
    /** The stream is the first node's: it lies too. */
    reportLie(node: number) {
      if (node === 0) report(stateOf(0));
    },
    silence: (node: number) => void silent.add(node),
    /** The clock goes on, and this process does nothing: no timer fires, nothing is received. */
    standStill: (ms: number) => void vi.setSystemTime(Date.now() + ms),
  });
}
