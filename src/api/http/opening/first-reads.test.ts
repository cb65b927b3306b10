import { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { FirstReads } from "./first-reads.ts";

/** First reads, and the connections that have begun. */
function start() {
  const begun: Socket[] = [];
  return { begun, reads: new FirstReads({ requestIds: () => "id", serve: (socket) => void begun.push(socket) }) };
}

const sockets = (count: number) => Array.from({ length: count }, () => new Socket());

it("begins one connection in a turn of those that sent much, in their order, and none that is gone", async () => {
  const { begun, reads } = start();
  const all = sockets(5);
  for (const socket of all) reads.begin(socket, Buffer.alloc(64 * 1024));
  expect(begun).toEqual([all[0]]);
  all[2]!.destroy(new Error("reset by its client"));
  for (const count of [2, 3, 4]) {
    await nextTurn();
    expect(begun.length).toBeLessThanOrEqual(count);
  }
  await expect.poll(() => begun.length).toBe(4);
  expect(begun).toEqual(all.filter((socket) => socket !== all[2]));
});

it("begins a thousand connections at once that sent little, though others wait", () => {
  const { begun, reads } = start();
  const busy = sockets(3);
  for (const socket of busy) reads.begin(socket, Buffer.alloc(64 * 1024));
  const all = sockets(1_000);
  for (const socket of all) reads.begin(socket, Buffer.alloc(4_000));
  expect(begun).toEqual([busy[0], ...all]);
});

it("puts back what was read", () => {
  const { reads } = start();
  for (const length of [1, 65_536]) {
    const [socket] = sockets(1) as [Socket];
    const first = Buffer.from(Array.from({ length }, (_, i) => i % 251));
    reads.begin(socket, first);
    expect(socket.read()).toEqual(first);
  }
});

it.each([
  [1, 1],
  [2_048, 1],
  [2_049, 2],
  [65_536, 32],
])("puts back %i bytes in pieces, so that a server that pauses in between parses no more", async (length, pieces) => {
  const seen: Buffer[] = [];
  const reads = new FirstReads({
    requestIds: () => "id",
    serve: (socket) => void socket.on("data", (piece) => seen.push(piece)),
  });
  const [socket] = sockets(1) as [Socket];
  const first = Buffer.from(Array.from({ length }, (_, i) => i % 251));
  reads.begin(socket, first);
  await nextTurn();
  expect(seen).toHaveLength(pieces);
  expect(Buffer.concat(seen)).toEqual(first);
});

it("refuses what comes while those that wait hold 16 MiB, and no longer", async () => {
  const { begun, reads } = start();
  const all = sockets(300);
  const first = Buffer.alloc(48 * 1024);
  for (const socket of all) reads.begin(socket, first);
  await expect.poll(() => begun.length).toBe(257);
  await expect.poll(() => all.filter(({ destroyed }) => destroyed).length).toBe(43);
  // The last one's turn has ended: the next connection begins at once, and 256 wait.
  await nextTurn();
  for (const socket of sockets(257)) reads.begin(socket, first);
  await expect.poll(() => begun.length).toBe(514);
});
