import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { type ClientHttp2Stream, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { expect, onTestFinished, test } from "vitest";
import type { FeedListener } from "../state/account-feed.ts";
import { FeedStream } from "./feed-stream.ts";
import { SLOT_STATUS } from "./yellowstone-wire.ts";

const PING = new BinaryWriter().tag(6, 2).bytes(new Uint8Array()).finish();
const CONFIRMED = new BinaryWriter()
  .tag(3, 2)
  .fork()
  .tag(1, 0)
  .uint64(5n)
  .tag(3, 0)
  .int32(SLOT_STATUS.confirmed)
  .join();

function frameOf(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function listening(onConfirmed: (slot: bigint) => void): FeedListener {
  const ignore = () => {};
  return {
    onAccount: ignore,
    onCovered: ignore,
    onUncovered: ignore,
    onReplaced: ignore,
    onRestart: ignore,
    onSlot: ignore,
    onConfirmed,
    onRoot: ignore,
    onDead: ignore,
  };
}

test("a server that pings without end and reads nothing has few answers wait for it", async () => {
  const server = createServer({ settings: { initialWindowSize: 0 } });
  server.on("stream", (stream) => {
    stream.on("error", () => {});
    stream.respond({ ":status": 200 });
    stream.write(Buffer.concat([...Array.from({ length: 5_000 }, () => frameOf(PING)), frameOf(CONFIRMED.finish())]));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  let call: ClientHttp2Stream | undefined;
  const note = (made: unknown) => {
    call = (made as { readonly stream: ClientHttp2Stream }).stream;
  };
  subscribe("http2.client.stream.created", note);

  let feed: FeedStream | undefined;
  const confirmed = new Promise<bigint>((resolve) => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const options = { url, token: undefined, now: () => 0, random: () => 0.5, warn: () => {} };
    feed = new FeedStream(options, { listener: listening(resolve), nextEpoch: () => 1 });
  });
  onTestFinished(() => {
    unsubscribe("http2.client.stream.created", note);
    feed?.close();
    server.close();
  });
  expect(await confirmed).toBe(5n);
  expect(call!.writableLength).toBeLessThan(1_000);
});
