/**
 * HTTP/2 clients that ask and never read, for as long as it runs: the initial window is 0, so that no byte of a body can be
 * sent. Arguments: port, connections, streams of each, from how many addresses, in how many milliseconds, whether they ask "first" or
 * "greeted" (once the server has sent its settings), paths. Sends "ready", opens them evenly once it receives a message, then
 * sends "done". Every message after that is answered with how many connections are left, how many streams were refused and reset, and
 * the processor time that the process had used by then.
 */
import { once } from "node:events";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { FrameType, framesOf, HTTP2_PREFACE, headersFrame, settingsFrame } from "../../support/http2-frames.ts";
import { giveWay } from "./core-times.ts";

giveWay();
const [port, connections, streams, addresses, durationMs] = process.argv.slice(2, 7).map(Number) as [
  number,
  number,
  number,
  number,
  number,
];
const asksFirst = process.argv[7] === "first";
const paths = process.argv.slice(8);
const REFUSED_STREAM = 7;

let open = 0;
let refused = 0;
let reset = 0;

const greeting = Buffer.concat([HTTP2_PREFACE, settingsFrame({ initialWindowSize: 0 })]);
const asking = Buffer.concat(
  Array.from({ length: streams }, (_, i) => headersFrame(2 * i + 1, "GET", paths[i % paths.length]!)),
);
const opening = asksFirst ? Buffer.concat([greeting, asking]) : greeting;

function connect(at: number): void {
  const socket = net.connect({ port, host: "127.0.0.1", localAddress: `127.0.0.${2 + (at % addresses)}` });
  socket.on("error", () => {});
  socket.on("connect", () => {
    open++;
    socket.write(opening);
  });
  socket.on("close", () => open--);
  if (!asksFirst) socket.once("data", () => socket.write(asking));
  let held: Buffer = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    const { frames, rest } = framesOf(held.length === 0 ? chunk : Buffer.concat([held, chunk]));
    held = rest;
    for (const { type, payload } of frames) {
      if (type !== FrameType.rstStream) continue;
      if (payload.readUInt32BE(0) === REFUSED_STREAM) refused++;
      else reset++;
    }
  });
}

process.send!("ready");
await once(process, "message");
const startMs = performance.now();
for (let opened = 0; opened < connections; await sleep(2)) {
  const due = Math.min(connections, ((performance.now() - startMs) * connections) / durationMs);
  for (; opened < due; opened++) connect(opened);
}
await sleep(500);
process.send!("done");
const { user, system } = process.cpuUsage();
const usedMs = (user + system) / 1_000;
process.on("message", () => process.send!({ open, refused, reset, usedMs }));
process.on("disconnect", () => process.exit(0));
