import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startWorld } from "../../../../test/support/compared-nodes.ts";
import { SYSTEM_PROGRAM } from "../../../solana/programs.ts";
import { StreamRecord } from "./stream-record.ts";

/** A change that was left out may be missing from builds for this long. Milliseconds, and slots. */
const DETECTED_MS = 2_000;
const DETECTED_SLOTS = 10;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Leaves changes of the vault out. @returns how many samples were of a state replaced longer ago than allowed, and how many refused */
async function leaveOutFor(
  ms: number,
  leavesOut: (slot: bigint) => boolean,
  options: Parameters<typeof startWorld>[1],
) {
  const world = await startWorld(2, options);
  world.moveEverySlot = true;
  await world.pass(3_000);
  const start = Date.now();
  const counts = { old: 0, refused: 0, samples: 0 };
  world.leavesOut = leavesOut;
  world.onSample = () => {
    if (Date.now() < start + DETECTED_MS) return;
    counts.samples += 1;
    if (world.source.contested().size > 0) counts.refused += 1;
    else if (world.balance() - world.known()! > DETECTED_SLOTS) counts.old += 1;
  };
  await world.pass(ms);
  world.source.close();
  return counts;
}

const omissions = [
  ["every slot", () => true],
  ["two of three slots", (slot: bigint) => slot % 3n !== 0n],
  ["one of three slots", (slot: bigint) => slot % 3n === 0n],
] as const;

for (const apart of [0n, 1n, 2n])
  for (const isWebSocket of [true, false])
    test.each(omissions)(
      `a ${isWebSocket ? "WebSocket" : "complete stream"} that leaves out a moving vault in %s, with no other and nodes ${apart} slots apart, prices nothing for longer than two seconds, and trades go on`,
      async (_, leavesOut) => {
        const options = { isOnlyStream: true, isWebSocket, behind: [0n, apart] };
        const { old, refused, samples } = await leaveOutFor(20_000, leavesOut, options);
        expect(old).toBe(0);
        expect(refused).toBeLessThanOrEqual(samples / 3);
      },
    );

for (const apart of [0n, 1n, 2n])
  test.each([true, false])(
    `an honest stream is not blamed for slots without a change, nor for late notices, by nodes ${apart} slots apart (WebSocket: %s)`,
    async (isWebSocket) => {
      for (const reportsLate of [0n, 1n]) {
        const world = await startWorld(2, { isWebSocket, behind: [0n, apart] });
        Object.assign(world, { reportsLate, moveEverySlot: true, restsIn: (slot: bigint) => slot % 7n > 2n });
        const { doubts } = world;
        await world.pass(30_000);
        expect(world.doubts - doubts).toBe(0);
        expect(world.source.counts()).toMatchObject({ streamed: 1, contested: 0, contradicted: 0 });
        world.source.close();
      }
    },
  );

const stateOf = (lamports: bigint, data = new Uint8Array(0)) => ({
  ...{ address: SYSTEM_PROGRAM, owner: SYSTEM_PROGRAM, lamports, data, executable: false, slot: 0n },
});

test("a stream is not blamed for what followed a slot with more changes, or more data, than are kept", () => {
  for (const [changes, size] of [
    [200, 0],
    [20, 256 * 1024],
  ] as const) {
    const record = new StreamRecord(true);
    record.note(105n, stateOf(1n));
    for (let i = 1; i <= changes; i++) record.note(106n, stateOf(BigInt(i), new Uint8Array(size)));
    const account = stateOf(BigInt(changes), new Uint8Array(size));
    record.agree({ account, slots: [107n, 107n], needed: 2, sentAtMs: 0, atMs: 0 });
    const view = { slot: 120n, atMs: 1_000, coveredFrom: 100n, isCertain: () => true, heldAt: () => undefined };
    expect([changes, record.check(view, 2).isAnyWrong]).toEqual([changes, false]);
  }
});

test("a stream that reports megabytes again and again is kept in part: the oldest slots are forgotten", () => {
  const record = new StreamRecord(true);
  record.note(105n, stateOf(1n));
  for (let slot = 106n; slot < 126n; slot++) record.note(slot, stateOf(slot, new Uint8Array(1024 * 1024)));
  record.agree({ account: stateOf(3n), slots: [106n, 106n], needed: 2, sentAtMs: 0, atMs: 0 });
  record.agree({ account: stateOf(3n), slots: [125n, 125n], needed: 2, sentAtMs: 0, atMs: 0 });
  const view = { slot: 130n, atMs: 1_000, coveredFrom: 100n, isCertain: () => true, heldAt: () => undefined };
  record.check(view, 2);
  expect(record.wrong).toBe(1);
});

test("an omission is held against the stream where its own state is known, and only once it had time to report", () => {
  const record = new StreamRecord(true);
  for (const slot of [106n, 107n, 108n]) {
    const account = stateOf(slot === 107n ? 3n : 1n);
    record.agree({ account, slots: [slot, slot], needed: 2, sentAtMs: 0, atMs: 0 });
  }
  const heldAt = (slot: bigint) => (slot === 107n ? undefined : { account: stateOf(slot === 106n ? 1n : 2n) });
  const checkAt = (slot: bigint, atMs: number) =>
    record.check({ slot, atMs, coveredFrom: 100n, isCertain: () => true, heldAt }, 2);
  expect(checkAt(120n, 500).isAnyWrong).toBe(false);
  expect(checkAt(111n, 1_000).isAnyWrong).toBe(false);
  expect(record.wrong).toBe(0);
  expect(checkAt(120n, 1_000)).toMatchObject({ isAnyWrong: true, isAnyCertain: false, contradicted: undefined });
  expect(record.wrong).toBe(1);
});
