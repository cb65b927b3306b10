import { brotliCompressSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Edge, startEdge } from "../support/edge.ts";
import { ALICE, TOKEN } from "../support/fake-trades.ts";

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({ publicUrl: () => "https://trade.example" });
});
afterAll(() => edge.close());

const BUY = { mint: TOKEN.toString(), solAmount: 0.1, slippage: 0, priority: "fast" };
const headers = { authorization: `Bearer ${ALICE.key}`, "content-type": "application/json" };

async function call(path: string, init: RequestInit = {}) {
  const response = await fetch(`http://${edge.host}:${edge.port}${path}`, init);
  const text = await response.text();
  return { response, text, json: text === "" ? undefined : JSON.parse(text) };
}
const post = (body: string | Uint8Array<ArrayBuffer>, more: Record<string, string> = {}, path = "/v1/tx/buy") =>
  call(path, { method: "POST", headers: { ...headers, ...more }, body });

describe("REST", () => {
  it("pings with an empty body and no key", async () => {
    const { response, text } = await call("/v1/ping");
    expect([response.status, text]).toEqual([200, ""]);
  });

  it("returns a buy in the documented form", async () => {
    const { response, json } = await post(JSON.stringify(BUY));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(json).toEqual({
      success: true,
      data: {
        submissionToken: "token_0",
        unsignedTransaction: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
        expiresAt: "2026-11-20T12:00:30.000Z",
        platform: "fake",
        inputMint: "So11111111111111111111111111111111111111112",
        outputMint: TOKEN.toString(),
        estimates: {
          inputAmount: 0.1,
          outputAmount: 100,
          priceImpact: 0,
          inputAmountRaw: "100000000",
          outputAmountRaw: "100000000",
          otherAmountThresholdRaw: "100000000",
          remainder: null,
          remainders: [],
          fitLoss: null,
          worstCase: null,
        },
        priorityCost: 0.00002,
        costs: { baseFee: "5000", priorityFee: "20000", tip: "0", rentPaid: "2039280", rentReturned: "0" },
        route: [
          {
            venue: "fake",
            market: "ComputeBudget111111111111111111111111111111",
            inputMint: "So11111111111111111111111111111111111111112",
            outputMint: TOKEN.toString(),
            inputAmountRaw: "100000000",
            outputAmountRaw: "100000000",
            path: 0,
            share: 1,
            arrayNumbers: [],
          },
        ],
        lastValidBlockHeight: 300_000_150,
        proof: { checked: false, programSlot: null, shadowSlot: null },
      },
    });
  });

  it("writes zeros as zeros and absent values as null", async () => {
    const priority = await call("/v1/priority");
    expect(priority.json.data.levels[0]).toEqual({
      priority: "economy",
      microLamportsPerComputeUnit: 0,
      expectedCost: 0,
      expectedCostRaw: "0",
      expectedSlots: 4,
      landingSample: 0,
      landedShare: null,
      landedSlots: null,
      landedSlotsP90: null,
    });
    const keys = await call("/v1/auth/keys", { headers });
    expect(keys.json.data.keys.map((key: { revokedAt: unknown }) => key.revokedAt)).toEqual([
      null,
      "1970-01-01T00:00:01.000Z",
    ]);
  });

  it("wraps every error in the envelope", async () => {
    const buy = JSON.stringify(BUY);
    const wrongs = [
      [await post("{"), 400, "VALIDATION_ERROR"],
      [await post(""), 400, "VALIDATION_ERROR"],
      [await post("[]"), 400, "VALIDATION_ERROR"],
      [await post('{"slippage":NaN}'), 400, "VALIDATION_ERROR"],
      [await post(buy, { "content-type": "text/plain" }), 400, "VALIDATION_ERROR"],
      [await post(buy, { authorization: "" }), 401, "AUTH_ERROR"],
      [await post(" ".repeat(17 * 1024)), 413, "BODY_TOO_LARGE"],
      [await post(buy, {}, "/v1/tx/buy?slippage=0.5"), 400, "VALIDATION_ERROR"],
      [await post(buy, {}, "/v1/tx/bye"), 404, "NOT_FOUND"],
      [await call("/v1/nothing"), 404, "NOT_FOUND"],
      [await call("/v1/%zz"), 400, "VALIDATION_ERROR"],
      [await call(`/v1/tx/${"2".repeat(300)}`, { headers }), 400, "VALIDATION_ERROR"],
      [await call(`/v1/tx/${"2".repeat(88)}`, { headers }), 404, "TRADE_NOT_FOUND"],
    ] as const;
    for (const [{ response, json }, status, code] of wrongs) {
      expect([response.status, json.error.code]).toEqual([status, code]);
      expect(json).toEqual({
        success: false,
        requestId: response.headers.get("x-request-id"),
        error: expect.objectContaining({ message: expect.any(String), retryable: false }),
      });
    }
  });

  it.each([
    ["GET", "/v1/tx/buy", "POST"],
    ["DELETE", "/v1/ping", "GET, HEAD"],
    ["GET", "/v1/auth/keys/abc", "DELETE"],
    ["PUT", `/v1/tx/${"2".repeat(88)}`, "GET, HEAD"],
    ["GET", "/tradewire.v1.TradeService/Buy", "POST"],
    ["POST", "/v1/openapi.json", "GET, HEAD"],
  ])("lists the methods of a path that does not accept %s %s", async (method, path, allow) => {
    const { response, json } = await call(path, { method, headers });
    expect([response.status, response.headers.get("allow")]).toEqual([405, allow]);
    expect(json).toMatchObject({
      requestId: response.headers.get("x-request-id"),
      error: { code: "METHOD_NOT_ALLOWED", retryable: false },
    });
  });

  it.each([
    [
      "a path with a bare %",
      "/v1/%zz",
      "The path has a % that begins no encoded character. Write the character itself as %25.",
    ],
    ["a query of a method without fields", "/v1/priority?x=1", "x is not a field of this request. It has no fields."],
    [
      "a query of a method whose fields are in its path",
      `/v1/tx/${"2".repeat(88)}?wait=1`,
      "wait is not a field of this request. Its fields are signature.",
    ],
    [
      "a query that repeats what is in the path",
      `/v1/tx/${"2".repeat(88)}?signature=1`,
      "signature cannot be sent in the query. Send request fields in the body or the path.",
    ],
    [
      "more items than a list may have",
      `/v1/tx?${"status=failed&".repeat(7)}`,
      "status must contain no more than 6 items.",
    ],
    [
      "a time whose + stands for a space",
      "/v1/tx?since=2026-11-22T08:00:00+01:00",
      "since is not a time in ISO 8601 with a time zone, such as 2026-11-22T08:00:00Z. In a URL, write + as %2B.",
    ],
    ["a long path", `/v1/tx/${"2".repeat(2_000)}`, "A part of the path is longer than any name."],
  ])("says what is wrong with %s", async (_, path, message) => {
    const { response, json } = await call(path, { headers });
    expect([response.status, json.error.code, json.error.message]).toEqual([400, "VALIDATION_ERROR", message]);
  });

  it("says over Connect that a status is left unspecified", async () => {
    const body = JSON.stringify({ status: ["TRADE_STATUS_UNSPECIFIED"] });
    const { json } = await post(body, {}, "/tradewire.v1.TradeService/ListTrades");
    expect([json.code, json.message]).toEqual(["invalid_argument", "status[0] must not be unspecified."]);
  });

  it("refuses a duplicate name over REST and Connect", async () => {
    const twice = JSON.stringify(BUY).replace("{", '{"solAmount":5,');
    const { response, json } = await post(twice);
    expect([response.status, json.error.code, json.error.field]).toEqual([400, "VALIDATION_ERROR", "solAmount"]);
    const connect = await post(twice.replace('"fast"', '"PRIORITY_FAST"'), {}, "/tradewire.v1.TradeService/Buy");
    expect([connect.response.status, connect.json.details[0].debug.field]).toEqual([400, "solAmount"]);
  });

  it.each(["application/json; charset=utf-8", "application/json;charset=UTF-8", 'Application/JSON; Charset="utf-8"'])(
    "takes %s for a content type, over REST and Connect",
    async (type) => {
      const { response } = await post(JSON.stringify(BUY), { "content-type": type });
      expect(response.status).toBe(200);
      const typed = JSON.stringify({ ...BUY, priority: "PRIORITY_FAST", slipage: 0 });
      const connect = await post(typed, { "content-type": type }, "/tradewire.v1.TradeService/Buy");
      expect(connect.json.details[0].debug).toMatchObject({
        field: "slipage",
        requestId: connect.response.headers.get("x-request-id"),
      });
    },
  );

  it("refuses a compressed body", async () => {
    const { response, json } = await post(gzipSync(JSON.stringify(BUY)), { "content-encoding": "gzip" });
    expect([response.status, json.error.field]).toEqual([400, "Content-Encoding"]);
    for (const none of ["identity", "Identity"])
      expect((await post(JSON.stringify(BUY), { "content-encoding": none })).response.status).toBe(200);
  });

  it("refuses a duplicate name in a compressed Connect body, with a request id", async () => {
    const typed = JSON.stringify({ ...BUY, priority: "PRIORITY_FAST" });
    for (const twice of [typed.replace("{", '{"solAmount":5,'), typed.replace("{", '{"sol_amount":5,')]) {
      const path = "/tradewire.v1.TradeService/Buy";
      const { response, json } = await post(gzipSync(twice), { "content-encoding": "gzip" }, path);
      expect([response.status, json.code]).toEqual([400, "invalid_argument"]);
      const requestId = response.headers.get("x-request-id");
      expect(json.details[0].debug).toMatchObject({ code: "VALIDATION_ERROR", field: "solAmount", requestId });
    }
  });

  it("details the fault of a compressed Connect body that cannot be read", async () => {
    const buy = JSON.stringify({ ...BUY, priority: "PRIORITY_FAST" });
    const cases: readonly (readonly [Buffer<ArrayBuffer>, string, number, string])[] = [
      [gzipSync(buy), "gzip", 200, ""],
      [brotliCompressSync(buy), "br", 200, ""],
      [Buffer.from(buy), "identity", 200, ""],
      [gzipSync(buy), "GZip", 200, ""],
      [brotliCompressSync(buy), "BR", 200, ""],
      [Buffer.from(buy), "Identity", 200, ""],
      [gzipSync("{"), "gzip", 400, "VALIDATION_ERROR"],
      [gzipSync(buy.replace("{", '{"slipage":1,')), "gzip", 400, "VALIDATION_ERROR"],
      [gzipSync(buy).subarray(0, 30), "gzip", 400, "VALIDATION_ERROR"],
      [Buffer.from(buy), "gzip", 400, "VALIDATION_ERROR"],
      [gzipSync(buy), "br", 400, "VALIDATION_ERROR"],
      [gzipSync(" ".repeat(10_000_000)), "gzip", 413, "BODY_TOO_LARGE"],
      [brotliCompressSync(" ".repeat(10_000_000)), "br", 413, "BODY_TOO_LARGE"],
    ];
    for (const [index, [body, coding, status, code]] of cases.entries()) {
      const { response, json } = await post(body, { "content-encoding": coding }, "/tradewire.v1.TradeService/Buy");
      const detail = json.details?.[0].debug;
      expect([index, detail?.code ?? ""]).toEqual([index, code]);
      // The Connect protocol has 429 for every exhausted resource.
      expect([index, response.status]).toEqual([index, status === 413 ? 429 : status]);
      if (code !== "") {
        expect(detail).toMatchObject({
          requestId: response.headers.get("x-request-id"),
          docUrl: expect.stringContaining(`#${code}`),
        });
      }
    }
  });

  it("refuses the names that typed clients use", async () => {
    const { json } = await post(JSON.stringify({ ...BUY, priority: "PRIORITY_FAST" }));
    expect(json.error).toMatchObject({ code: "VALIDATION_ERROR", field: "priority" });
  });

  it("never fails internally on any input, JSON or binary", async () => {
    const field = fc.constantFrom(...Object.keys(BUY), "maxPriceImpact", "maxPriorityCost");
    const anything = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(field, fc.jsonValue()).map((some) => ({ ...BUY, ...some })),
    );
    await fc.assert(
      fc.asyncProperty(anything, async (body) => {
        const payload = JSON.stringify(body);
        const { statusCode } = await edge.fastify.inject({ method: "POST", url: "/v1/tx/buy", headers, payload });
        expect([200, 400, 404, 422]).toContain(statusCode);
      }),
      { numRuns: 300 },
    );
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const { statusCode } = await edge.fastify.inject({
          method: "POST",
          url: "/tradewire.v1.TradeService/Buy",
          headers: { ...headers, "content-type": "application/proto" },
          payload: Buffer.from(bytes),
        });
        expect(statusCode).toBe(400);
      }),
      { numRuns: 300 },
    );
    expect(edge.errors).toEqual([]);
  });

  it("serves its OpenAPI document with the public URL", async () => {
    const { json } = await call("/v1/openapi.json");
    expect(json.servers).toEqual([{ url: "https://trade.example" }]);
    expect(Object.keys(json.paths).sort()).toEqual([
      "/v1/auth/balances",
      "/v1/auth/challenge",
      "/v1/auth/keys",
      "/v1/auth/keys/{keyId}",
      "/v1/auth/profile",
      "/v1/auth/register",
      "/v1/ping",
      "/v1/priority",
      "/v1/quotes/stream",
      "/v1/tx",
      "/v1/tx/buy",
      "/v1/tx/quote",
      "/v1/tx/sell",
      "/v1/tx/submit",
      "/v1/tx/swap",
      "/v1/tx/{signature}",
      "/v1/tx/{signature}/events",
    ]);
  });

  it("lets no cache keep an answer: each is one caller's, of one moment", async () => {
    const asked = [
      call("/v1/ping"),
      call("/v1/priority"),
      call("/v1/auth/keys", { headers }),
      // Statuses that caches may keep unless they are told otherwise.
      call(`/v1/tx/${"5".repeat(88)}`, { headers }),
      call("/v1/nothing"),
      post(JSON.stringify(BUY)),
      post("{}"),
    ];
    for (const { response } of await Promise.all(asked)) {
      expect(response.headers.get("cache-control"), `${response.status} ${response.url}`).toBe("no-store");
    }
  });

  it("says how to authenticate by a challenge with a parameter, as its scheme requires", async () => {
    const { response } = await call("/v1/auth/keys");
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="Tradewire"']);
  });
});
