import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import net from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type Edge, startEdge } from "../../../../test/support/edge.ts";
import { KnownPaths } from "../known-paths.ts";
import { routeInTurns } from "./router-turns.ts";

/** Requests of a turn that are served while they are read. */
const AT_ONCE = 64;
/** Those that its passes have time for, if each takes a millisecond. */
const IN_PASSES = 5;
const ASKED = 200;

let edge: Edge;
/** Requests served in each turn of the event loop that served any. */
let served: number[];
let turns: NodeJS.Immediate;
beforeEach(async () => {
  edge = await startEdge();
  // No time passes but what is served.
  vi.useFakeTimers({ toFake: ["performance"] });
  // The router asks this of each request that no route matches.
  vi.spyOn(KnownPaths.prototype, "methodsAt").mockImplementation(() => {
    served[served.length - 1]!++;
    vi.advanceTimersByTime(1);
    return [];
  });
  served = [0];
  turns = setImmediate(function turn() {
    if (served.at(-1) !== 0) served.push(0);
    turns = setImmediate(turn);
  });
});
afterEach(async () => {
  clearImmediate(turns);
  vi.useRealTimers();
  vi.restoreAllMocks();
  await edge.close();
});

it("spreads what many connections ask in one turn over several", async () => {
  let answers = 0;
  const ask = async (socket: net.Socket) => {
    socket.write("GET /v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(socket, "data");
    answers++;
  };
  const sockets = Array.from({ length: ASKED }, () => net.connect(edge.port, edge.host));
  await Promise.all(sockets.map(ask));
  served = [0];
  await Promise.all(sockets.map(ask));
  for (const socket of sockets) socket.destroy();
  expect(answers).toBe(2 * ASKED);
  expect(Math.max(...served)).toBeLessThanOrEqual(AT_ONCE + IN_PASSES);
});

it("serves nothing of a client that is gone by then", async () => {
  const asked: unknown[] = [];
  const route = routeInTurns((_, response) => asked.push(response));
  const responses = Array.from({ length: AT_ONCE + 2 }, () => ({ destroyed: false }) as ServerResponse);
  for (const response of responses) route({ httpVersionMajor: 1, socket: {} } as IncomingMessage, response);
  expect(asked).toHaveLength(AT_ONCE);
  Object.assign(responses.at(-2)!, { destroyed: true });
  await nextTurn();
  expect(asked).toEqual([...responses.slice(0, AT_ONCE), responses.at(-1)]);
});
