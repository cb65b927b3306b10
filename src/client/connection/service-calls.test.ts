import { create, type DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { afterEach, expect, test, vi } from "vitest";
import { Tradewire } from "../tradewire.ts";

const wallet = { publicKey: "11111111111111111111111111111112", signMessageBytes: () => new Uint8Array(64) };
const options = { baseUrl: "http://service.example", wallet, apiKey: "key", keepAliveMs: 0, timeoutMs: 20 };
const SIGNATURE = "1".repeat(64);

afterEach(() => {
  vi.unstubAllGlobals();
});

/** A network on which nothing is ever answered. Counts the calls that it was told to give up. */
function silence() {
  const given = { up: 0 };
  vi.stubGlobal("fetch", (_: unknown, { signal }: RequestInit) => {
    return new Promise((_, reject) => {
      signal?.addEventListener("abort", () => {
        given.up += 1;
        reject(signal.reason);
      });
    });
  });
  return given;
}

test("a service that does not answer is a lost connection, never the caller's own abort: pings and streams too", async () => {
  const given = silence();
  const client = Tradewire.connect(options);
  const calls = [() => client.ping(), () => client.priorities(), () => client.watchTrade(SIGNATURE).next()];
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "CONNECTION_ERROR", retryable: true });
  expect(given.up).toBe(calls.length);
  const own = { signal: AbortSignal.abort() };
  for (const call of [() => client.ping(own), () => client.priorities(own)]) {
    await expect(call()).rejects.toMatchObject({ code: "ABORTED" });
  }
  await expect(client.watchTrade(SIGNATURE, own).next()).rejects.toMatchObject({ code: "ABORTED" });
  client.close();
});

test("what answers at a wrong address is told in its own words, or by its status", async () => {
  const said = "There is nothing at POST /v1/tradewire.v1.TradeService/GetPriority.";
  const answers: [object | string | null, string][] = [
    [{ success: false, error: { code: "NOT_FOUND", message: said } }, `HTTP 404: ${said}`],
    [{ error: "Not Found" }, "HTTP 404"],
    [{ error: null }, "HTTP 404"],
    [null, "HTTP 404"],
    ["<h1>Not Found</h1>", "HTTP 404"],
  ];
  for (const [body, message] of answers) {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    vi.stubGlobal("fetch", async () => new Response(text, { status: 404 }));
    const client = Tradewire.connect({ ...options, baseUrl: "http://service.example/v1" });
    await expect(client.priorities(), text).rejects.toMatchObject({ code: "INTERNAL_ERROR", message });
    client.close();
  }
});

test("a service that says that the caller aborted is not believed", async () => {
  const refuse = () => Promise.reject(new ConnectError("canceled", Code.Canceled));
  const client = Tradewire.connect({ ...options, transport: { unary: refuse, stream: refuse } as never });
  for (const call of [() => client.priorities(), () => client.watchTrade(SIGNATURE).next()]) {
    await expect(call()).rejects.toMatchObject({ code: "CONNECTION_ERROR", retryable: true });
  }
  client.close();
});

test("a stream that ends before its trade is final has been cut: it says nothing of the end", async () => {
  for (const statuses of [[], [1], [1, 3], [4, 3]]) {
    const transport = {
      stream: async (method: DescMethod) => ({
        message: (async function* () {
          for (const status of statuses) yield create(method.output, { signature: SIGNATURE, status } as never);
        })(),
      }),
    } as unknown as Transport;
    const client = Tradewire.connect({ ...options, transport });
    const watch = async () => {
      for await (const _ of client.watchTrade(SIGNATURE));
    };
    await expect(watch(), String(statuses)).rejects.toMatchObject({ code: "CONNECTION_ERROR", retryable: true });
    client.close();
  }
});

test("a stream may pause for longer than an answer may take", async () => {
  const message = (method: DescMethod, status: number) =>
    create(method.output, { signature: SIGNATURE, status } as never);
  const transport = {
    stream: async (method: DescMethod) => ({
      message: (async function* () {
        yield message(method, 1);
        await new Promise((resolve) => setTimeout(resolve, 100));
        yield message(method, 4);
      })(),
    }),
  } as unknown as Transport;
  const client = Tradewire.connect({ ...options, transport });
  const seen: string[] = [];
  for await (const { status } of client.watchTrade(SIGNATURE)) seen.push(status);
  expect(seen).toHaveLength(2);
  client.close();
});
