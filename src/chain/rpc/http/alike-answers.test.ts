import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createRpcEndpoint } from "../rpc-endpoint.ts";
import { AlikeAnswers, idAbout } from "./alike-answers.ts";

interface Asked {
  readonly id: number;
  readonly params: readonly [signature: string];
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Two nodes of one pool. The second writes what it answers as given, after a pause. */
async function startNodes(secondWrites: (answer: object) => string = JSON.stringify) {
  const alike = new AlikeAnswers();
  const asked: unknown[] = [];
  const start = async (write: (answer: object) => string) => {
    const server = createServer(async (incoming, response) => {
      let body = "";
      for await (const chunk of incoming) body += chunk;
      const request: Asked | readonly Asked[] = JSON.parse(body);
      asked.push(request);
      const answerOf = ({ id, params }: Asked) => ({ jsonrpc: "2.0", id, result: { record: params[0] } });
      response.end(write("id" in request ? answerOf(request) : request.map(answerOf)));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return createRpcEndpoint({ url, now: Date.now, alike });
  };
  const nodes = [await start(JSON.stringify), await start(secondWrites)];
  const ask = (signature: string) => Promise.all(nodes.map((node) => node.call("getTransaction", [signature])));
  return { ask, asked };
}

test("records that two nodes write alike are parsed once, alone and with others", async () => {
  const { ask } = await startNodes();
  const [first, second] = await ask("5sig");
  expect(first).toEqual({ record: "5sig" });
  expect(second).toBe(first);
  const answers = await Promise.all([ask("2sig"), ask("3sig")]);
  for (const [one, other] of answers) expect(other).toBe(one);
  expect(answers.map(([one]) => one)).toEqual([{ record: "2sig" }, { record: "3sig" }]);
});

test.each<[string, (answer: object) => string]>([
  ["in another form", (answer) => JSON.stringify(answer, null, 1)],
  ["with one digit more", (answer) => JSON.stringify(answer).replace("sig", "sig1")],
])("a record that the second node writes %s is its own", async (_name, write) => {
  const { ask } = await startNodes(write);
  const [first, second] = await ask("5sig");
  expect(first).toEqual({ record: "5sig" });
  expect(second).not.toBe(first);
  expect(second).toEqual(JSON.parse(write({ record: "5sig" })));
});

test("calls about the same that a node has not answered have ids of their own", async () => {
  const { ask, asked } = await startNodes();
  const answers = await Promise.all([ask("5sig"), ask("5sig"), ask("5sig")]);
  expect(answers.flat()).toEqual(Array(6).fill({ record: "5sig" }));
  expect(asked).toHaveLength(2);
  for (const request of asked as (readonly Asked[])[]) expect(new Set(request.map(({ id }) => id)).size).toBe(3);
});

test("ids fit into 31 bits and differ from those that are counted", () => {
  for (const text of ["", "5", "z".repeat(88), "1".repeat(88)]) {
    expect(idAbout(text)).toBeGreaterThanOrEqual(2 ** 30);
    expect(idAbout(text)).toBeLessThan(2 ** 31);
  }
  expect(idAbout("5a")).not.toBe(idAbout("5b"));
});

test("few texts are kept, each for one more node, and no very long one", () => {
  const answers = new AlikeAnswers();
  const text = (i: number) => `{"value":${i}}`;
  const first = answers.parse(text(0));
  expect(answers.parse(text(0))).toBe(first);
  expect(answers.parse(text(0))).not.toBe(first);
  const old = answers.parse(text(1));
  for (let i = 2; i < 10; i++) answers.parse(text(i));
  expect(answers.parse(text(1))).not.toBe(old);
  const long = `["${"x".repeat(300_000)}"]`;
  expect(answers.parse(long)).not.toBe(answers.parse(long));
  expect(() => answers.parse("{")).toThrow(SyntaxError);
});
