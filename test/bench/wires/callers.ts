/**
 * A process of callers: makes calls as fast as they are answered, or at a steady rate whatever the answers take (an open loop:
 * a call that is late because an earlier one was slow counts from when it was due).
 */
import { readFileSync } from "node:fs";
import { createRandom } from "../../../src/primitives/random.ts";
import { answerParent } from "../child.ts";
import type { SpreadFacts } from "../spread/spread-service.ts";
import { Http1Lane, type Lane } from "./http1-lane.ts";
import { Http2Lane } from "./http2-lane.ts";
import { randomWireRequest, type WireName, type WireRequest } from "./wire-requests.ts";

/** So many calls, as fast as they are answered. */
export interface ClosedLoop {
  readonly kind: "closed";
  readonly wire: WireName;
  readonly port: number;
  readonly calls: number;
  readonly isOnePair: boolean;
}

/** Calls at a rate, for a while. */
export interface OpenLoop {
  readonly kind: "open";
  readonly wire: WireName;
  readonly port: number;
  readonly perSecond: number;
  readonly seconds: number;
}

export interface LoopAnswer {
  readonly answered: number;
  readonly busy: number;
  /** Of one answer's body. */
  readonly bytes: number;
  readonly seconds: number;
  /** From when a call was due. Milliseconds; an open loop only. */
  readonly p50: number;
  readonly p99: number;
}

/** Connections, and calls at once on each HTTP/2 connection. */
const CONNECTIONS = 16;
const SESSIONS = 4;
const STREAMS = 4;
/** Different requests of a wire. */
const REQUESTS = 20_000;

const facts = JSON.parse(readFileSync(process.argv[2]!, "utf8")) as SpreadFacts;
const random = createRandom(29);
const prepared = new Map<string, readonly WireRequest[]>();

answerParent({ ready: true }, (question: ClosedLoop | OpenLoop) =>
  question.kind === "closed" ? callInTurn(question) : callAtRate(question),
);

function requestsOf(wire: WireName, isOnePair: boolean): readonly WireRequest[] {
  const key = `${wire} ${isOnePair}`;
  let known = prepared.get(key);
  if (known === undefined) {
    known = Array.from({ length: REQUESTS }, () => randomWireRequest(wire, facts, random, isOnePair));
    prepared.set(key, known);
  }
  return known;
}

/** Connections by port and protocol, kept from loop to loop: clients keep theirs, and what one costs to open is no part of a call. */
const kept = new Map<string, Lane[]>();

/** Connections, one entry for each call that may run at once. */
function lanesTo(wire: WireName, port: number): readonly Lane[] {
  const isHttp2 = wire === "gRPC";
  const key = `${port} ${isHttp2}`;
  const open = (kept.get(key) ?? []).filter(({ isOpen }) => isOpen);
  while (open.length < (isHttp2 ? SESSIONS : CONNECTIONS))
    open.push(isHttp2 ? new Http2Lane(port) : new Http1Lane(port));
  kept.set(key, open);
  return isHttp2 ? Array.from({ length: SESSIONS * STREAMS }, (_, index) => open[index % SESSIONS]!) : open;
}

async function callInTurn({ wire, port, calls, isOnePair }: ClosedLoop): Promise<LoopAnswer> {
  const requests = requestsOf(wire, isOnePair);
  const lanes = lanesTo(wire, port);
  const from = random.u32() % REQUESTS;
  let next = 0;
  let busy = 0;
  let bytes = 0;
  const start = performance.now();
  await Promise.all(
    lanes.map(async (lane) => {
      while (next < calls) {
        const length = await lane.call(requests[(from + next++) % REQUESTS]!);
        if (length === undefined) busy++;
        else bytes = length;
      }
    }),
  );
  const seconds = (performance.now() - start) / 1_000;
  return { answered: next - busy, busy, bytes, seconds, p50: Number.NaN, p99: Number.NaN };
}

async function callAtRate({ wire, port, perSecond, seconds }: OpenLoop): Promise<LoopAnswer> {
  const requests = requestsOf(wire, false);
  const lanes = lanesTo(wire, port);
  const free = [...lanes];
  const due: number[] = [];
  const taken: number[] = [];
  const from = random.u32() % REQUESTS;
  const all = Math.floor(perSecond * seconds);
  let made = 0;
  let busy = 0;
  let bytes = 0;
  const done = Promise.withResolvers<void>();
  const serve = (): void => {
    while (due.length > 0 && free.length > 0) {
      const lane = free.pop()!;
      const dueMs = due.shift()!;
      lane.call(requests[(from + made) % REQUESTS]!).then((length) => {
        taken.push(performance.now() - dueMs);
        if (length === undefined) busy++;
        else bytes = length;
        free.push(lane);
        if (taken.length === all) done.resolve();
        serve();
      }, done.reject);
    }
  };
  const start = performance.now();
  const tick = (): void => {
    const nowMs = performance.now();
    for (; made < all && start + (made * 1_000) / perSecond <= nowMs; made++)
      due.push(start + (made * 1_000) / perSecond);
    serve();
    // It spins: a timer would be late by a millisecond.
    if (made < all) setImmediate(tick);
  };
  tick();
  await done.promise;
  taken.sort((a, b) => a - b);
  const at = (share: number) => taken[Math.min(taken.length - 1, Math.floor(taken.length * share))]!;
  return {
    answered: all - busy,
    busy,
    bytes,
    seconds: (performance.now() - start) / 1_000,
    p50: at(0.5),
    p99: at(0.99),
  };
}
