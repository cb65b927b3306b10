import { once } from "node:events";
import http2, { type ClientHttp2Session } from "node:http2";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { type Edge, startEdge } from "../../../../test/support/edge.ts";
import { ALICE } from "../../../../test/support/fake-trades.ts";
import { HTTP2_PREFACE, settingsFrame, windowUpdateFrame } from "../../../../test/support/http2-frames.ts";
import { FlowGuard } from "./flow-guard.ts";

/** Longer than the time between two looks at what waits. */
const LOOKED_MS = 1_200;

let edge: Edge;
let session: ClientHttp2Session | undefined;
beforeEach(async () => {
  edge = await startEdge();
});
afterEach(async () => {
  session?.destroy();
  await edge.close();
});

it("takes bodies that come long after their heads", async () => {
  session = http2.connect(`http://127.0.0.1:${edge.port}`);
  const body = `{}${" ".repeat(12_000)}`;
  const headers = { ":method": "POST", ":path": "/v1/tx/buy", "content-type": "application/json" };
  const asked = { ...headers, "content-length": body.length, authorization: `Bearer ${ALICE.key}` };
  const streams = Array.from({ length: 50 }, () => session!.request(asked));
  const answers = streams.map(
    (stream) =>
      new Promise((resolve) => {
        stream.on("response", (answer) => resolve(answer[":status"]));
        stream.on("error", resolve).on("close", resolve);
      }),
  );
  await sleep(LOOKED_MS);
  for (const stream of streams) stream.write(body.slice(2));
  await sleep(LOOKED_MS);
  for (const stream of streams) stream.end("{}");
  expect(new Set(await Promise.all(answers))).toEqual(new Set([400]));
});

it("cuts a client that sends more control frames than it may without a look at what waits", async () => {
  const looks = vi.spyOn(FlowGuard.prototype, "look").mockReturnValue();
  onTestFinished(() => looks.mockRestore());
  const flood = Array.from({ length: 8_000 }, () => windowUpdateFrame(0, 1));
  for (let i = 0; i < 3; i++) {
    const socket = net.connect(edge.port, "127.0.0.1");
    socket.resume().write(Buffer.concat([HTTP2_PREFACE, settingsFrame(), ...flood]));
    await once(socket, "close");
  }
});
