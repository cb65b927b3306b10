import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createRpcEndpoint, type RpcEndpoint } from "../rpc-endpoint.ts";

interface Asked {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

let server: Server | undefined;
afterEach(() => void server?.close());

/** An answer with another status than 200. */
class Failure {
  readonly status: number;
  readonly body: unknown;
  constructor(status: number, body: unknown) {
    this.status = status;
    this.body = body;
  }
}

/** A node that notes the requests it gets, and answers as it is set; never, if it is set to nothing. */
async function startNode(reply: (request: Asked | readonly Asked[]) => unknown) {
  const requests: (Asked | readonly Asked[])[] = [];
  const clock = { nowMs: 1_000_000 };
  server = createServer(async (incoming, response) => {
    let body = "";
    for await (const chunk of incoming) body += chunk;
    const request = JSON.parse(body);
    requests.push(request);
    const answer = reply(request);
    if (answer === undefined) return;
    if (typeof answer === "number") response.writeHead(answer).end("not now");
    else if (answer instanceof Failure) response.writeHead(answer.status).end(JSON.stringify(answer.body));
    else response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const endpoint = createRpcEndpoint({ url, now: () => clock.nowMs });
  /** Which signatures each request has asked for: a list if it was one. */
  const asked = () =>
    requests.map((one) => (Array.isArray(one) ? one.map(({ params }) => params[0]) : (one as Asked).params[0]));
  return { endpoint, clock, asked };
}

const recordOf = ({ id, params }: Asked) => ({ jsonrpc: "2.0", id, result: `record of ${params[0]}` });
const refusalOf = ({ id }: Asked) => ({ jsonrpc: "2.0", id, error: { code: -32601, message: "Not in a batch" } });
const isList = (request: Asked | readonly Asked[]): request is readonly Asked[] => Array.isArray(request);
const each = (request: Asked | readonly Asked[], answer: (one: Asked) => unknown) =>
  isList(request) ? request.map(answer) : answer(request);
const read = (endpoint: RpcEndpoint, ...signatures: readonly string[]) =>
  Promise.all(signatures.map((signature) => endpoint.call("getTransaction", [signature]).catch((error) => error)));

test("records asked for in one turn share a request, whatever the order of the answers; an error counts if the call by itself brings it", async () => {
  const { endpoint, asked } = await startNode((request) => {
    const answers = each(request, (one) =>
      one.params[0] === "b"
        ? { jsonrpc: "2.0", id: one.id, error: { code: -32011, message: "no history" } }
        : recordOf(one),
    );
    return Array.isArray(answers) ? answers.reverse() : answers;
  });
  const [a, b, c] = await read(endpoint, "a", "b", "c");
  expect([a, c]).toEqual(["record of a", "record of c"]);
  expect(b).toMatchObject({ kind: "answered", rpcCode: -32011 });
  expect(asked()).toEqual([["a", "b", "c"], "b"]);
  expect(endpoint.silentForMs()).toBe(0);
  await read(endpoint, "d", "e");
  expect(asked().at(-1)).toEqual(["d", "e"]);
});

test("no request holds more than eight, and one alone is a request as ever", async () => {
  const { endpoint, asked } = await startNode((request) => each(request, recordOf));
  await read(endpoint, ...Array.from({ length: 20 }, (_, i) => `${i}`));
  expect(asked().map((one) => (one as string[]).length)).toEqual([7, 7, 6]);
  await read(endpoint, "alone");
  expect(asked().at(-1)).toBe("alone");
});

test.each<[string, (request: readonly Asked[]) => unknown]>([
  ["an error", () => ({ jsonrpc: "2.0", id: null, error: { code: -32600, message: "Batches are not allowed" } })],
  ["HTTP 400", () => 400],
  ["no JSON", () => "<html>"],
  ["a cut list", (request) => JSON.stringify(request.map(recordOf)).slice(0, -20)],
  ["more bytes than may be read", () => `["${"x".repeat(1_100_000)}"]`],
  ["answers to other calls", (request) => request.map((one) => ({ ...recordOf(one), id: one.id + 100 }))],
  ["two answers to each call", (request) => [...request, ...request].map(recordOf)],
  ["one answer", (request) => [recordOf(request[0]!)]],
  ["an error for each call", (request) => request.map(refusalOf)],
  ["answers without a result", (request) => request.map(({ id }) => ({ jsonrpc: "2.0", id }))],
  ["HTTP 429 and an error for each call", (request) => new Failure(429, request.map(refusalOf))],
  ["HTTP 500 and a list", (request) => new Failure(500, request.map(recordOf))],
])(
  "a node that answers several calls with %s is asked one by one at once, and then for ten minutes",
  async (_name, reply) => {
    const { endpoint, clock, asked } = await startNode((request) =>
      isList(request) ? reply(request) : recordOf(request),
    );
    expect(await read(endpoint, "a", "b")).toEqual(["record of a", "record of b"]);
    expect(endpoint.isCooling()).toBe(false);
    const before = asked().length;
    expect(asked()[0]).toEqual(["a", "b"]);
    expect(await read(endpoint, "c", "d")).toEqual(["record of c", "record of d"]);
    expect(asked().slice(before).sort()).toEqual(["c", "d"]);
    clock.nowMs += 600_000;
    await read(endpoint, "e", "f");
    expect(asked()).toContainEqual(["e", "f"]);
  },
);

test("a node that has no room for several calls may have some for one", async () => {
  const { endpoint, asked } = await startNode((request) => (isList(request) ? 429 : recordOf(request)));
  expect(await read(endpoint, "a", "b")).toEqual(["record of a", "record of b"]);
  expect(asked().slice(1).sort()).toEqual(["a", "b"]);
  expect(endpoint.isCooling()).toBe(false);
});

test("a node that does not answer fails all", async () => {
  const { endpoint, asked } = await startNode(() => {
    server!.closeAllConnections();
    return 200;
  });
  for (const failure of await read(endpoint, "a", "b")) expect(failure).toMatchObject({ kind: "unreachable" });
  expect(asked()).toEqual([["a", "b"]]);
  expect(endpoint.isCooling()).toBe(true);
});

test("a node that never answers several calls in one request is asked one by one, for longer each time", async () => {
  const { endpoint, clock, asked } = await startNode((request) => (isList(request) ? undefined : recordOf(request)));
  for (const [i, aloneMs] of [10_000, 40_000, 160_000, 600_000, 600_000].entries()) {
    // Two requests at once that get no answer count once.
    const late = Array.from({ length: 9 }, (_, call) =>
      endpoint.call("getTransaction", [`late ${i} ${call}`], 50).catch((error) => error),
    );
    for (const failure of await Promise.all(late)) expect(failure).toMatchObject({ kind: "unreachable" });
    // On a busy machine the node, which is in this process too, reads them after the calls have failed.
    await expect.poll(() => asked().flat()).toContain(`late ${i} 8`);
    clock.nowMs += aloneMs - 1;
    const before = asked().length;
    expect(await read(endpoint, "a", "b")).toEqual(["record of a", "record of b"]);
    expect(asked().slice(before).sort()).toEqual(["a", "b"]);
    expect(endpoint.isCooling()).toBe(false);
    clock.nowMs += 1;
  }
});

test("a node that was too busy for the first calls it was asked for together is asked for several again after ten seconds", async () => {
  let isBusy = true;
  const { endpoint, clock, asked } = await startNode((request) =>
    isBusy && isList(request) ? undefined : each(request, recordOf),
  );
  const late = ["a", "b"].map((signature) => endpoint.call("getTransaction", [signature], 50).catch((error) => error));
  for (const failure of await Promise.all(late)) expect(failure).toMatchObject({ kind: "unreachable" });
  isBusy = false;
  clock.nowMs += 10_000;
  expect(await read(endpoint, "c", "d")).toEqual(["record of c", "record of d"]);
  expect(asked().at(-1)).toEqual(["c", "d"]);
});

test("a node that was away for a moment is asked for several again after ten seconds", async () => {
  let isAway = false;
  const { endpoint, clock, asked } = await startNode((request) => {
    if (isAway) server!.closeAllConnections();
    return each(request, recordOf);
  });
  await read(endpoint, "a", "b");
  isAway = true;
  for (const failure of await read(endpoint, "c", "d")) expect(failure).toMatchObject({ kind: "unreachable" });
  isAway = false;
  const before = asked().length;
  await Promise.all(["1", "2"].map((signed) => endpoint.call("sendTransaction", [signed])));
  expect(asked().slice(before).sort()).toEqual(["1", "2"]);
  clock.nowMs += 10_000;
  await read(endpoint, "e", "f");
  expect(asked().at(-1)).toEqual(["e", "f"]);
});

test("calls that wait for different times share no request", async () => {
  const { endpoint, asked } = await startNode((request) => each(request, recordOf));
  const calls = [3_000, 2_000, 3_000].map((ms, i) => endpoint.call("getTransaction", [`${i}`], ms));
  await Promise.all(calls);
  expect(asked()).toHaveLength(2);
  expect(asked()).toContainEqual(["0", "2"]);
});

test("transactions share a request only with a node that has answered one", async () => {
  let serves = true;
  const { endpoint, asked } = await startNode((request) =>
    serves || !isList(request) ? each(request, recordOf) : 400,
  );
  const send = (...signed: readonly string[]) =>
    Promise.all(signed.map((one) => endpoint.call("sendTransaction", [one])));
  await send("1", "2");
  expect(asked().toSorted()).toEqual(["1", "2"]);
  await read(endpoint, "a", "b");
  await send("3", "4");
  expect(asked().at(-1)).toEqual(["3", "4"]);
  serves = false;
  expect(await send("5", "6")).toEqual(["record of 5", "record of 6"]);
  const before = asked().length;
  await send("7", "8");
  expect(asked().slice(before).toSorted()).toEqual(["7", "8"]);
});

test("calls of other methods, and of other turns, share none", async () => {
  const { endpoint, asked } = await startNode((request) => each(request, recordOf));
  await Promise.all([endpoint.call("getBlock", ["a"]), endpoint.call("getBlock", ["b"])]);
  const first = read(endpoint, "c");
  await new Promise(setImmediate);
  await Promise.all([first, read(endpoint, "d")]);
  expect(asked().toSorted()).toEqual(["a", "b", "c", "d"]);
});
