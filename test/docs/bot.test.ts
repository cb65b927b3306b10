import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import bs58 from "bs58";
import { afterEach, expect, it } from "vitest";
import { childEnvironment } from "../support/child-environment.ts";
import { PATIENCE_MS } from "../support/eventually.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/guides/bot.md"), "utf8");
const BOT = programOf(PAGE);
const BY_HAND = programOf(readFileSync(join(ROOT, "docs/guide.md"), "utf8"));

function programOf(page: string): string {
  return /^```js\n([\s\S]*?)^```$/m.exec(page)![1]!;
}

let server: Server;
afterEach(() => server.close());

/** Runs the page's bot against a service whose every trade lands and fails. @returns the calls it made, and what it ended with */
async function run(
  outputAmount: number,
  stream?: { status: number; text: string },
): Promise<{ calls: string[]; end: string }> {
  const calls: string[] = [];
  const answer = (response: ServerResponse, status: number, body: object) =>
    response.writeHead(status).end(JSON.stringify(body));
  server = createServer((request, response) => {
    const path = request.url!.split("?")[0]!;
    calls.push(path);
    const unsignedTransaction = Buffer.alloc(200).toString("base64");
    const estimates = { priceImpact: 0, outputAmount };
    if (path === "/v1/quotes/stream" && stream !== undefined) {
      response.writeHead(stream.status).end(stream.text);
    } else if (path === "/v1/quotes/stream") {
      response.write(`event: quote\ndata: ${JSON.stringify({ estimates: { priceImpact: 0, outputAmount: 100 } })}\n\n`);
    } else if (path === "/v1/tx/submit") {
      answer(response, 422, {
        success: false,
        error: { code: "PROGRAM_ERROR", message: "refused", retryable: false, safeToRebuild: true },
      });
    } else answer(response, 200, { success: true, data: { unsignedTransaction, submissionToken: "t", estimates } });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const env = childEnvironment({
    TRADEWIRE_URL: `http://127.0.0.1:${port}`,
    API_KEY: "api_k",
    KEY: bs58.encode(Buffer.alloc(64, 1)),
    MINT: "m",
  });
  const end = await new Promise<string>((ended) => {
    execFile(
      process.execPath,
      ["--input-type=module", "-e", BOT],
      { cwd: ROOT, env, timeout: PATIENCE_MS },
      (_, __, errors) => ended(errors),
    );
  });
  return { calls, end };
}

it("the page's bot gives up on a trade that lands and fails every time", async () => {
  const { calls, end } = await run(100);
  expect(end).toContain("refused");
  expect(calls.filter((path) => path === "/v1/tx/submit")).toHaveLength(3);
});

it("the page's bot signs nothing whose least output is below its own limit", async () => {
  const { calls, end } = await run(98.5);
  expect(end).toContain("the price has moved away");
  expect(calls).toEqual(["/v1/quotes/stream", "/v1/tx/buy"]);
});

it("the page's bot says why its stream of prices was refused or ended, and trades nothing", async () => {
  const envelope = JSON.stringify({ success: false, error: { code: "AUTH_ERROR", message: "revoked" } });
  for (const stream of [
    { status: 401, text: envelope },
    { status: 200, text: `event: error\ndata: ${envelope}\n\n` },
  ]) {
    const { calls, end } = await run(100, stream);
    expect(end).toContain("AUTH_ERROR: revoked");
    expect(calls).toEqual(["/v1/quotes/stream"]);
    server.close();
  }
});

it("the guide's program submits the same bytes again after whatever says nothing about the trade", async () => {
  const submitted: string[] = [];
  const late = { code: "OVERLOADED", message: "busy", retryable: true, safeToRebuild: false };
  const refused = { code: "PROGRAM_ERROR", message: "refused", retryable: false, safeToRebuild: true };
  server = createServer(async (request, response) => {
    const body = await text(request);
    const succeed = (data: object) => response.end(JSON.stringify({ success: true, data }));
    if (request.url !== "/v1/tx/submit") {
      const unsignedTransaction = Buffer.alloc(200).toString("base64");
      succeed({
        message: "m",
        apiKey: "api_k",
        unsignedTransaction,
        submissionToken: "t",
        estimates: {},
        priorityCost: 0,
      });
      return;
    }
    switch (submitted.push(body)) {
      case 1:
        return void request.socket.destroy();
      case 2:
        return void response.writeHead(502).end("<h1>Bad Gateway</h1>");
      case 3:
        return void response.writeHead(503).end(JSON.stringify({ success: false, error: late }));
      case 4:
        return succeed({ status: "pending" });
      default:
        return void response.writeHead(422).end(JSON.stringify({ success: false, error: refused }));
    }
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const env = childEnvironment({
    TRADEWIRE_URL: `http://127.0.0.1:${port}`,
    KEY: bs58.encode(Buffer.alloc(64, 1)),
    MINT: "m",
  });
  const given = ["--input-type=module", "-e", BY_HAND];
  const end = await new Promise<string>((ended) => {
    execFile(process.execPath, given, { cwd: ROOT, env, timeout: PATIENCE_MS }, (_, __, errors) => ended(errors));
  });
  expect(end).toContain("PROGRAM_ERROR: refused");
  expect(submitted).toHaveLength(5);
  expect(new Set(submitted).size).toBe(1);
});
