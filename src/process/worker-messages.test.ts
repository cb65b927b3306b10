import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { Address } from "../primitives/address.ts";
import { isForOtherWorkers, reachOtherWorkers } from "./worker-messages.ts";
import { WORKER_READY, WORKER_REPLACED } from "./workers.ts";

const addresses = [1, 2, 3].map((byte) => Address.from(new Uint8Array(32).fill(byte)));

/** The channels of two workers, over which each gets what the other sends, as the primary's JSON passes it on. */
function channels() {
  const [here, there] = [new EventEmitter(), new EventEmitter()];
  const to = (other: EventEmitter) => (message: unknown) => {
    if (isForOtherWorkers(message)) other.emit("message", JSON.parse(JSON.stringify(message)));
    return true;
  };
  return [Object.assign(here, { send: to(there) }), Object.assign(there, { send: to(here) })] as const;
}

test("a worker learns which accounts another's landed transaction has written, and in which slot", () => {
  const [here, there] = channels();
  const heard: unknown[] = [];
  reachOtherWorkers(there).listen((accounts, slot) => heard.push([accounts, slot]));
  const others = reachOtherWorkers(here);
  others.listen(() => heard.push("its own"));
  others.tellWritten(addresses, 2n ** 60n);
  others.tellWritten([], 7n);
  expect(heard).toEqual([
    [addresses, 2n ** 60n],
    [[], 7n],
  ]);
});

test("what others tell while a worker starts is not lost, in its order, the newest of very much", () => {
  const [here, there] = channels();
  const starting = reachOtherWorkers(there);
  const others = reachOtherWorkers(here);
  for (let slot = 1n; slot <= 2_003n; slot++) others.tellWritten(addresses, slot);
  const heard: bigint[] = [];
  starting.listen((_accounts, slot) => heard.push(slot));
  others.tellWritten(addresses, 2_004n);
  expect([heard.length, heard[0], heard.at(-1)]).toEqual([2_001, 4n, 2_004n]);
});

test("other messages of the primary are no written accounts", () => {
  const [, there] = channels();
  reachOtherWorkers(there).listen(() => expect.unreachable());
  for (const message of [WORKER_READY, WORKER_REPLACED, null, undefined, 1, {}]) there.emit("message", message);
});

test("a process without a primary tells nobody", () => {
  const lone = reachOtherWorkers(new EventEmitter());
  expect(() => lone.tellWritten(addresses, 1n)).not.toThrow();
});
