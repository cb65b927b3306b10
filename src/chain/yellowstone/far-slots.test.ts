import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { startYellowstoneServer, type YellowstoneServer } from "../../../test/support/yellowstone-server.ts";
import { Address } from "../../primitives/address.ts";
import type { LiveStateSource } from "../state/state-source.ts";
import { createYellowstoneStateSource } from "./yellowstone-state-source.ts";
import { SLOT_STATUS } from "./yellowstone-wire.ts";

const account = Address.from(new Uint8Array(32).fill(1));
const FAR = 4_000_000_000;
let server: YellowstoneServer;
let source: LiveStateSource;
let head: number;
let nowMs: number;
let value: number | undefined;

beforeEach(async () => {
  server = await startYellowstoneServer();
  head = 100;
  nowMs = 1_795_000_000_000;
  value = undefined;
});
afterEach(async () => {
  source.close();
  await server.close();
});

async function start(headSlot?: () => bigint): Promise<void> {
  source = createYellowstoneStateSource({
    url: server.url,
    token: undefined,
    reader: {
      fetchAccounts: async (addresses) => ({ slot: BigInt(head), accounts: addresses.map(() => null) }),
      fetchProgramAccounts: async () => "refused",
    },
    now: () => nowMs,
    random: Math.random,
    warn: () => {},
    pollMs: 3_600_000,
    auditMs: 3_600_000,
    silentMs: 3_600_000,
    ...(headSlot === undefined ? {} : { headSlot }),
  });
  source.onAccount((_address, at) => {
    value = at?.data[0];
  });
  await eventually(() => expect(server.streams()).toBe(1));
}

/** A slot begins, 400 ms after the one before, and a write in it arrives. */
async function next(): Promise<void> {
  head += 1;
  nowMs += 400;
  server.emit({ kind: "slot", slot: head, status: SLOT_STATUS.firstShredReceived });
  server.emit({ kind: "slot", slot: head, parent: head - 1, status: SLOT_STATUS.createdBank });
  const data = Uint8Array.of(head % 256);
  server.emit({ kind: "account", slot: head, address: account, data, writeVersion: head });
  await eventually(() => expect(value).toBe(head % 256));
}

const farSlots = () => {
  for (const status of Object.values(SLOT_STATUS))
    server.emit({ kind: "slot", slot: FAR, parent: FAR - 1, status: Number(status) });
};

test("a message from a far slot, of whatever status, changes nothing", async () => {
  await start(() => BigInt(head));
  await source.follow([account]);
  await eventually(() => expect(Object.keys(server.requests.at(-1)!.accounts)).not.toEqual([]));
  // Before the first true slot, and among them.
  farSlots();
  await next();
  await next();
  expect(source.counts().streamed).toBe(1);
  farSlots();
  for (let i = 0; i < 5; i++) {
    await next();
    expect(nowMs - source.currentAtMs(account)).toBeLessThanOrEqual(400);
  }
  // Forks are still decided by what is confirmed.
  const fork = head;
  server.emit({ kind: "slot", slot: fork + 2, parent: fork - 1, status: SLOT_STATUS.createdBank });
  const data = Uint8Array.of(99);
  server.emit({ kind: "account", slot: fork + 2, address: account, data, writeVersion: 1_000 });
  await eventually(() => expect(value).toBe(99));
  server.emit({ kind: "slot", slot: fork, status: SLOT_STATUS.confirmed });
  await eventually(() => expect(value).toBe(fork % 256));
});

test("with nothing else known, a far slot is taken back as the chain continues below it", async () => {
  await start();
  await source.follow([account]);
  await eventually(() => expect(Object.keys(server.requests.at(-1)!.accounts)).not.toEqual([]));
  await next();
  await next();
  server.emit({ kind: "slot", slot: head + 40, status: SLOT_STATUS.createdBank });
  for (let i = 0; i < 4; i++) await next();
  await eventually(() => expect(nowMs - source.currentAtMs(account)).toBeLessThanOrEqual(400));
  const { length } = server.requests;
  server.cut();
  await eventually(() => expect(server.streams()).toBe(1));
  expect(Number(server.requests[length]!.fromSlot)).toBe(head - 32);
});
