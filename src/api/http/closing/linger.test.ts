import net from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type Edge, startEdge } from "../../../../test/support/edge.ts";

let edge: Edge | undefined;
afterEach(async () => {
  await edge?.close();
  edge = undefined;
});

/** Larger than what the system takes of an upload that nobody reads. */
const LARGE = Buffer.alloc(7 * 1024 * 1024, " ");

/** What a client reads that writes its whole request first, as many libraries do. @throws the error that ends its writing */
async function answerTo(head: string, body: Buffer): Promise<string> {
  edge ??= await startEdge();
  const socket = net.connect({ port: edge.port, host: "127.0.0.1" });
  return new Promise((resolve, reject) => {
    let answer = "";
    socket
      .pause()
      .on("error", reject)
      .on("data", (chunk) => {
        answer += chunk.toString("latin1");
      })
      .on("close", () => resolve(answer));
    socket.write(`${head}\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`);
    socket.write(body, () => socket.resume());
  });
}

describe("a client that writes a whole large body before it reads", () => {
  it.each([
    ["a body that is too large", "POST /v1/tx/buy HTTP/1.1\r\nContent-Type: application/json", "413"],
    [
      "the same, on a connection that is to close",
      "POST /v1/tx/buy HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close",
      "413",
    ],
    ["the same in HTTP/1.0", "POST /v1/tx/buy HTTP/1.0\r\nContent-Type: application/json", "413"],
    [
      "a typed call",
      "POST /tradewire.v1.TradeService/Buy HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close",
      "429",
    ],
    ["a path of nothing", "POST /nothing HTTP/1.1\r\nConnection: close", "404"],
    ["a method that the path does not take", "PUT /v1/tx/buy HTTP/1.1\r\nConnection: close", "405"],
  ])("reads the answer to %s", async (_, head, status) => {
    const answer = await answerTo(head, LARGE);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
  });
});

/** A connection that has its refusal, while its body of no declared length goes on. */
async function refusedWithoutLength(): Promise<net.Socket> {
  const socket = net.connect({ port: edge!.port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {}).write("POST /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n");
  socket.write("Transfer-Encoding: chunked\r\n\r\n1\r\n \r\n");
  const answer = await new Promise<Buffer>((resolve) => socket.once("data", resolve));
  expect(answer.toString("latin1")).toMatch(/^HTTP\/1\.1 404 /);
  return socket;
}

it("a client reads its answer while bodies of no declared length, of which nothing more is read, are refused", async () => {
  edge = await startEdge();
  const others = await Promise.all(Array.from({ length: 16 }, refusedWithoutLength));
  const answer = await answerTo(
    "POST /v1/tx/buy HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close",
    LARGE,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  for (const other of others) other.destroy();
});

it("reads nothing more of a body that is longer than it would drop", async () => {
  edge = await startEdge();
  const accepted = new Promise<net.Socket>((resolve) => edge!.fastify.server.once("connection", resolve));
  const socket = net.connect({ port: edge.port, host: "127.0.0.1" });
  const served = await accepted;
  const closed = new Promise<void>((resolve) => served.once("close", () => resolve()));
  socket.on("error", () => {}).write("POST /v1/tx/buy HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n");
  socket.write(`Connection: close\r\nContent-Length: ${2 ** 30}\r\n\r\n`);
  const answer = await new Promise<Buffer>((resolve) => socket.once("data", resolve));
  expect(answer.toString("latin1")).toMatch(/^HTTP\/1\.1 413 /);
  socket.write(LARGE);
  await closed;
  expect(served.bytesRead).toBeLessThanOrEqual(2 * 0x10000);
  socket.destroy();
});
