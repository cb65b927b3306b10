import { afterAll, beforeAll, expect, it } from "vitest";
import { type Edge, startEdge } from "../../../test/support/edge.ts";
import { unknownPage } from "./unknown-page.ts";

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

/** As browsers ask for a page. */
const HTML = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

const ask = (url: string, accept: string | undefined = HTML, method: "GET" | "HEAD" | "POST" = "GET") =>
  edge.fastify.inject({ method, url, headers: { accept } });

it("shows a page to who looks for one where none is", async () => {
  const { statusCode, headers, body } = await ask("/trades?x=1");
  expect([statusCode, headers["content-type"], headers["cache-control"]]).toEqual([
    404,
    "text/html; charset=utf-8",
    "no-store",
  ]);
  expect(headers["content-security-policy"]).toContain("default-src 'none'");
  expect(body).toContain("There is nothing at <code>/trades</code>");
  expect(body).not.toContain("<!--");
  expect((await ask("/trades", HTML, "HEAD")).headers["content-type"]).toBe("text/html; charset=utf-8");
});

it.each([
  ["a path of the API", "/v1/nothing", HTML],
  ["the API itself", "/v1", HTML],
  ["a typed path", "/tradewire.v1.TradeService/Nothing", HTML],
  ["what a page loads", "/assets/nothing.js", HTML],
  ["a program", "/nothing", "*/*"],
  ["a program that wants JSON", "/nothing", "application/json"],
])("keeps the envelope for %s", async (_, url, accept) => {
  const answer = await ask(url, accept);
  expect([answer.statusCode, answer.json().error.code]).toEqual([404, "NOT_FOUND"]);
});

it("keeps the envelope for methods that pages are not asked with, and for paths that take others", async () => {
  expect((await ask("/nothing", HTML, "POST")).json().error.code).toBe("NOT_FOUND");
  expect((await ask("/v1/tx/buy")).json().error.code).toBe("METHOD_NOT_ALLOWED");
});

it("shows a path as text, however hostile, and links only to pages", () => {
  const page = unknownPage(`/<script>alert("1")</script>&$&${"a".repeat(9_000)}`, "/docs");
  expect(page).toContain('<code>/&lt;script&gt;alert("1")&lt;/script&gt;&amp;$&amp;aaa');
  expect(page.length).toBeLessThan(3_000);
  expect(page).toContain('Did you mean <a href="/docs">/docs</a>?');
  expect(unknownPage("/tx/buy", "/v1/tx/buy")).not.toContain("Did you mean");
});
