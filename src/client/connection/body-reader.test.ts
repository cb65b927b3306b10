import { afterEach, expect, test, vi } from "vitest";
import { Tradewire } from "../tradewire.ts";
import { BodyReader } from "./body-reader.ts";

/** A body that never ends, and what was read of it. */
function endless(part = new Uint8Array(1 << 16)) {
  const sent = { bytes: 0, isCanceled: false };
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent.bytes += part.length;
      controller.enqueue(part);
    },
    cancel() {
      sent.isCanceled = true;
    },
  });
  return { body: body as ReadableStream<Uint8Array<ArrayBuffer>>, sent };
}

const MOST_READ = 5_000_000;
const wallet = { publicKey: "11111111111111111111111111111112", signMessageBytes: () => new Uint8Array(64) };

afterEach(() => {
  vi.unstubAllGlobals();
});

test("reads parts across chunks of any size, and what is left", async () => {
  const bytes = Uint8Array.from({ length: 1_000 }, (_, index) => index);
  const chunks = [bytes.subarray(0, 1), bytes.subarray(1, 1), bytes.subarray(1, 700), bytes.subarray(700)];
  const body = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const reader = new BodyReader({ body });
  expect(await reader.take(5)).toEqual(bytes.subarray(0, 5));
  expect(await reader.take(0)).toEqual(new Uint8Array());
  expect(await reader.take(694)).toEqual(bytes.subarray(5, 699));
  expect(await reader.rest()).toEqual(bytes.subarray(699));
  await expect(new BodyReader({ body: null }).take(1)).rejects.toThrow("ended early");
  expect(await new BodyReader({ body: null }).rest()).toEqual(new Uint8Array());
});

test("a service that never stops answering is cut off, whatever it answers", async () => {
  const answers: readonly (readonly [status: number, type: string])[] = [
    [200, "application/proto"],
    [503, "application/json"],
    [404, "text/html"],
  ];
  for (const [status, type] of answers) {
    const { body, sent } = endless();
    vi.stubGlobal("fetch", () => Promise.resolve(new Response(body, { status, headers: { "content-type": type } })));
    const client = Tradewire.connect({ baseUrl: "http://service.example", wallet, apiKey: "key", keepAliveMs: 0 });
    await expect(client.priorities()).rejects.toMatchObject({
      code: "CONNECTION_ERROR",
      message: expect.stringContaining("longer than"),
      // Of a submit nothing was decided by it.
      retryable: true,
    });
    expect(sent.bytes).toBeLessThan(MOST_READ);
    expect(sent.isCanceled).toBe(true);
    client.close();
  }
});

test("a stream whose next message is announced as gigabytes is cut off before they are read", async () => {
  const { body, sent } = endless(Uint8Array.of(0, 0xff, 0xff, 0xff, 0xff));
  const headers = { "content-type": "application/connect+proto" };
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(body, { headers })));
  const client = Tradewire.connect({ baseUrl: "http://service.example", wallet, apiKey: "key", keepAliveMs: 0 });
  await expect(client.watchTrade("1".repeat(64)).next()).rejects.toMatchObject({
    message: expect.stringContaining("longer than"),
  });
  expect(sent.bytes).toBeLessThan(1_000);
  client.close();
});
