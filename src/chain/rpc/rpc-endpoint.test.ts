import { afterEach, describe, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { answer, type FakeCall, type FakeNode, fail, startFakeNode } from "../../../test/support/fake-node.ts";
import { createRpcEndpoint } from "./rpc-endpoint.ts";
import { parseRpcJson } from "./rpc-values.ts";

let node: FakeNode | undefined;
afterEach(() => node?.close());

async function call(
  reply: FakeCall,
  { method = "ask", ...options }: { method?: string; timeoutMs?: number; maxResponseBytes?: number } = {},
) {
  node = await startFakeNode({ [method]: reply });
  // A clock that stands: whether a node cools down is asked some time after its answer, which the machine decides.
  const endpoint = createRpcEndpoint({ url: `${node.url}/?api-key=secret`, now: () => 1_000_000, ...options });
  const outcome = await endpoint.call(method, [1]).catch((error) => error);
  return { endpoint, outcome };
}

test("a call returns the node's result", async () => {
  const { outcome, endpoint } = await call(({ id, params }, response) => answer(params)({ id, params }, response));
  expect(outcome).toEqual([1]);
  expect(endpoint.isCooling()).toBe(false);
});

test("balances above 2^53 are exact", async () => {
  const { outcome } = await call(({ id }, response) =>
    response.end(
      `{"jsonrpc":"2.0","id":${id},"result":{"lamports":18446744073709551615,"pre":[9007199254740993,5],"space":165}}`,
    ),
  );
  expect(outcome).toEqual({ lamports: 18446744073709551615n, pre: [9007199254740993n, 5], space: 165 });
});

test.each([
  ["short", 0],
  ["long", 5_000],
])("in a %s answer, balances alone make large integers exact", (_name, length) => {
  const log = `"log":"${"[9007199254740993,".padEnd(length, ".")}"`;
  const parsed = (fields: string) => parseRpcJson(`{${log},${fields}}`);
  expect(parsed(`"pre":[ 1,\n 9007199254740993 ],"units":7`)).toMatchObject({ pre: [1, 9007199254740993n], units: 7 });
  expect(parsed(`"lamports": 18446744073709551615,"rentEpoch":18446744073709551615`)).toMatchObject({
    lamports: 18446744073709551615n,
    rentEpoch: 2 ** 64,
  });
  expect(parsed(`"pre":[-9007199254740993,9007199254740993]`)).toMatchObject({
    pre: [-9007199254740993n, 9007199254740993n],
  });
  const many = Array.from({ length: 1_100 }, () => "9007199254740993");
  expect(() => parsed(`"pre":[${many}]`)).toThrow("more than 1000 large integers");
  expect(parsed(many.map((integer, i) => `"n${i}":${integer}`).join())).toHaveProperty("n1099");
});

test.each<[string, FakeCall, string]>([
  ["an unknown method", fail(-32601, "Method not found"), "refused"],
  ["a program that is not indexed", fail(-32010, "excluded from account secondary indexes"), "refused"],
  ["a plan without the method", (_, response) => response.writeHead(403).end("Forbidden"), "refused"],
  ["an error", fail(-32016, "Minimum context slot has not been reached"), "answered"],
  [
    "missing history of one transaction",
    fail(-32011, "Transaction history is not available from this node"),
    "answered",
  ],
  ["another call's answer", (_, response) => response.end(`{"jsonrpc":"2.0","id":77,"result":1}`), "malformed"],
  ["a cut answer", (_, response) => response.end(`{"jsonrpc":"2.0","id":1,"res`), "malformed"],
  ["a list", (_, response) => response.end("[]"), "malformed"],
  ["too many calls", (_, response) => response.writeHead(429).end("slow down"), "unreachable"],
  ["a broken gateway", (_, response) => response.writeHead(502).end("<html>"), "unreachable"],
  ["a redirect", (_, response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(), "unreachable"],
])("%s is an UPSTREAM_ERROR", async (_name, reply, kind) => {
  const { outcome, endpoint } = await call(reply);
  expect(outcome).toMatchObject({ code: "UPSTREAM_ERROR", kind, retryable: true });
  expect(String(outcome)).not.toContain("secret");
  expect(endpoint.isCooling()).toBe(kind === "unreachable" || kind === "malformed");
});

test("calls that a node refuses together for its rate limit cool it as one does", async () => {
  node = await startFakeNode({ ask: (_, response) => response.writeHead(429).end("slow down") });
  let nowMs = 1_000_000;
  const endpoint = createRpcEndpoint({ url: node.url, now: () => nowMs });
  await Promise.allSettled(Array.from({ length: 17 }, (_, i) => endpoint.call("ask", [i])));
  expect(endpoint.isCooling()).toBe(true);
  nowMs += 125;
  expect(endpoint.isCooling()).toBe(false);
  // One that fails each time it is asked again is left alone for longer and longer.
  const pausesMs: number[] = [];
  for (let i = 0; i < 7; i++) {
    await endpoint.call("ask", []).catch(() => {});
    const askedAtMs = nowMs;
    while (endpoint.isCooling()) nowMs += 125;
    pausesMs.push(nowMs - askedAtMs);
  }
  expect(pausesMs).toEqual([250, 500, 1_000, 2_000, 4_000, 4_000, 4_000]);
});

test("a node that fails a call, and answers the next, stays doubted", async () => {
  node = await startFakeNode({
    fail: (_, response) => response.writeHead(502).end(),
    ask: answer(1),
  });
  let nowMs = 1_000_000;
  const endpoint = createRpcEndpoint({ url: node.url, now: () => nowMs });
  endpoint.doubt();
  await endpoint.call("fail", []).catch(() => {});
  await endpoint.call("ask", []);
  nowMs += 1_900;
  expect(endpoint.isCooling()).toBe(true);
  nowMs += 100;
  expect(endpoint.isCooling()).toBe(false);
});

test("a connection that is refused, or whose host is unknown, is reported as that, with the host and without the key", async () => {
  const closed = await startFakeNode({});
  await closed.close();
  const { host } = new URL(closed.url);
  for (const [url, expected] of [
    [`${closed.url}/?api-key=secret`, `The Solana node ${host} refused the connection (ECONNREFUSED)`],
    ["http://node.invalid/secret", "The Solana node node.invalid cannot be found"],
  ] as const) {
    const outcome = await createRpcEndpoint({ url, now: Date.now })
      .call("ask", [])
      .catch((error: Error) => error);
    expect(outcome).toMatchObject({ kind: "unreachable" });
    expect(String(outcome)).toContain(expected);
    expect(`${outcome} ${(outcome as Error).cause}`).not.toContain("secret");
  }
});

test("a TLS failure, a reset, a redirect and a late answer are reported as what they are", async () => {
  const plain = await startFakeNode({});
  const tls = createRpcEndpoint({ url: plain.url.replace("http", "https"), now: Date.now });
  expect(String(await tls.call("ask", []).catch((error) => error))).toMatch(
    /failed the TLS handshake \((?:ERR_SSL|EPROTO)/,
  );
  await plain.close();
  // Only the call that is never answered is cut short: the others may take what a busy machine takes.
  for (const [reply, expected, options] of [
    [(_, response) => response.socket!.destroy(), /(?:reset|closed) the connection/, {}],
    [(_, response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(), /redirected the call/, {}],
    [() => {}, /did not answer within 50 ms/, { timeoutMs: 50 }],
  ] satisfies [FakeCall, RegExp, { timeoutMs?: number }][]) {
    const { outcome } = await call(reply, options);
    expect(String(outcome)).toMatch(expected);
    await node!.close();
  }
});

test("a late answer is abandoned", async () => {
  const { outcome } = await call(() => {}, { timeoutMs: 50 });
  expect(outcome).toMatchObject({ kind: "unreachable" });
});

test.each([
  ["ask", true],
  // Callers choose accounts: one of them alone could have every node go last.
  ["getMultipleAccounts", false],
])("an answer to %s larger than the limit is not read to the end; doubt is cast: %s", async (method, isDoubted) => {
  const { outcome, endpoint } = await call(
    (_, response) => {
      const pump = () => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", pump);
      pump();
    },
    { method, maxResponseBytes: 1_000_000 },
  );
  expect(outcome).toMatchObject({ kind: "oversized" });
  expect(endpoint.isCooling()).toBe(isDoubted);
});

test("an unreachable node is an UPSTREAM_ERROR", async () => {
  const endpoint = createRpcEndpoint({ url: "http://127.0.0.1:1", now: Date.now });
  await expect(endpoint.call("ask", [])).rejects.toMatchObject({ code: "UPSTREAM_ERROR", kind: "unreachable" });
});

test("a silent node goes last long before its calls time out, until it answers again", async () => {
  const held: (() => void)[] = [];
  let isSilent = true;
  node = await startFakeNode({
    ask: (request, response) => {
      if (isSilent) held.push(() => answer(1)(request, response));
      else answer(1)(request, response);
    },
  });
  let clockMs = 1_000_000;
  const endpoint = createRpcEndpoint({ url: node.url, now: () => clockMs });
  const waiting = endpoint.call("ask", []);
  clockMs += 400;
  expect(endpoint.isCooling()).toBe(false);
  clockMs += 1;
  expect(endpoint.isCooling()).toBe(true);
  await eventually(() => expect(held.length).toBe(1));
  // One slow call says nothing, while others are answered.
  isSilent = false;
  await endpoint.call("ask", []);
  expect(endpoint.isCooling()).toBe(false);
  clockMs += 401;
  expect(endpoint.isCooling()).toBe(true);
  held[0]!();
  await waiting;
  expect(endpoint.isCooling()).toBe(false);
});

test("a node silent for a second gets one call in 400 ms, and every broadcast; with its first answer the others follow", async () => {
  const held: (() => void)[] = [];
  let isSilent = true;
  const ask: FakeCall = (request, response) => {
    if (isSilent) held.push(() => answer(1)(request, response));
    else answer(1)(request, response);
  };
  node = await startFakeNode({ ask, sendTransaction: ask });
  let clockMs = 1_000_000;
  const endpoint = createRpcEndpoint({ url: node.url, now: () => clockMs, timeoutMs: 600_000 });
  const early = Array.from({ length: 3 }, () => endpoint.call("ask", []));
  await eventually(() => expect(held.length).toBe(3));
  clockMs += 1_001;
  // The clock stands: one call in its first pause. A broadcast that is asked for last arrives, so nothing before it is on its way.
  const late = Array.from({ length: 20 }, () => endpoint.call("ask", []));
  const sends = [endpoint.call("sendTransaction", []), endpoint.call("sendTransaction", [])];
  await eventually(() => expect(node!.calls.filter((method) => method === "sendTransaction").length).toBe(2));
  await eventually(() => expect(node!.calls.filter((method) => method === "ask").length).toBeGreaterThanOrEqual(4));
  expect(node.calls.filter((method) => method === "ask").length).toBeLessThan(early.length + late.length / 2);
  expect(endpoint.silentForMs()).toBe(1_001);
  isSilent = false;
  for (const give of held.splice(0)) give();
  await Promise.all([...early, ...late, ...sends]);
  expect(node.calls.filter((method) => method === "ask").length).toBe(early.length + late.length);
  expect(endpoint.silentForMs()).toBe(0);
});

test("a silent node that refuses connections fails calls at once again", async () => {
  let isCut = false;
  node = await startFakeNode({
    ask: (_, response) => {
      if (isCut) response.destroy();
    },
  });
  let clockMs = 1_000_000;
  const endpoint = createRpcEndpoint({ url: node.url, now: () => clockMs, timeoutMs: 600_000 });
  void endpoint.call("ask", [], 1).catch(() => {});
  await eventually(() => expect(endpoint.isCooling()).toBe(true));
  clockMs += 1_001;
  isCut = true;
  const calls = await Promise.allSettled(Array.from({ length: 10 }, () => endpoint.call("ask", [])));
  expect(calls.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => "rejected"));
});

describe("answers made to stall the process (row 46)", () => {
  const SIZE = 3_900_000;
  const accounts = `"${"A".repeat(SIZE)}"`;
  const hostile: readonly (readonly [string, string])[] = [
    ["nested lists", `${"[".repeat(SIZE / 2)}${"]".repeat(SIZE / 2)}`],
    ["nested objects", `${'{"a":'.repeat(SIZE / 6)}1${"}".repeat(SIZE / 6)}`],
    ["17-digit numbers", `[${"12345678901234567,".repeat(SIZE / 18)}1]`],
    ["17-digit numbers, fewer", `[${"12345678901234567,".repeat(25_000)}1]`],
    ["names", `{${Array.from({ length: 100_000 }, (_, i) => `"name${i}":1`).join(",")}}`],
    ["blanks", `${" ".repeat(SIZE)}1`],
    ["escapes", `"${'\\"'.repeat(SIZE / 2)}"`],
  ];

  test.each(hostile)("%s are refused before they are parsed, and the node cools", async (_, result) => {
    const text = `{"jsonrpc":"2.0","id":1,"result":${result}}`;
    expect(() => parseRpcJson(text)).toThrow(SyntaxError);
    const { endpoint, outcome } = await call((_, response) => response.end(text), { method: "getProgramAccounts" });
    expect(outcome).toMatchObject({ kind: "malformed" });
    expect(endpoint.isCooling()).toBe(true);
  });

  test("one long string is what accounts look like, and passes", () => {
    expect(parseRpcJson(`{"result":[${accounts},"base64"]}`)).toHaveProperty("result");
  });
});
