import net from "node:net";
import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AccountService } from "../../gen/tradewire/v1/account_pb.ts";
import { TradeEventKind, TradeService } from "../../gen/tradewire/v1/trade_pb.ts";
import { TradeStatus } from "../../gen/tradewire/v1/types_pb.ts";
import { type Edge, startEdge } from "../support/edge.ts";
import { ALICE, BOB, CHALLENGE, fakeSign, POISONED_WALLET, REVOKED_KEY, TOKEN } from "../support/fake-trades.ts";
import { createWires, type Outcome, type Wire } from "../support/wires.ts";

const { buy, sell, swap, submit, quote, getTrade, getPriority } = TradeService.method;
const { createChallenge, register, getProfile, listKeys, revokeKey } = AccountService.method;
const ALICE_KEY = `Bearer ${ALICE.key}`;
const BOB_KEY = `Bearer ${BOB.key}`;
const SOL = "So11111111111111111111111111111111111111112";

const BUY = { mint: TOKEN.toString(), solAmount: 0.1, slippage: 0, priority: "fast" };
const SELL = { mint: TOKEN.toString(), tokenAmount: 12.5, slippage: 0.05, priority: "economy" };
const SWAP = {
  inputMint: "SOL",
  outputMint: TOKEN.toString(),
  amount: 3,
  swapMode: "exactOut",
  slippage: 0.01,
  priority: "fastest",
};
const without = (request: JsonObject, field: string): JsonObject => {
  const { [field]: _, ...rest } = request;
  return rest;
};

/** Sent on every wire, in this order, with Alice's key unless another is given. */
const GOOD: readonly (readonly [string, DescMethodUnary, JsonObject, string?])[] = [
  ["a buy without slippage", buy, BUY],
  ["a buy with limits", buy, { ...BUY, maxPriceImpact: 0.5, maxPriorityCost: 0.001 }],
  ["a buy in base units", buy, { ...without(BUY, "solAmount"), solAmountRaw: "100000001" }],
  ["a buy with bounds on its route", buy, { ...BUY, maxPaths: 2, maxLegs: 1, directOnly: true, venues: ["pump_fun"] }],
  ["a sale", sell, SELL],
  ["a sale in base units", sell, { ...without(SELL, "tokenAmount"), tokenAmountRaw: "12500001" }],
  ["a swap", swap, SWAP],
  [
    "a swap into the native pseudo-mint",
    swap,
    { ...SWAP, inputMint: TOKEN.toString(), outputMint: `${SOL.slice(0, -1)}1` },
  ],
  ["a quote", quote, without(SWAP, "priority")],
  ["a quote in base units", quote, { ...without(SWAP, "amount"), amountRaw: "3000001", excludeVenues: ["pump_swap"] }],
  ["a quote with a swap's body", quote, { ...SWAP, maxPriorityCost: 1, totalGuard: true }],
  ["what priority costs", getPriority, {}, ""],
  ["a challenge", createChallenge, { walletAddress: ALICE.wallet.toString() }, ""],
  ["a profile", getProfile, {}],
  ["a profile of a key that is looked up", getProfile, {}, BOB_KEY],
  ["the keys", listKeys, {}],
  ["a key to retire", revokeKey, { keyId: "old" }],
];

type Refusal = readonly [
  what: string,
  method: DescMethodUnary,
  request: JsonObject,
  code: string,
  field?: string | undefined,
  authorization?: string | undefined,
];

/** Every request of a trade, with its amount as a number and in base units. */
const AMOUNTS = [
  [buy, BUY, "solAmount"],
  [sell, SELL, "tokenAmount"],
  [swap, SWAP, "amount"],
  [quote, SWAP, "amount"],
] as const;
/** What names no base units: nothing, signs, other notations and digits, zeros ahead, what 64 bits do not hold. */
const NO_BASE_UNITS = [
  "",
  "-1",
  "+1",
  "0",
  "007",
  "1.5",
  "1e9",
  "0x10",
  " 1",
  "1\n",
  "1_000",
  "\uff11",
  `${2n ** 64n}`,
  "9".repeat(40),
];

/** Amounts in base units that no request may have. */
const BAD_AMOUNTS = AMOUNTS.flatMap(([method, request, field]): Refusal[] => {
  const raw = `${field}Raw`;
  const none = without(request, field);
  return [
    [`${method.name}: an amount in neither form`, method, none, "VALIDATION_ERROR", field],
    [`${method.name}: an amount in both forms`, method, { ...request, [raw]: "1" }, "VALIDATION_ERROR", raw],
    ...NO_BASE_UNITS.map(
      (text): Refusal => [
        `${method.name}: base units ${JSON.stringify(text)}`,
        method,
        { ...none, [raw]: text },
        "VALIDATION_ERROR",
        raw,
      ],
    ),
  ];
});

/** Refused on every wire with the same code and field. */
const BAD: readonly Refusal[] = [
  ...BAD_AMOUNTS,
  ...Object.keys(BUY).map((field): Refusal => [`no ${field}`, buy, without(BUY, field), "VALIDATION_ERROR", field]),
  ...Object.keys(SWAP).map((field): Refusal => [`no ${field}`, swap, without(SWAP, field), "VALIDATION_ERROR", field]),
  ["an empty request", buy, {}, "VALIDATION_ERROR", "mint"],
  ["a mint outside base58", buy, { ...BUY, mint: TOKEN.toString().replace("T", "0") }, "VALIDATION_ERROR", "mint"],
  ["a mint of 31 bytes", buy, { ...BUY, mint: TOKEN.toString().slice(1) }, "VALIDATION_ERROR", "mint"],
  ["SOL as the token", buy, { ...BUY, mint: "SOL" }, "VALIDATION_ERROR", "mint"],
  ["an unknown mint", sell, { ...SELL, mint: ALICE.wallet.toString() }, "TOKEN_NOT_FOUND", "mint"],
  ["slippage 1", buy, { ...BUY, slippage: 1 }, "VALIDATION_ERROR", "slippage"],
  ["slippage -0.1", buy, { ...BUY, slippage: -0.1 }, "VALIDATION_ERROR", "slippage"],
  ["slippage NaN", buy, { ...BUY, slippage: Number.NaN }, "VALIDATION_ERROR", "slippage"],
  ["amount 0", buy, { ...BUY, solAmount: 0 }, "VALIDATION_ERROR", "solAmount"],
  ["amount -1", sell, { ...SELL, tokenAmount: -1 }, "VALIDATION_ERROR", "tokenAmount"],
  ["amount infinity", swap, { ...SWAP, amount: Number.POSITIVE_INFINITY }, "VALIDATION_ERROR", "amount"],
  [
    "a share beside base units",
    sell,
    { ...without(SELL, "tokenAmount"), tokenAmountRaw: "1", sellPercent: 1 },
    "VALIDATION_ERROR",
    "tokenAmount",
  ],
  ["transaction version 2", buy, { ...BUY, maxTransactionVersion: 2 }, "VALIDATION_ERROR", "maxTransactionVersion"],
  ["no path", buy, { ...BUY, maxPaths: 0 }, "VALIDATION_ERROR", "maxPaths"],
  ["five paths", swap, { ...SWAP, maxPaths: 5 }, "VALIDATION_ERROR", "maxPaths"],
  ["four legs", quote, { ...SWAP, maxLegs: 4 }, "VALIDATION_ERROR", "maxLegs"],
  ["less than one base unit", buy, { ...BUY, solAmount: 1e-10 }, "VALIDATION_ERROR", "solAmount"],
  ["more than u64", buy, { ...BUY, solAmount: 1e300 }, "VALIDATION_ERROR", "solAmount"],
  ["a level that does not exist", buy, { ...BUY, priority: "warp" }, "VALIDATION_ERROR", "priority"],
  ["a mode that does not exist", swap, { ...SWAP, swapMode: "warp" }, "VALIDATION_ERROR", "swapMode"],
  ["a negative limit", buy, { ...BUY, maxPriceImpact: -1 }, "VALIDATION_ERROR", "maxPriceImpact"],
  ["the same mint twice", swap, { ...SWAP, inputMint: TOKEN.toString() }, "VALIDATION_ERROR", "outputMint"],
  ["SOL by two names", swap, { ...SWAP, outputMint: SOL }, "VALIDATION_ERROR", "outputMint"],
  ["more than the pool holds", swap, { ...SWAP, amount: 10_000_000 }, "INSUFFICIENT_LIQUIDITY"],
  ["no key", buy, BUY, "AUTH_ERROR", undefined, ""],
  ["no key and nothing else", buy, {}, "AUTH_ERROR", undefined, ""],
  ["a wrong key", buy, BUY, "AUTH_ERROR", undefined, "Bearer api_wrong"],
  ["a revoked key", buy, BUY, "AUTH_ERROR", undefined, `Bearer ${REVOKED_KEY}`],
  ["another scheme", buy, BUY, "AUTH_ERROR", undefined, "Basic YWxpY2U6"],
  ["a token that is none", submit, { submissionToken: "x", signedTransaction: "AAAA" }, "INVALID_SUBMISSION_TOKEN"],
  ["nothing signed", submit, { submissionToken: "x", signedTransaction: "" }, "VALIDATION_ERROR", "signedTransaction"],
  ["a body of 17 KiB", submit, { submissionToken: "x".repeat(17 * 1024), signedTransaction: "AAAA" }, "BODY_TOO_LARGE"],
  ["a signature that is none", getTrade, { signature: "abc" }, "VALIDATION_ERROR", "signature"],
  ["an unknown trade", getTrade, { signature: "2".repeat(88) }, "TRADE_NOT_FOUND"],
  ["a bad wallet", createChallenge, { walletAddress: "wallet" }, "VALIDATION_ERROR", "walletAddress", ""],
  [
    "a signature of 65 bytes",
    register,
    { walletAddress: ALICE.wallet.toString(), message: CHALLENGE, signature: "z".repeat(88) },
    "VALIDATION_ERROR",
    "signature",
    "",
  ],
  ["a key of somebody else", revokeKey, { keyId: "id of api_bob" }, "NOT_FOUND", "keyId"],
  [
    "what breaks inside",
    createChallenge,
    { walletAddress: POISONED_WALLET.toString() },
    "INTERNAL_ERROR",
    undefined,
    "",
  ],
];

/** Requests that only JSON can express. */
const BAD_JSON: readonly Refusal[] = [
  ["a misspelt field", buy, { ...BUY, slipage: 0.1 }, "VALIDATION_ERROR", "slipage"],
  ["a field of another request", sell, { ...SELL, solAmount: 1 }, "VALIDATION_ERROR", "solAmount"],
  ["a word as a number", buy, { ...BUY, solAmount: "a tenth" }, "VALIDATION_ERROR", "solAmount"],
  [
    "base units as a number",
    buy,
    { ...without(BUY, "solAmount"), solAmountRaw: 5 },
    "VALIDATION_ERROR",
    "solAmountRaw",
  ],
  ["base units as null", swap, { ...without(SWAP, "amount"), amountRaw: null }, "VALIDATION_ERROR", "amount"],
  ["a number as null", buy, { ...BUY, slippage: null }, "VALIDATION_ERROR", "slippage"],
  ["a number as a list", buy, { ...BUY, slippage: [0] }, "VALIDATION_ERROR", "slippage"],
  ["a mint as a number", buy, { ...BUY, mint: 7 }, "VALIDATION_ERROR", "mint"],
  ["a mint as an object", buy, { ...BUY, mint: { toString: "x" } }, "VALIDATION_ERROR", "mint"],
  ["a level as a truth", buy, { ...BUY, priority: true }, "VALIDATION_ERROR", "priority"],
  [
    "a transaction outside base64",
    submit,
    { submissionToken: "x", signedTransaction: "*" },
    "VALIDATION_ERROR",
    "signedTransaction",
  ],
  ["depth", buy, { ...BUY, deep: JSON.parse("[".repeat(50) + "]".repeat(50)) }, "VALIDATION_ERROR", "deep"],
];

/** Numbers as strings, which the protobuf JSON mapping allows and REST does not. */
const IN_QUOTES: readonly Refusal[] = [
  ["an amount", buy, { ...BUY, solAmount: "0.1" }, "VALIDATION_ERROR", "solAmount"],
  ["a bound", quote, { ...SWAP, maxPaths: "2" }, "VALIDATION_ERROR", "maxPaths"],
];

const names = createWires("http://127.0.0.1:1").map((wire) => {
  wire.close();
  return wire.name;
});

const recorded = new Map<string, Outcome[]>();

describe.each(names)("%s", (name) => {
  let edge: Edge;
  let wire: Wire;

  beforeAll(async () => {
    edge = await startEdge();
    wire = createWires(`http://${edge.host}:${edge.port}`).find((candidate) => candidate.name === name)!;
  });
  afterAll(async () => {
    wire.close();
    await edge.close();
  });

  const valueIn = (outcome: Outcome) => {
    if (!("value" in outcome)) throw new Error(`${outcome.code}: ${outcome.message}`);
    return outcome.value as Record<string, string>;
  };

  it("returns the same values as REST", async () => {
    const outcomes: Outcome[] = [];
    for (const [, method, request, authorization] of GOOD) {
      const outcome = await wire.call(method, request, authorization === "" ? undefined : (authorization ?? ALICE_KEY));
      valueIn(outcome);
      outcomes.push(outcome);
    }
    recorded.set(name, outcomes);
    expect(outcomes).toEqual(recorded.get(names[0]!));
  });

  it("carries a trade from build to result", async () => {
    const built = valueIn(await wire.call(buy, BUY, ALICE_KEY));
    const signed = Buffer.from(fakeSign(Buffer.from(built.unsignedTransaction!, "base64")));
    const request = { submissionToken: built.submissionToken!, signedTransaction: signed.toString("base64") };

    const refuse = async (transaction: Uint8Array, code: string) =>
      expect(
        await wire.call(
          submit,
          { ...request, signedTransaction: Buffer.from(transaction).toString("base64") },
          ALICE_KEY,
        ),
      ).toMatchObject({ code, safeToRebuild: false });
    await refuse(Buffer.from(built.unsignedTransaction!, "base64"), "NOT_FULLY_SIGNED");
    await refuse(
      signed.map((byte, i) => (i === 70 ? byte ^ 1 : byte)),
      "MESSAGE_MISMATCH",
    );
    await refuse(
      signed.map((byte, i) => (i === 3 ? byte ^ 1 : byte)),
      "INVALID_SIGNATURE",
    );
    await refuse(Buffer.concat([signed, Buffer.of(0)]), "MESSAGE_MISMATCH");
    await refuse(Buffer.concat([Buffer.of(2), Buffer.alloc(64, 7), signed.subarray(1)]), "MESSAGE_MISMATCH");
    expect(await wire.call(submit, request, BOB_KEY)).toMatchObject({ code: "INVALID_SUBMISSION_TOKEN" });
    expect(edge.trades.broadcasts()).toBe(0);

    const result = valueIn(await wire.call(submit, request, ALICE_KEY));
    expect(result).toMatchObject({
      status: "confirmed",
      slot: 300_000_001,
      inputMint: SOL,
      outputMint: TOKEN.toString(),
      tradeResult: { inputAmount: 0.1, outputAmount: 100, inputAmountRaw: "100000000", outputAmountRaw: "100000000" },
      priorityCost: 0.00002,
    });
    expect(valueIn(await wire.call(submit, request, ALICE_KEY))).toEqual(result);
    expect(valueIn(await wire.call(getTrade, { signature: result.signature! }, ALICE_KEY))).toEqual(result);
    expect(await wire.call(getTrade, { signature: result.signature! }, BOB_KEY)).toMatchObject({
      code: "TRADE_NOT_FOUND",
    });
    expect(edge.trades.broadcasts()).toBe(1);
  });

  it("refuses bad requests by code and field, and keeps serving", async () => {
    const broadcasts = edge.trades.broadcasts();
    const logged = edge.errors.length;
    for (const [what, method, request, code, field, authorization] of BAD) {
      const outcome = await wire.call(method, request, authorization === "" ? undefined : (authorization ?? ALICE_KEY));
      const safeToRebuild = method === submit ? false : undefined;
      expect(outcome, what).toMatchObject({ code, field, retryable: false, safeToRebuild, docUrl: `/docs#${code}` });
      expect("message" in outcome && outcome.message, what).not.toMatch(/hunter2|10\.0\.0\.7/);
    }
    expect(edge.errors.length - logged).toBe(1);
    expect(edge.trades.broadcasts()).toBe(broadcasts);
    expect(valueIn(await wire.call(getProfile, {}, ALICE_KEY))).toMatchObject({
      walletAddress: ALICE.wallet.toString(),
    });
  });

  it("refuses what only JSON can contain", async () => {
    if (!wire.json) return;
    for (const [what, method, request, code, field] of BAD_JSON) {
      expect(await wire.call(method, request, ALICE_KEY), what).toMatchObject({ code, field });
    }
  });
});

it("takes numbers as strings over Connect and not over REST", async () => {
  const edge = await startEdge();
  for (const wire of createWires(`http://${edge.host}:${edge.port}`)) {
    for (const [what, method, request, code, field] of IN_QUOTES) {
      if (!wire.json) continue;
      const outcome = await wire.call(method, request, ALICE_KEY);
      const expected = wire.name.startsWith("REST") ? { code, field } : { value: { platform: "fake" } };
      expect(outcome, `${what} over ${wire.name}`).toMatchObject(expected);
    }
    wire.close();
  }
  await edge.close();
});

it("answers JSON that cannot be read alike however its type is written, and asks for a key first", async () => {
  const edge = await startEdge();
  const framed = (text: string) => Buffer.concat([Buffer.of(0, 0, 0, 0, text.length), Buffer.from(text)]);
  const ask = async (path: string, type: string, text: string, authorization: string) => {
    const isFramed = /connect|grpc/.test(type);
    const response = await fetch(`http://${edge.host}:${edge.port}/tradewire.v1.TradeService/${path}`, {
      method: "POST",
      headers: { "content-type": type, authorization },
      body: isFramed ? framed(text) : text,
    });
    const body = await response.text();
    if (type.includes("grpc")) {
      const details = /grpc-status-details-bin: ([\w+/]+)/.exec(body)![1]!;
      return Buffer.from(details, "base64").toString("latin1");
    }
    const error = JSON.parse(isFramed ? body.slice(5) : body);
    return Buffer.from((error.error ?? error).details[0].value, "base64").toString("latin1");
  };
  const types = ["application/json", "application/json; charset=utf8", "Application/JSON", "application/grpc-web+json"];
  const ways = [...types.map((type) => ["Quote", type] as const), ["WatchQuote", "application/connect+json"] as const];
  for (const [path, type] of ways) {
    for (const [text, message] of [
      ['{"amount":"x"}', "amount must be a number."],
      ['{"slipage":1}', "slipage is not a field of this request."],
      ['{"amount":1,"amount":2}', "amount is given twice. Give it once."],
      ["{", "The request body is not valid JSON."],
      ['{"\\ud800":1}', Buffer.from("\ufffd is not a field of this request.").toString("latin1")],
    ] as const) {
      const what = `${text} to ${path} as ${type}`;
      expect(await ask(path, type, text, ALICE_KEY), what).toMatch(/VALIDATION_ERROR/);
      expect(await ask(path, type, text, ALICE_KEY), what).toContain(message);
      expect(await ask(path, type, text, "Bearer api_wrong"), what).toMatch(/AUTH_ERROR/);
    }
  }
  expect(edge.errors).toEqual([]);
  await edge.close();
});

describe("a watched trade", () => {
  it.each([
    ["Connect", (baseUrl: string) => createConnectTransport({ baseUrl, httpVersion: "1.1" })],
    ["gRPC-Web", (baseUrl: string) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })],
    ["gRPC", (baseUrl: string) => createGrpcTransport({ baseUrl })],
  ])("is streamed over %s until it is final", async (_, createTransport) => {
    const edge = await startEdge();
    const client = createClient(TradeService, createTransport(`http://${edge.host}:${edge.port}`));
    const headers = { authorization: ALICE_KEY };
    const built = await client.buy({ mint: TOKEN.toString(), solAmount: 1, slippage: 0, priority: 2 }, { headers });
    const { signature } = await client.submit(
      { submissionToken: built.submissionToken, signedTransaction: fakeSign(built.unsignedTransaction) },
      { headers },
    );
    const seen: [TradeStatus, bigint | undefined][] = [];
    const events: [TradeEventKind, string | undefined][] = [];
    for await (const trade of client.watchTrade({ signature }, { headers })) {
      seen.push([trade.status, trade.slot]);
      for (const { kind, lane } of trade.events) events.push([kind, lane]);
    }
    expect(events).toEqual([[TradeEventKind.SENT, "rpc-1"]]);
    expect(seen).toEqual([
      [TradeStatus.PENDING, undefined],
      [TradeStatus.CONFIRMED, 300_000_001n],
    ]);

    const watch = async (request: { signature: string }, options: object) => {
      for await (const trade of client.watchTrade(request, options)) return trade;
      return undefined;
    };
    await expect(watch({ signature }, {})).rejects.toThrow("An API key is missing");
    await expect(watch({ signature: "abc" }, { headers })).rejects.toThrow("signature is not written in base58");
    await expect(watch({ signature: "2".repeat(88) }, { headers })).rejects.toThrow("No trade of this account");
    await edge.close();
  });
});

describe("a message with an unknown field", () => {
  it("is refused, because the field may be a limit", async () => {
    const edge = await startEdge();
    const response = await fetch(`http://${edge.host}:${edge.port}/tradewire.v1.TradeService/GetPriority`, {
      method: "POST",
      headers: { "content-type": "application/proto" },
      body: Buffer.from([0x48, 0x01]),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ details: [{ debug: { code: "VALIDATION_ERROR", field: "#9" } }] });
    await edge.close();
  });
});

describe("a call that the router takes, from a page of another origin", () => {
  it.each(["application/json", "application/proto", "application/grpc-web+proto"])(
    "is answered alike in %s",
    async (type) => {
      const edge = await startEdge();
      const call = async (origin: object) => {
        const response = await fetch(`http://${edge.host}:${edge.port}/tradewire.v1.TradeService/GetPriority`, {
          method: "POST",
          headers: { "content-type": type, ...origin },
          body: type === "application/json" ? "{}" : new Uint8Array(type === "application/proto" ? 0 : 5),
        });
        const body = Buffer.from(await response.arrayBuffer()).toString("latin1");
        const names = [...response.headers.keys()].filter((name) => !name.startsWith("keep-alive"));
        return { status: response.status, body, names, type: response.headers.get("content-type") };
      };
      const direct = await call({});
      expect(direct).toMatchObject({ status: 200, type });
      expect(await call({ origin: "https://example.com" })).toEqual(direct);
      await edge.close();
    },
  );

  it("is refused by the router for its headers, in everyday form too", async () => {
    const edge = await startEdge();
    const many = Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`x-${index}`, "1"]));
    const response = await fetch(`http://${edge.host}:${edge.port}/tradewire.v1.TradeService/GetPriority`, {
      method: "POST",
      headers: { "content-type": "application/json", ...many },
      body: "{}",
    });
    // As Connect prescribes for resource_exhausted.
    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({
      code: "resource_exhausted",
      details: [{ debug: { code: "HEADERS_TOO_LARGE" } }],
    });
    await edge.close();
  });
});

describe("the path of a method", () => {
  it("refuses other HTTP methods with the envelope and Allow", async () => {
    const edge = await startEdge();
    for (const path of ["tradewire.v1.TradeService/Buy", "tradewire.v1.TradeService/WatchTrade"]) {
      for (const method of ["GET", "PUT", "DELETE", "OPTIONS"]) {
        const response = await fetch(`http://${edge.host}:${edge.port}/${path}`, { method });
        expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
        expect(await response.json()).toMatchObject({ success: false, error: { code: "METHOD_NOT_ALLOWED" } });
      }
    }
    await edge.close();
  });

  it("refuses a call in unusual form without a valid Host", async () => {
    const edge = await startEdge();
    for (const host of ["", "Host: [\r\n"]) {
      const socket = net.connect(edge.port, edge.host);
      const version = host === "" ? "1.0" : "1.1";
      socket.write(
        `POST /tradewire.v1.TradeService/WatchTrade HTTP/${version}\r\n${host}Content-Type: application/connect+json\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      );
      let text = "";
      for await (const chunk of socket) text += chunk;
      // A stream of Connect says in its last message that it failed.
      expect(text).toMatch(/^HTTP\/1\.1 200 /);
      expect(text).toContain('{"error":{"code":"invalid_argument"');
      expect(text).toContain('"field":"Host"');
    }
    await edge.close();
  });
});
