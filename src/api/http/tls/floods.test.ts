import { readFileSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { startEdge } from "../../../../test/support/edge.ts";
import { HTTP2_PREFACE, settingsFrame } from "../../../../test/support/http2-frames.ts";
import { RawTls } from "../../../../test/support/raw-tls.ts";

const fixture = (file: string) =>
  readFileSync(new URL(`../../../../test/fixtures/tls/localhost.${file}`, import.meta.url), "utf8");

async function start() {
  const edge = await startEdge({ tls: { cert: fixture("pem"), key: fixture("key") } });
  onTestFinished(() => edge.close());
  return {
    edge,
    connect: async (protocol: "h2" | "http/1.1") => {
      const connection = await RawTls.connect(edge.port, protocol);
      onTestFinished(() => connection.destroy());
      let answer = "";
      connection.client.on("data", (chunk: Buffer) => {
        answer += chunk.toString("latin1");
      });
      return Object.assign(connection, { answer: () => answer });
    },
  };
}

const REQUEST = "GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n";

it("closes a connection whose requests come in records of a byte, beyond some hundred", async () => {
  const { edge, connect } = await start();
  const [honest, flood] = [await connect("http/1.1"), await connect("http/1.1")];
  honest.send(honest.bytewise(REQUEST.repeat(5)));
  await expect.poll(() => honest.answer().split("HTTP/1.1 200").length - 1).toBe(5);
  flood.send(flood.bytewise(`GET /v1/ping HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(2_000)}`));
  await expect.poll(() => flood.isClosed).toBe(true);
  expect(honest.isClosed).toBe(false);
  expect(edge.load().connections).toBe(1);
});

it.each(["h2", "http/1.1"] as const)(
  "closes a connection that renews its keys again and again, over %s",
  async (protocol) => {
    const { edge, connect } = await start();
    const [honest, flood, askingBack] = [await connect(protocol), await connect(protocol), await connect(protocol)];
    const begin = protocol === "h2" ? Buffer.concat([HTTP2_PREFACE, settingsFrame()]) : REQUEST;
    honest.client.write(begin);
    await expect.poll(() => honest.answer()).not.toBe("");
    flood.send(flood.keyUpdates(100));
    askingBack.send(askingBack.keyUpdates(100, true));
    await expect.poll(() => flood.isClosed && askingBack.isClosed).toBe(true);
    expect(honest.isClosed).toBe(false);
    expect(edge.load().connections).toBe(1);
  },
);

it("serves a client that renews its keys now and then", async () => {
  const { connect } = await start();
  const connection = await connect("http/1.1");
  for (let served = 1; served <= 4; served++) {
    connection.send(Buffer.concat([connection.keyUpdates(2), connection.bytewise(REQUEST)]));
    await expect.poll(() => connection.answer().split("HTTP/1.1 200").length - 1).toBe(served);
  }
});
