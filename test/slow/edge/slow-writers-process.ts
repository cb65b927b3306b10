/**
 * A thousand connections that dribble a request each, half of them its head and half its body. Takes a port and the lines of the head.
 * Sends "begun", and once the server has cut all of them off, or after 15 s, a `SlowWritersEnd`.
 */
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { giveWay } from "./core-times.ts";
import { requestText } from "./sockets.ts";

export interface SlowWritersEnd {
  /** Connections that were not cut off. */
  readonly left: number;
  /** When the last one was, after the first was opened. Milliseconds. */
  readonly lastMs: number;
}

const COUNT = 1_000;
const PATIENCE_MS = 15_000;

giveWay();
const [port = "", ...headers] = process.argv.slice(2);
const head = requestText("/v1/tx/buy", headers);
const startMs = performance.now();
const cutMs: number[] = [];
const sockets = Array.from({ length: COUNT }, (_, i) => {
  const socket = net.connect(Number(port), "127.0.0.1");
  const isHead = i % 2 === 0;
  let at = isHead ? 20 : head.length;
  socket.write(head.slice(0, at));
  const timer = setInterval(() => socket.write(isHead ? (head[at++] ?? "x") : " "), 500 + (i % 500));
  socket.on("error", () => {});
  socket.on("data", () => {});
  socket.on("close", () => {
    clearInterval(timer);
    cutMs.push(performance.now() - startMs);
  });
  return socket;
});
await sleep(500);
process.send!("begun");
while (cutMs.length < COUNT && performance.now() - startMs < PATIENCE_MS) await sleep(50);
process.send!({ left: COUNT - cutMs.length, lastMs: Math.max(...cutMs) } satisfies SlowWritersEnd);
for (const socket of sockets) socket.destroy();
process.disconnect();
