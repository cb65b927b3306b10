import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { startYellowstoneServer, type YellowstoneServer } from "../../../test/support/yellowstone-server.ts";
import { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import type { AccountReader } from "../port.ts";
import type { LiveStateSource } from "../state/state-source.ts";
import { createYellowstoneStateSource, type YellowstoneStateSourceOptions } from "./yellowstone-state-source.ts";
import { SLOT_STATUS } from "./yellowstone-wire.ts";

const OWNER = Address.from(new Uint8Array(32).fill(9));
const [a, b] = [1, 2].map((fill) => Address.from(new Uint8Array(32).fill(fill))) as [Address, Address];
let server: YellowstoneServer;
let source: LiveStateSource;
/** The chain as a read sees it. */
let chain: { slot: bigint; values: Map<Address, number> };
let reads: number;
let warnings: string[];
let state: Map<Address, number | null | undefined>;
/** Every state of `a`, in its order. */
let shown: (number | null | undefined)[];

const reader: AccountReader = {
  async fetchAccounts(addresses) {
    reads += 1;
    const { slot, values } = chain;
    const account = (address: Address): Account | null => {
      const value = values.get(address);
      const data = Uint8Array.of(value ?? 0);
      return value === undefined ? null : { address, owner: OWNER, lamports: 1n, data, executable: false, slot };
    };
    return { slot, accounts: addresses.map(account) };
  },
  fetchProgramAccounts: async () => "refused",
};

beforeEach(async () => {
  server = await startYellowstoneServer();
  chain = { slot: 100n, values: new Map([[a, 1]]) };
  reads = 0;
  warnings = [];
  state = new Map();
  shown = [];
});
afterEach(async () => {
  source.close();
  await server.close();
});

async function start(options: Partial<YellowstoneStateSourceOptions> = {}): Promise<void> {
  source = createYellowstoneStateSource({
    url: server.url,
    token: "secret",
    reader,
    now: Date.now,
    random: Math.random,
    warn: (message) => warnings.push(message),
    pollMs: 50,
    auditMs: 60_000,
    quietMs: 60_000,
    // No slot is reported but where a test does: on a busy machine that may take longer than the seconds a server has.
    silentMs: 3_600_000,
    ...options,
  });
  source.onAccount((address, account) => {
    const value = account === undefined ? undefined : (account?.data[0] ?? null);
    state.set(address, value);
    if (address === a) shown.push(value);
  });
  await eventually(() => expect(server.streams()).toBe(1));
}

const begin = (slot: number, parent = slot - 1, bankId?: number) => {
  server.emit({ kind: "slot", slot, status: SLOT_STATUS.firstShredReceived });
  server.emit({
    kind: "slot",
    slot,
    parent,
    status: SLOT_STATUS.createdBank,
    ...(bankId === undefined ? {} : { bankId }),
  });
};
const status = (slot: number, of: number) => server.emit({ kind: "slot", slot, status: of });
let writes = 0;
const write = (slot: number, address: Address, value: number, writeVersion = ++writes, bankId?: number) =>
  server.emit({
    kind: "account",
    slot,
    address,
    data: Uint8Array.of(value),
    writeVersion,
    ...(bankId === undefined ? {} : { bankId }),
  });
const settled = (check: () => void) => eventually(check);

/** Follows both accounts, and lets two slots begin, so that they are streamed from slot 101. */
async function stream(): Promise<void> {
  await source.follow([a, b]);
  await settled(() => expect(Object.values(server.requests.at(-1)!.accounts)[0]?.account.length).toBe(2));
  begin(101);
  chain.slot = 101n;
  await settled(() => expect(source.counts().streamed).toBe(2));
}

test("accounts are read first, then streamed by write version; the token is sent, a ping is answered", async () => {
  await start();
  await stream();
  expect(state.get(a)).toBe(1);
  expect(state.get(b)).toBe(null);
  write(101, a, 2);
  write(101, a, 3);
  const beforeMs = Date.now();
  begin(102);
  write(102, b, 7);
  await settled(() => expect([state.get(a), state.get(b)]).toEqual([3, 7]));
  expect(source.currentAtMs(a)).toBeGreaterThanOrEqual(beforeMs);
  expect(server.tokens).toEqual(["secret"]);
  server.ping();
  await settled(() => expect(server.pongs).toBe(1));
});

test("an account without lamports is closed", async () => {
  await start();
  await stream();
  server.emit({ kind: "account", slot: 101, address: a, lamports: 0, data: Uint8Array.of(8), writeVersion: ++writes });
  await settled(() => expect(state.get(a)).toBe(null));
});

test("duplicates and reordered updates end in the state of the highest slot and write version", async () => {
  await start();
  await stream();
  begin(102);
  write(102, a, 12, 1_012);
  write(102, a, 11, 1_011);
  write(101, a, 10, 1_010);
  write(102, a, 12, 1_012);
  write(101, b, 1, 1_001);
  await settled(() => expect(state.get(b)).toBe(1));
  expect(state.get(a)).toBe(12);
});

test("the first slot, seen only in part, is left to reads", async () => {
  await start();
  begin(101);
  await source.follow([a]);
  await settled(() => expect(Object.values(server.requests.at(-1)!.accounts)[0]?.account.length).toBe(1));
  await eventually(() => expect(server.requests.length).toBeGreaterThan(1));
  chain.slot = 101n;
  await source.refresh([a]);
  expect(source.counts().streamed).toBe(0);
  begin(102);
  chain.slot = 102n;
  await settled(() => expect(source.counts().streamed).toBe(1));
});

test("the state of a dead slot is dropped at once, and so is what was built on it", async () => {
  await start();
  await stream();
  write(101, a, 2);
  begin(102);
  write(102, a, 3);
  begin(103);
  write(103, a, 4);
  await settled(() => expect(state.get(a)).toBe(4));
  const before = reads;
  status(102, SLOT_STATUS.dead);
  await settled(() => expect(state.get(a)).toBe(2));
  begin(104, 101);
  write(104, a, 5);
  await settled(() => expect(state.get(a)).toBe(5));
  expect(reads).toBe(before);
});

test("a confirmed slot decides which of two branches is the chain, and roots drop the other", async () => {
  await start();
  await stream();
  begin(102);
  write(102, a, 20);
  begin(103, 101);
  write(103, a, 30);
  await settled(() => expect(state.get(a)).toBe(30));
  status(102, SLOT_STATUS.confirmed);
  await settled(() => expect(state.get(a)).toBe(20));
  begin(104, 102);
  status(102, SLOT_STATUS.finalized);
  write(104, b, 1);
  await settled(() => expect(state.get(b)).toBe(1));
  expect(state.get(a)).toBe(20);
});

test("a slot's replaced bank has its updates discarded", async () => {
  await start();
  await stream();
  write(101, a, 2);
  begin(102, 101, 7);
  write(102, a, 3, ++writes, 7);
  await settled(() => expect(state.get(a)).toBe(3));
  server.emit({ kind: "slot", slot: 102, parent: 101, status: SLOT_STATUS.createdBank, bankId: 8 });
  await settled(() => expect(state.get(a)).toBe(2));
  write(102, a, 99, ++writes, 7);
  write(102, a, 4, ++writes, 8);
  await settled(() => expect(state.get(a)).toBe(4));
});

test("after a cut the stream replays what was missed, and nothing is read", async () => {
  await start();
  await stream();
  write(101, a, 2);
  begin(102);
  await settled(() => expect(state.get(a)).toBe(2));
  // Past the slots that are asked for again, so that the connection before them is known.
  for (let slot = 103; slot < 140; slot++) begin(slot);
  write(139, a, 39);
  await settled(() => expect(state.get(a)).toBe(39));
  const before = reads;
  const { length } = server.requests;
  server.cut();
  server.lose({ kind: "slot", slot: 140, parent: 139, status: SLOT_STATUS.createdBank });
  server.lose({ kind: "account", slot: 140, address: a, data: Uint8Array.of(40), writeVersion: ++writes });
  await settled(() => expect(server.streams()).toBe(1));
  expect(server.requests[length]!.fromSlot).toBe("107");
  begin(141);
  await settled(() => expect(state.get(a)).toBe(40));
  expect(reads).toBe(before);
  expect(source.counts()).toMatchObject({ streamed: 2, gaps: 0 });
});

test("what is repeated shows no state from within a slot again, and none of a bank that was replaced", async () => {
  await start();
  await stream();
  for (let slot = 102; slot < 138; slot++) begin(slot);
  begin(138, 137, 1);
  server.emit({ kind: "account", slot: 138, address: a, data: Uint8Array.of(9), writeVersion: ++writes, bankId: 1 });
  begin(138, 136, 2);
  for (const value of [36, 37, 38])
    server.emit({
      kind: "account",
      slot: 138,
      address: a,
      data: Uint8Array.of(value),
      writeVersion: ++writes,
      bankId: 2,
    });
  begin(139);
  await settled(() => expect(state.get(a)).toBe(38));
  shown = [];
  server.cut();
  for (const value of [39, 40])
    server.lose({ kind: "account", slot: 139, address: a, data: Uint8Array.of(value), writeVersion: ++writes });
  await settled(() => expect(server.streams()).toBe(1));
  begin(140);
  await settled(() => expect(state.get(a)).toBe(40));
  expect(shown).toEqual([40]);
  expect(source.counts().gaps).toBe(0);
});

test("a repetition that breaks off within a slot leaves the state as it was", async () => {
  await start();
  await stream();
  for (let slot = 102; slot < 140; slot++) begin(slot);
  for (const value of [36, 37, 38]) write(139, a, value);
  await settled(() => expect(state.get(a)).toBe(38));
  shown = [];
  chain = { slot: 139n, values: new Map([[a, 38]]) };
  server.replay = "withoutAccounts";
  server.cut();
  await settled(() => expect(server.streams()).toBe(1));
  write(139, a, 36);
  begin(140);
  await settled(() => expect(warnings.some((warning) => /lacks updates of slot 139/.test(warning))).toBe(true));
  expect(shown).toEqual([]);
});

test.each(["empty", "withoutAccounts", "refused"] as const)(
  "a repetition that is %s is noticed, and everything is read again",
  async (how) => {
    await start();
    await stream();
    for (let slot = 102; slot < 140; slot++) begin(slot);
    write(138, a, 38);
    await settled(() => expect(state.get(a)).toBe(38));
    server.replay = how;
    server.cut();
    server.lose({ kind: "slot", slot: 140, parent: 139, status: SLOT_STATUS.createdBank });
    server.lose({ kind: "account", slot: 140, address: a, data: Uint8Array.of(40), writeVersion: ++writes });
    chain = { slot: 141n, values: new Map([[a, 40]]) };
    await settled(() => expect(server.streams()).toBe(1));
    begin(141);
    await settled(() => expect(state.get(a)).toBe(40));
    await settled(() => expect(source.counts().streamed).toBe(2));
    begin(142);
    write(142, b, 5);
    await settled(() => expect(state.get(b)).toBe(5));
  },
);

test("what was received before the first of two cuts is expected of the repetition after the second", async () => {
  await start();
  await stream();
  for (let slot = 102; slot < 140; slot++) begin(slot);
  write(138, a, 38);
  await settled(() => expect(state.get(a)).toBe(38));
  server.replay = "withoutAccounts";
  chain = { slot: 139n, values: new Map([[a, 38]]) };
  for (let cuts = 0; cuts < 2; cuts++) {
    server.cut();
    await settled(() => expect(server.streams()).toBe(0));
    server.lose({ kind: "account", slot: 140, address: a, data: Uint8Array.of(40), writeVersion: ++writes });
    await settled(() => expect(server.streams()).toBe(1));
  }
  begin(140);
  const lacking = expect.stringMatching(/did not replay what was missed \(it lacks updates of slot 138\)/);
  await settled(() => expect(warnings).toContainEqual(lacking));
});

test("a slot missing from the stream is a gap: all accounts are read again", async () => {
  await start();
  await stream();
  server.lose({ kind: "slot", slot: 102, parent: 101, status: SLOT_STATUS.createdBank });
  server.lose({ kind: "account", slot: 102, address: a, data: Uint8Array.of(5), writeVersion: ++writes });
  chain = { slot: 103n, values: new Map([[a, 5]]) };
  begin(103);
  await settled(() => expect(state.get(a)).toBe(5));
  expect(source.counts()).toMatchObject({ gaps: 1 });
  await settled(() => expect(source.counts().streamed).toBe(2));
});

test("a stream without slots is replaced, even if its connection stays open", async () => {
  await start({ silentMs: 200 });
  await source.follow([a, b]);
  await settled(() => expect(server.requests.length).toBeGreaterThan(3));
  expect(warnings.some((warning) => /reports no slots/.test(warning))).toBe(true);
});

test("accounts are spread over streams of limited size", async () => {
  await start({ accountsPerStream: 1 });
  await source.follow([a, b]);
  await settled(() => expect(server.streams()).toBe(2));
  await settled(() =>
    expect(
      server.requests.filter(({ accounts }) => Object.values(accounts ?? {})[0]?.account.length === 1).length,
    ).toBe(2),
  );
  begin(101);
  chain.slot = 101n;
  await settled(() => expect(source.counts().streamed).toBe(2));
  source.unfollow([a]);
  await settled(() => expect(server.requests.at(-1)!.accounts).toBeUndefined());
});

test("the largest possible account arrives whole, and small ones after it", async () => {
  await start();
  await stream();
  const data = new Uint8Array(10 * 1024 * 1024).map((_, i) => i % 251);
  let length = 0;
  source.onAccount((address, account) => {
    if (address === a) length = account?.data.length ?? 0;
    state.set(address, account?.data.at(-1));
  });
  server.emit({ kind: "account", slot: 101, address: a, data, writeVersion: ++writes });
  for (let i = 0; i < 100; i++) write(101, b, i);
  await settled(() => expect(state.get(b)).toBe(99));
  expect(length).toBe(data.length);
  expect(state.get(a)).toBe(data.at(-1));
});

test("shuffled updates of many slots end in the state of the chain", async () => {
  await start();
  await stream();
  let random = 7;
  const next = () => {
    random = (random * 48_271) % 2_147_483_647;
    return random;
  };
  let last = 0;
  for (let slot = 102; slot < 200; slot++) {
    begin(slot);
    const events = Array.from({ length: 5 }, () => [++writes, next() % 256] as const);
    last = events.at(-1)![1];
    const shuffled = events.map((event) => ({ event, at: next() })).sort((x, y) => x.at - y.at);
    for (const { event } of [...shuffled, ...shuffled.slice(0, 2)]) write(slot, a, event[1], event[0]);
  }
  write(199, b, 77);
  await settled(() => expect(state.get(b)).toBe(77));
  expect(state.get(a)).toBe(last);
});

test("is compared with the WebSocket of another host than its own", async () => {
  const opened: string[] = [];
  const ignore = () => {};
  const streamOf = (host: string) => ({
    host,
    open() {
      opened.push(host);
      return {
        ...{ reportsEveryChange: false, listen: ignore, follow: ignore, unfollow: ignore, close: ignore },
        ...{ liveAtMs: () => 0, liveTimes: () => () => 0, leastLiveAtMs: () => 0 },
        ...{ readStamp: () => ({ epoch: 0, order: 0 }), doubt: () => false },
      };
    },
  });
  const witnesses = ["one", "two"].map((name) => ({ name, reader, setAside: ignore }));
  await start({ witnesses, witnessStreams: [new URL(server.url).host, "other:8900"].map(streamOf) });
  await source.follow([a]);
  source.use([a]);
  await eventually(() => expect(opened).toEqual(["other:8900"]));
});
