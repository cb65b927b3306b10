import { expect, it } from "vitest";
import { DEFAULT_API_SETTINGS } from "../../../test/support/api-settings.ts";
import { ALICE, createFakeAccounts, createFakeTrades } from "../../../test/support/fake-trades.ts";
import { Api } from "../server.ts";
import { registerFaucet } from "./faucet.ts";

const PER_SECOND = 10;
const JSON_TYPE = { "content-type": "application/json" };

/** The faucet of an edge whose clock stands still, and what it has given. */
function openFaucet(giveSol?: () => Promise<boolean>) {
  const given: string[] = [];
  const errors: object[] = [];
  const accounts = createFakeAccounts();
  const api = new Api({
    nowMs: () => 0,
    wallMs: () => 0,
    requestIdPrefix: "test",
    trades: createFakeTrades(),
    accounts,
    keys: accounts,
    logger: { warn() {}, error: (facts) => errors.push(facts) },
    settings: {
      ...DEFAULT_API_SETTINGS,
      limits: { ...DEFAULT_API_SETTINGS.limits, addressRegister: PER_SECOND, burstSeconds: 1 },
    },
    canBuild: () => true,
  });
  registerFaucet(api.documents, giveSol ?? (async (wallet) => given.push(wallet.toString()) > 0));
  const ask = async (payload: string, headers: Record<string, string> = JSON_TYPE, query = "") => {
    const answer = await api.fastify.inject({ method: "POST", url: `/faucet${query}`, payload, headers });
    return { status: answer.statusCode, headers: answer.headers, body: answer.json() };
  };
  return { ask, given, errors };
}

const WALLET = JSON.stringify({ walletAddress: ALICE.wallet.toString() });

it("gives to a wallet, and refuses whatever else is sent, by its name", async () => {
  const { ask, given } = openFaucet();
  const { body, headers } = await ask(WALLET);
  expect(body.data).toEqual({ walletAddress: ALICE.wallet.toString(), sol: 10 });
  expect(headers).toMatchObject({ ratelimit: '"address-register";r=9;t=1' });
  const refused: [string, string | undefined, Record<string, string>?, string?][] = [
    ["{}", "walletAddress"],
    ['{"walletAddress":5}', "walletAddress"],
    [WALLET.replace("}", ',"sol":1000}'), "sol"],
    [WALLET.replace("{", '{"walletAddress":"1",'), "walletAddress"],
    [WALLET, "Content-Type", { "content-type": "text/plain" }],
    [WALLET, "Content-Encoding", { ...JSON_TYPE, "content-encoding": "gzip" }],
    [WALLET, "sol", JSON_TYPE, "?sol=1000"],
    ["[]", undefined],
    ["", undefined],
  ];
  for (const [payload, field, sent, query] of refused) {
    const answer = await ask(payload, sent, query);
    expect(answer.status, payload).toBe(400);
    expect(answer.body.error).toMatchObject({ code: "VALIDATION_ERROR" });
    expect(answer.body.error.field, payload).toBe(field);
  }
  expect(given).toHaveLength(1);
});

it("says when to ask again, as every limit does", async () => {
  const { ask, given } = openFaucet();
  for (let i = 0; i < PER_SECOND; i++) expect((await ask(WALLET)).status).toBe(200);
  const { status, headers, body } = await ask(WALLET);
  expect([status, body.error.code]).toEqual([429, "RATE_LIMIT_EXCEEDED"]);
  expect(headers).toMatchObject({
    "retry-after": "1",
    ratelimit: '"address-register";r=0;t=1',
    "ratelimit-policy": '"address-register";q=10;w=1',
    "x-request-id": body.requestId,
  });
  expect(given).toHaveLength(PER_SECOND);
});

it("refuses an address that the chain lets receive nothing, as the caller's fault", async () => {
  const { ask, errors } = openFaucet(async () => false);
  const { status, body } = await ask(WALLET);
  expect([status, body.error.code, body.error.field]).toEqual([400, "VALIDATION_ERROR", "walletAddress"]);
  expect(errors).toEqual([]);
});

it("logs a fault of its own, and says nothing of it", async () => {
  const { ask, errors } = openFaucet(async () => {
    throw new Error("no such file: /secret");
  });
  const { status, body } = await ask(WALLET);
  expect([status, body.error.code]).toEqual([500, "INTERNAL_ERROR"]);
  expect(JSON.stringify(body)).not.toContain("secret");
  expect(errors).toEqual([expect.objectContaining({ requestId: body.requestId })]);
});

it("repeats little of a long name", async () => {
  const { body } = await openFaucet().ask(WALLET.replace("}", `,"${"s".repeat(5_000)}":1}`));
  expect(body.error.field).toBe(`${"s".repeat(64)}…`);
});
