import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { slotUpdate } from "../../../test/support/forking-chain/yellowstone.ts";
import { Address } from "../../primitives/address.ts";
import type { FeedListener } from "../state/account-feed.ts";
import { FeedStream } from "./feed-stream.ts";
import { SLOT_STATUS } from "./yellowstone-wire.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const [old, fresh] = [1, 2].map((fill) => Address.from(new Uint8Array(32).fill(fill))) as [Address, Address];

/** A listener that notes which accounts are covered, and from which slot. */
function notingCovered() {
  const covered: [string, bigint][] = [];
  const listener = new Proxy({} as FeedListener, {
    get: (_, event) => (addresses: readonly Address[], slot: bigint) => {
      if (event === "onCovered") for (const address of addresses) covered.push([address.toString(), slot]);
    },
  });
  return { covered, listener };
}

test("what is repeated covers no account that is new to it, until the stream goes on", async () => {
  const { covered, listener } = notingCovered();
  const { stream, begin: beginUnder, end } = openStream(listener);
  // Sent under the latest request.
  const begin = (slot: number) => beginUnder(slot, 99);
  stream.follow(old);
  await vi.advanceTimersByTimeAsync(20);
  for (let slot = 101; slot <= 140; slot++) begin(slot);
  expect(covered).toEqual([[old.toString(), 101n]]);
  end("cut");
  stream.follow(fresh);
  await vi.advanceTimersByTimeAsync(200);
  for (let slot = 108; slot <= 140; slot++) begin(slot);
  expect(covered).toHaveLength(1);
  begin(141);
  expect(covered).toEqual([
    [old.toString(), 101n],
    [fresh.toString(), 141n],
  ]);
  stream.close();
});

test("a connection that is behind the one before covers accounts once it has come as far", async () => {
  const { covered, listener } = notingCovered();
  const { stream, begin, end } = openStream(listener);
  stream.follow(old);
  await vi.advanceTimersByTimeAsync(20);
  for (let slot = 101; slot <= 140; slot++) begin(slot, 2);
  end("cut");
  await vi.advanceTimersByTimeAsync(200);
  end("gRPC status 3: from_slot is not available");
  stream.follow(fresh);
  await vi.advanceTimersByTimeAsync(400);
  for (let slot = 133; slot <= 139; slot++) begin(slot, 99);
  expect(covered).toEqual([[old.toString(), 101n]]);
  begin(140, 99);
  expect(covered.slice(1).sort()).toEqual([
    [old.toString(), 140n],
    [fresh.toString(), 140n],
  ]);
  stream.close();
});

test.each([
  ["accepted", 108],
  ["begun too late", 145],
])("slots after a cut that are repeated, in a repetition that is %s, are not reported now", async (_, first) => {
  const listener = new Proxy({} as FeedListener, { get: () => () => {} });
  const address = Address.from(new Uint8Array(32).fill(1));
  const { stream, begin, end } = openStream(listener);
  stream.follow(address);
  await vi.advanceTimersByTimeAsync(20);
  for (let slot = 101; slot <= 140; slot++) begin(slot, 2);
  const cutAtMs = Date.now();
  expect(stream.liveAtMs).toBe(cutAtMs);
  end("cut");
  await vi.advanceTimersByTimeAsync(2_000);
  // As the second connection was asked.
  for (let slot = first; slot <= 150; slot++) begin(slot, 3);
  expect(stream.liveAtMs).toBe(cutAtMs);
  begin(151, 4);
  expect(stream.liveAtMs).toBe(cutAtMs + 2_000);
  stream.close();
});

/** A stream whose connections the test feeds: `begin` reports a slot under a request, `end` cuts the connection. */
function openStream(listener: FeedListener) {
  let receive!: (message: Uint8Array) => void;
  let end!: (reason: string) => void;
  const stream = new FeedStream(
    {
      ...{ url: "http://stream", token: undefined, now: Date.now, random: () => 0, warn: () => {} },
      open({ onMessage, onEnd }) {
        [receive, end] = [onMessage, onEnd];
        return { send: () => {}, answer: () => {}, countWork: () => {}, close: () => {} };
      },
    },
    { listener, nextEpoch: () => 1 },
  );
  return {
    stream,
    begin: (slot: number, request: number) =>
      receive(slotUpdate(String(request), { slot, parent: slot - 1, status: SLOT_STATUS.createdBank, bankId: slot })),
    end: (reason: string) => end(reason),
  };
}
