import { Validator } from "@seriousme/openapi-schema-validator";
import bs58 from "bs58";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Tradewire } from "../../src/client/tradewire.ts";
import { ERRORS, type ErrorCode } from "../../src/errors/error-codes.ts";
import { createRandom } from "../../src/primitives/random.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { createTestWallet } from "../support/wallet.ts";

/** Enough of JSON Schema to check responses against the document. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly not?: Schema;
  readonly if?: Schema;
  readonly else?: Schema;
  readonly anyOf?: readonly Schema[];
}

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly requestBody?: {
    readonly content: {
      readonly "application/json": { readonly schema: Schema };
      readonly "text/event-stream"?: { readonly schema: Schema };
    };
  };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description?: string;
        readonly headers?: Readonly<Record<string, object>>;
        readonly content?: {
          readonly "application/json": { readonly schema: Schema };
          readonly "text/event-stream"?: { readonly schema: Schema };
        };
      }
    >
  >;
}

const USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";

let service: TestService;
let client: Tradewire;
let document: {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

beforeAll(async () => {
  service = await startTestService();
  client = await service.newClient();
  document = await (await fetch(`${service.url}/v1/openapi.json`)).json();
});
afterAll(() => service?.close());

it("is valid OpenAPI 3.1 according to an independent validator", async () => {
  const validator = new Validator();
  const result = await validator.validate(structuredClone(document));
  expect(result.errors).toBeUndefined();
  expect(result.valid).toBe(true);
  expect(validator.version).toBe("3.1");
});

/** Where a value violates a schema of the document. */
function departures(value: unknown, schema: Schema, at = "answer"): string[] {
  if (schema.$ref !== undefined)
    return departures(value, document.components.schemas[schema.$ref.split("/").at(-1)!]!, at);
  if (schema.anyOf !== undefined) {
    const tries = schema.anyOf.map((option) => departures(value, option, at));
    return tries.some((found) => found.length === 0) ? [] : tries[0]!;
  }
  if (schema.not !== undefined && departures(value, schema.not, at).length === 0)
    return [`${at} is what it may not be`];
  if (schema.if !== undefined && departures(value, schema.if, at).length > 0) {
    const found = departures(value, schema.else!, at);
    if (found.length > 0) return found;
  }
  if ("const" in schema) return value === schema.const ? [] : [`${at} is not ${schema.const}`];
  if (schema.enum !== undefined && !schema.enum.includes(value)) return [`${at} is none of ${schema.enum.join(", ")}`];
  if (schema.type !== undefined && ![schema.type].flat().some((type) => isOfType(value, type))) {
    return [`${at} is not ${schema.type}: ${JSON.stringify(value)}`];
  }
  if (Array.isArray(value)) return value.flatMap((item, i) => departures(item, schema.items ?? {}, `${at}[${i}]`));
  if (typeof value !== "object" || value === null) return [];
  const { properties = {}, required = [] } = schema;
  return [
    ...required.filter((name) => !(name in value)).map((name) => `${at}.${name} is missing`),
    ...Object.entries(value).flatMap(([name, member]) => {
      if (properties[name] !== undefined) return departures(member, properties[name], `${at}.${name}`);
      return schema.properties === undefined ? [] : [`${at}.${name} is not in the document`];
    }),
  ];
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  return typeof value === type;
}

it("lists the errors and headers of every operation", async () => {
  const operations = Object.values(document.paths)
    .flatMap((path) => Object.values(path))
    .filter(({ operationId }) => operationId !== "ping");
  for (const { operationId, security, requestBody, responses } of operations) {
    const statuses = Object.keys(responses);
    for (const status of ["200", "400", "408", "429", "431", "500"]) expect(statuses, operationId).toContain(status);
    expect(statuses.includes("401"), operationId).toBe(security.length > 0);
    expect(statuses.includes("413"), operationId).toBe(requestBody !== undefined);
    for (const [status, { description }] of Object.entries(responses)) {
      if (status === "200" || status === "default") continue;
      for (const code of description!.split(", ")) expect(ERRORS[code as ErrorCode].http).toBe(Number(status));
    }
  }
  const buy = { mint: service.mintOn("raydium_cpmm"), solAmount: 0.1, slippage: 0.05, priority: "fast" };
  const failing: [string, string, object | undefined][] = [
    ["/v1/tx/buy", "buy", { ...buy, solAmount: -1 }],
    ["/v1/tx/buy", "buy", { ...buy, solAmount: 1e6 }],
    ["/v1/tx/buy", "buy", { ...buy, mint: createTestWallet(createRandom(5).bytes(32)).address.toString() }],
    ["/v1/tx/buy", "buy", { ...buy, maxPriceImpact: 0, solAmount: 50 }],
    ["/v1/tx/buy", "buy", { ...buy, maxPriorityCost: 0 }],
    ["/v1/tx/submit", "submit", { submissionToken: "tw1.local.AAAA", signedTransaction: "AA==" }],
    [`/v1/tx/${"2".repeat(88)}`, "getTrade", undefined],
  ];
  for (const [path, operationId, body] of failing) {
    const { status, body: answer } = await service.call(path, body, client.apiKey);
    const { responses } = operations.find((operation) => operation.operationId === operationId)!;
    expect(responses[status]?.description, `${operationId} ${status}`).toContain(answer.error!.code);
  }
  const refused = await fetch(`${service.url}/v1/tx/buy`, { method: "POST", body: "{}" });
  const { responses } = operations.find(({ operationId }) => operationId === "buy")!;
  for (const name of Object.keys(responses[401]!.headers!)) {
    if (name !== "Server-Timing") expect(refused.headers.has(name), name).toBe(true);
  }
});

it("reports every field at fault, what was meant, and where its code is explained", async () => {
  const refused = async (path: string, body?: object) => (await service.call(path, body, client.apiKey)).body.error!;
  const error = await refused("/v1/tx/swap", {
    inputMint: "sol",
    slipage: 0.1,
    swapMode: "ExactIn",
    slippage: 5,
    amount: "1",
  });
  expect(error.field).toBe("slipage");
  const faults = Object.fromEntries(error.violations!.map(({ field, message }) => [field, message]));
  expect(Object.keys(faults).sort()).toEqual([
    "amount",
    "inputMint",
    "outputMint",
    "priority",
    "slipage",
    "slippage",
    "swapMode",
  ]);
  expect(faults.slipage).toContain('Did you mean "slippage"?');
  expect(faults.swapMode).toContain('Did you mean "exactIn"?');
  expect(faults.inputMint).toBe('inputMint is not a mint. Did you mean "SOL"?');
  const twice = {
    inputMint: "sol",
    outputMint: "Sol",
    swapMode: "exactIn",
    slippage: 0.1,
    amount: 1,
    priority: "fast",
  };
  expect((await refused("/v1/tx/swap", twice)).message).toBe(
    'inputMint is not a mint. Did you mean "SOL"? outputMint is not a mint. Did you mean "SOL"?',
  );
  // Where SOL would be refused too, it is not what was meant.
  const buy = await refused("/v1/tx/buy", { mint: "sol", solAmount: 1, slippage: 0.1, priority: "fast" });
  expect(buy.message).toBe("mint is not written in base58, or has the wrong length.");
  const wallet = await refused("/v1/auth/challenge", { walletAddress: "SOL" });
  expect(wallet.message).toBe("walletAddress is not written in base58, or has the wrong length.");
  expect(faults.slippage).toContain("0.05 is 5 %");
  expect((await refused("/tx/buy", {})).message).toContain("Did you mean /v1/tx/buy?");
  expect((await refused("/v1/tx/")).message).toBe("There is nothing at GET /v1/tx/. Did you mean /v1/tx?");
  expect((await refused(`/${"x".repeat(5_000)}`)).message).not.toContain("Did you mean");

  const page = await (await fetch(`${service.url}/docs`)).text();
  for (const code of Object.keys(ERRORS)) expect(page).toContain(`id="${code}"`);
  expect(error.doc_url).toBe("/docs#VALIDATION_ERROR");
  const anonymous = (await service.call("/v1/tx")).body.error!;
  expect(anonymous).toMatchObject({ code: "AUTH_ERROR", doc_url: "/docs#AUTH_ERROR" });
  expect(anonymous.violations).toBeUndefined();
});

it.each([
  ["buy", ["solAmount", "solAmountRaw"], { mint: USDC }],
  ["sell", ["tokenAmount", "tokenAmountRaw", "sellPercent"], { mint: USDC }],
  ["swap", ["amount", "amountRaw"], { inputMint: "SOL", outputMint: "SOL", swapMode: "exactIn" }],
  ["quote", ["amount", "amountRaw"], { inputMint: "SOL", outputMint: "SOL", swapMode: "exactIn" }],
] as const)("says that %s takes exactly one of %j, as the service does", async (id, amounts, rest) => {
  const { requestBody } = Object.values(document.paths)
    .flatMap((path) => Object.values(path))
    .find(({ operationId }) => operationId === id)!;
  const isFit = (body: object) => departures(body, requestBody!.content["application/json"].schema).length === 0;
  const order = { ...rest, slippage: 0.05, priority: "fast" };
  const given = Object.fromEntries(amounts.map((name) => [name, name.endsWith("Raw") ? "1" : 1]));
  for (const name of amounts) expect([name, isFit({ ...order, [name]: given[name] })]).toEqual([name, true]);
  // What the document does not allow, the service refuses by one of these fields.
  for (const body of [order, { ...order, ...given }]) {
    expect(isFit(body)).toBe(false);
    const { error } = (await service.call(`/v1/tx/${id}`, body, client.apiKey)).body;
    expect(error!.violations!.map(({ field }) => field)).toEqual(
      expect.arrayContaining([expect.toBeOneOf([...amounts])]),
    );
  }
});

it.each([
  ["buy", "Buy", "mint", { mint: "SOL", solAmount: 0.1 }, false],
  ["sell", "Sell", "mint", { mint: "SOL", tokenAmount: 1 }, false],
  ["swap", "Swap", "inputMint", { inputMint: "SOL", outputMint: USDC, amount: 0.1, swapMode: "exactIn" }, true],
] as const)("says whether SOL is a mint to %s, as the service does", async (id, message, field, rest, isMint) => {
  const { pattern } = document.components.schemas[`${message}Request`]!.properties![field]!;
  expect(new RegExp(pattern!).test("SOL")).toBe(isMint);
  const body = { ...rest, slippage: 0.05, priority: "fast" };
  const { error } = (await service.call(`/v1/tx/${id}`, body, client.apiKey)).body;
  if (!isMint) expect(error?.message).toBe("mint is SOL. Name the token to trade for SOL.");
  else expect(error?.code).not.toBe("VALIDATION_ERROR");
});

it("describes every operation correctly: each is called from the document alone", async () => {
  const wallet = createTestWallet(createRandom(77).bytes(32));
  const mint = service.mintOn("raydium_cpmm");
  const order = { slippage: 0.05, priority: "fast" };
  const called = new Set<string>();

  const operations = new Map(
    Object.entries(document.paths).flatMap(([path, verbs]) =>
      Object.entries(verbs).map(([verb, operation]) => [operation.operationId, { path, verb, operation }] as const),
    ),
  );
  const call = async (id: string, body?: object, parameters: Record<string, string> = {}, apiKey = client.apiKey) => {
    const { path, verb, operation } = operations.get(id)!;
    called.add(id);
    expect({ id, hasBody: operation.requestBody !== undefined }).toEqual({ id, hasBody: body !== undefined });
    if (body !== undefined) {
      expect(departures(body, operation.requestBody!.content["application/json"].schema, id)).toEqual([]);
    }
    const inQuery = Object.entries(parameters).filter(([name]) => !path.includes(`{${name}}`));
    const query = inQuery.length === 0 ? "" : `?${new URLSearchParams(inQuery)}`;
    const url = service.url + path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(parameters[name]!)) + query;
    const response = await fetch(url, {
      method: verb.toUpperCase(),
      headers: {
        ...(operation.security.length > 0 ? { authorization: `Bearer ${apiKey}` } : {}),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const described = (operation.responses[`${response.status}`] ?? operation.responses.default)?.content;
    const events = described?.["text/event-stream"];
    if (events !== undefined) {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        const message = JSON.parse(/^data: (.*)$/m.exec(chunk)![1]!);
        expect({ id, departures: departures(message, events.schema) }).toEqual({ id, departures: [] });
        return message;
      }
    }
    const text = await response.text();
    if (described === undefined) return text;
    const answer = JSON.parse(text);
    expect({
      id,
      status: response.status,
      departures: departures(answer, described["application/json"].schema),
    }).toEqual({
      id,
      status: response.status,
      departures: [],
    });
    return answer.data ?? answer.error;
  };

  expect(await call("ping")).toBe("");
  expect((await call("getPriority")).levels).toHaveLength(4);
  const { message } = await call("createChallenge", { walletAddress: wallet.address.toString() });
  const registered = await call("register", {
    walletAddress: wallet.address.toString(),
    message,
    signature: bs58.encode(wallet.sign(message)),
    label: "through the document",
  });
  await service.rpc("requestAirdrop", [wallet.address.toString(), 10e9]);
  const key = registered.apiKey;
  expect((await call("getProfile", undefined, {}, key)).walletAddress).toBe(wallet.address.toString());
  const bought = await call("buy", { mint, solAmount: 0.1, ...order }, {}, key);
  const swap = { inputMint: "SOL", outputMint: mint, amount: 0.1, swapMode: "exactIn", ...order };
  await call("quote", swap, {}, key);
  await call("swap", swap, {}, key);

  const transaction = Buffer.from(bought.unsignedTransaction, "base64");
  transaction.set(wallet.sign(transaction.subarray(65)), 1);
  const submit = { submissionToken: bought.submissionToken, signedTransaction: transaction.toString("base64") };
  const submitted = await call("submit", submit, {}, key);
  expect(submitted.tradeResult.outputAmountRaw).toBe(bought.estimates.outputAmountRaw);
  expect((await call("listTrades", undefined, {}, key)).trades).toHaveLength(1);
  const found = await call("getTrade", undefined, { signature: submitted.signature }, key);
  expect(found.tradeResult).toEqual(submitted.tradeResult);
  const watched = await call("watchTrade", undefined, { signature: submitted.signature }, key);
  expect(watched.tradeResult).toEqual(submitted.tradeResult);
  const ask = { ...swap, amount: `${swap.amount}`, slippage: `${swap.slippage}` };
  expect((await call("watchQuote", undefined, ask, key)).estimates.inputAmount).toBeGreaterThan(0);
  await call("sell", { mint, tokenAmount: 1, ...order }, {}, key);

  const held = await call("getBalances", undefined, { mint }, key);
  expect(held.tokens).toEqual([expect.objectContaining({ mint, amountRaw: submitted.tradeResult.outputAmountRaw })]);
  expect((await call("listKeys", undefined, {}, key)).keys).toHaveLength(1);
  expect((await call("getTrade", undefined, { signature: "1".repeat(64) }, key)).code).toBeDefined();
  await call("revokeKey", undefined, { keyId: registered.keyId }, key);
  expect((await call("getProfile", undefined, {}, key)).code).toBe("AUTH_ERROR");

  expect([...operations.keys()].filter((id) => !called.has(id))).toEqual([]);
});
