import bs58 from "bs58";
import { expect, it } from "vitest";
import { BUY, type Given, SELL, SWAP } from "./given.ts";
import { askChain, Trader } from "./trader.ts";

export function checkAuthentication(given: () => Given): void {
  const calls = () => {
    const { mint, trader, buy } = given();
    const swap = { inputMint: "SOL", outputMint: mint, amount: 0.1, swapMode: "exactIn", ...SWAP };
    const { data } = buy.build.body;
    return {
      "/v1/tx/buy": { mint, ...BUY },
      "/v1/tx/sell": { mint, ...SELL },
      "/v1/tx/swap": swap,
      "/v1/tx/submit": { submissionToken: data.submissionToken, signedTransaction: trader.signed(data) },
    } as const;
  };

  it.each(["/v1/tx/buy", "/v1/tx/sell", "/v1/tx/swap", "/v1/tx/submit"] as const)(
    "%s requires an API key",
    async (path) => {
      const { status, body } = await given().service.post(path, calls()[path], { apiKey: null });
      expect(status).toBe(401);
      expect(body).toMatchObject({ success: false, error: { code: "AUTH_ERROR" } });
    },
  );

  it.each(["/v1/tx/buy", "/v1/tx/sell", "/v1/tx/swap", "/v1/tx/submit"] as const)(
    "%s refuses a key it did not issue",
    async (path) => {
      const { status } = await given().service.post(path, calls()[path], { apiKey: `api_${"A".repeat(38)}` });
      expect(status).toBe(401);
    },
  );

  it("the key is sent as Authorization: Bearer, and under no other scheme", async () => {
    const { service, mint } = given();
    const send = (authorization: string) =>
      service.post("/v1/tx/buy", { mint, ...BUY }, { apiKey: null, headers: { authorization } });
    expect((await send(`Bearer ${service.apiKey}`)).status).toBe(200);
    expect((await send(`Basic ${service.apiKey}`)).status).toBe(401);
    expect((await send(service.apiKey)).status).toBe(401);
  });

  it("keys carry the prefix api_", () => {
    expect(given().service.apiKey).toMatch(/^api_[A-Za-z0-9]+$/);
  });

  it("GET /v1/ping requires no key and ignores a wrong one", async () => {
    const { service } = given();
    expect((await service.get("/v1/ping")).status).toBe(200);
    expect((await service.get("/v1/ping", { authorization: "Bearer nonsense" })).status).toBe(200);
  });

  it("the key identifies the account: trades are built for its wallet", async () => {
    const { service, mint } = given();
    const other = Trader.create(service);
    await askChain(service, "requestAirdrop", [other.address, 1e9]);
    const { apiKey } = (await other.register()).body.data;
    const { body } = await service.post("/v1/tx/buy", { mint, ...BUY }, { apiKey });
    const wire = Buffer.from(body.data.unsignedTransaction, "base64");
    expect(wire.includes(Buffer.from(bs58.decode(other.address)))).toBe(true);
    expect(wire.includes(Buffer.from(bs58.decode(given().trader.address)))).toBe(false);
  });

  it("a submission token works only with a key of the account it was built for", async () => {
    const { service, trader, buy } = given();
    const { apiKey } = (await Trader.create(service).register()).body.data;
    const { data } = buy.build.body;
    const { status } = await service.post(
      "/v1/tx/submit",
      { submissionToken: data.submissionToken, signedTransaction: trader.signed(data) },
      { apiKey },
    );
    expect(status).toBe(400);
  });

  it("a key is obtained in a browser: there is a page to register", async () => {
    const { status, headers } = await given().service.get("/register");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^text\/html/);
  });

  it("a key is obtained by a program: by signing a challenge, without sending a secret", async () => {
    const { status, body } = await Trader.create(given().service).register();
    expect(status).toBe(200);
    expect(body.data.apiKey).toMatch(/^api_/);
  });

  it("a challenge signed by another key obtains nothing", async () => {
    const { service } = given();
    const [owner, thief] = [Trader.create(service), Trader.create(service)];
    const asked = await service.post("/v1/auth/challenge", { walletAddress: owner.address }, { apiKey: null });
    const { message } = asked.body.data;
    const signature = bs58.encode(thief.signBytes(Buffer.from(message)));
    const { status, body } = await service.post(
      "/v1/auth/register",
      { walletAddress: owner.address, message, signature },
      { apiKey: null },
    );
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body.success).toBe(false);
  });

  it("the signing key is a separate secret: no answer contains it, nor the API key", () => {
    const { buy, sell, service } = given();
    const said = JSON.stringify([buy.build.body, buy.result.body, sell.build.body, sell.result.body]);
    expect(said).not.toContain(service.secretKey);
    expect(said).not.toContain(service.apiKey);
  });
}
