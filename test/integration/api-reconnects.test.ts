import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { startEdge } from "../support/edge.ts";

const CALLERS = 6;
const ROUNDS = 10;
/** As long as a port that is to close accepts connections without serving them. Milliseconds. */
const HOLD_MS = 100;

/** Sends a request on a connection of its own. @returns what became of it */
function ping(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket = net.connect(port, host, () => socket.write("GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n"));
    socket.setEncoding("latin1").on("data", (chunk) => {
      text += chunk;
      if (!text.includes("\r\n\r\n")) return;
      socket.destroy();
      resolve("answered");
    });
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code!)).on("close", () => resolve("closed"));
  });
}

it("answers or refuses each caller that connects anew while its port closes", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { host, port, drain, close } = await startEdge();
    const call = async () => {
      let last = "answered";
      while (last === "answered") last = await ping(host, port);
      return last;
    };
    const ends = Array.from({ length: CALLERS }, call);
    await sleep(20);
    drain();
    await close();
    expect(await Promise.all(ends)).toEqual(Array(CALLERS).fill("ECONNREFUSED"));
  }
});

it("resets none of many callers who connect in the turn in which the port is to close", async () => {
  const { host, port, drain, close } = await startEdge();
  drain();
  const ends: Promise<string>[] = [];
  setTimeout(() => ends.push(...Array.from({ length: 60 }, () => ping(host, port))), HOLD_MS);
  await close();
  expect((await Promise.all(ends)).filter((end) => end !== "answered" && end !== "ECONNREFUSED")).toEqual([]);
});
