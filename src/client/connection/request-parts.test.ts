import { inspect } from "node:util";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterEach, expect, test, vi } from "vitest";
import { AccountService } from "../../../gen/tradewire/v1/account_pb.ts";
import { rpcNode } from "../node/rpc-node.ts";
import { Tradewire } from "../tradewire.ts";

const wallet = { publicKey: "11111111111111111111111111111112", signMessageBytes: () => new Uint8Array(64) };
const connect = (options: object) =>
  Tradewire.connect({ baseUrl: "http://service.example", wallet, keepAliveMs: 0, ...options });

afterEach(() => {
  vi.unstubAllGlobals();
});

/** What a caller sees of the failure, with every cause. */
function failureOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return inspect(error, { depth: 9, showHidden: true });
  }
  return "none";
}

test("what no request can carry is a mistake of the call, and no secret of it is in the error", () => {
  const keys = ["api_SECRET\n# my key", "api_SECRET\u2026", "api_SECRET\0"];
  for (const apiKey of keys) {
    expect(failureOf(() => connect({ apiKey }))).toMatch(/apiKey/);
    expect(failureOf(() => connect({ apiKey }))).not.toContain("SECRET");
    const headers = { "x-token": apiKey };
    expect(failureOf(() => rpcNode("http://node.example", { headers }))).toMatch(/x-token/);
    expect(failureOf(() => rpcNode("http://node.example", { headers }))).not.toContain("SECRET");
  }
  for (const url of ["http://user:SECRET@host.example", "http://SECRET@host.example/?key=1", "host.example/SECRET"]) {
    expect(failureOf(() => connect({ baseUrl: url }))).toMatch(/baseUrl/);
    expect(failureOf(() => connect({ baseUrl: url }))).not.toContain("SECRET");
    expect(failureOf(() => rpcNode(url))).toMatch(/node's URL/);
    expect(failureOf(() => rpcNode(url))).not.toContain("SECRET");
  }
  expect(failureOf(() => connect({ baseUrl: "localhost:8080" }))).toContain("http:// or https://");
});

test("a key may end with the line end of its file", () => {
  expect(failureOf(() => connect({ apiKey: "api_key\n" }))).toBe("none");
  expect(failureOf(() => rpcNode("http://node.example/key?a=b", { headers: { "x-token": " a b " } }))).toBe("none");
});

test("in a browser the service's URL may be relative to the page, for registration and beside a reference too", async () => {
  vi.stubGlobal("location", { href: "https://trade.example/trade?mint=1" });
  const asked: string[] = [];
  vi.stubGlobal("fetch", (url: string) => {
    asked.push(url);
    const message = create(AccountService.method.createChallenge.output, { message: "Sign me" });
    const body = toBinary(AccountService.method.createChallenge.output, message);
    return Promise.resolve(new Response(body, { headers: { "content-type": "application/proto" } }));
  });
  const client = connect({ baseUrl: "/", reference: "https://other.example" });
  await expect(client.register()).rejects.toMatchObject({ code: "UNEXPECTED_CHALLENGE" });
  expect(asked).toEqual(["https://trade.example/tradewire.v1.AccountService/CreateChallenge"]);
  expect(failureOf(() => connect({ baseUrl: "/", reference: "http://trade.example" }))).toContain("second opinion");
});
