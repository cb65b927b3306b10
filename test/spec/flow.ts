import { expect, it } from "vitest";
import { BUY, type Given, SOL } from "./given.ts";
import { MESSAGE_OFFSET, Trader } from "./trader.ts";

export function checkFlow(given: () => Given): void {
  const wireOf = (built: { unsignedTransaction: string }) => Buffer.from(built.unsignedTransaction, "base64");

  it("a buy trades SOL for a token", () => {
    const { buy, mint } = given();
    expect(buy.result.body.data).toMatchObject({ inputMint: SOL, outputMint: mint, status: "confirmed" });
  });

  it("a sell trades a token for SOL", () => {
    const { sell, mint } = given();
    expect(sell.result.body.data).toMatchObject({ inputMint: mint, outputMint: SOL, status: "confirmed" });
  });

  it("a swap trades one mint for another", () => {
    const { exactIn, mint } = given();
    expect(exactIn.result.body.data).toMatchObject({ inputMint: SOL, outputMint: mint, status: "confirmed" });
  });

  it("no private key is taken: a field for one is refused by its name", async () => {
    const { service, mint } = given();
    const { status, body } = await service.post("/v1/tx/buy", { mint, ...BUY, privateKey: service.secretKey });
    expect(status).toBe(400);
    expect(body.error.field).toBe("privateKey");
  });

  it("step 1: a wallet registers and obtains an API key", async () => {
    const { service } = given();
    const { status, body } = await Trader.create(service).register();
    expect(status).toBe(200);
    expect(body.data.apiKey).toMatch(/^api_/);
  });

  it("step 2: a build answers with an unsigned transaction and a submission token", () => {
    const { data } = given().buy.build.body;
    expect(data.unsignedTransaction).toBeTypeOf("string");
    expect(data.submissionToken).toBeTypeOf("string");
  });

  it("step 3: the transaction decodes from base64, has room for one signature, and encodes back to the same text", () => {
    for (const { build } of [given().buy, given().sell, given().exactIn, given().exactOut]) {
      const wire = wireOf(build.body.data);
      expect(wire[0]).toBe(1);
      expect(wire.subarray(1, MESSAGE_OFFSET).every((byte) => byte === 0)).toBe(true);
      expect(wire.length).toBeGreaterThan(MESSAGE_OFFSET);
      expect(wire.toString("base64")).toBe(build.body.data.unsignedTransaction);
    }
  });

  it("step 4: the signed transaction and its token are broadcast, and signature and amounts come back", () => {
    const { status, body } = given().buy.result;
    expect(status).toBe(200);
    expect(body.data.signature).toMatch(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/);
    expect(body.data.tradeResult.outputAmount).toBeGreaterThan(0);
  });

  it("the token ties the transaction to the service: with the bytes of another build it is refused", async () => {
    const { service, trader, mint } = given();
    const [one, two] = await Promise.all([
      service.post("/v1/tx/buy", { mint, ...BUY }),
      service.post("/v1/tx/buy", { mint, ...BUY, solAmount: 0.2 }),
    ]);
    const { status, body } = await service.post("/v1/tx/submit", {
      submissionToken: one.body.data.submissionToken,
      signedTransaction: trader.signed(two.body.data),
    });
    expect(status).toBe(400);
    expect(body.success).toBe(false);
  });

  it("a transaction modified before signing is refused, and the one that was built still trades", async () => {
    const { service, trader, mint } = given();
    const { data } = (await service.post("/v1/tx/buy", { mint, ...BUY })).body;
    for (const at of [MESSAGE_OFFSET, MESSAGE_OFFSET + 40, wireOf(data).length - 1]) {
      const signedTransaction = trader.signed(data, { before: (wire) => (wire[at]! ^= 1) });
      const { status, body } = await service.post("/v1/tx/submit", {
        submissionToken: data.submissionToken,
        signedTransaction,
      });
      expect(status).toBe(400);
      expect(body.error.code).toBe("MESSAGE_MISMATCH");
    }
    expect((await trader.submit(data)).body.data.status).toBe("confirmed");
  });

  it("GET /v1/ping lets clients hold their connection open", async () => {
    expect((await given().service.get("/v1/ping")).status).toBe(200);
  });

  it("a request with a body is JSON under Content-Type: application/json, and nothing else is taken", async () => {
    const { service, mint } = given();
    const { status, body } = await service.post("/v1/tx/buy", `mint=${mint}&solAmount=0.1`, {
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(body.success).toBe(false);
  });

  it("a success is JSON with success true and data as an object", () => {
    const { buy, sell, exactIn, exactOut } = given();
    for (const { build, result } of [buy, sell, exactIn, exactOut]) {
      for (const { headers, body } of [build, result]) {
        expect(headers.get("content-type")).toMatch(/^application\/json/);
        expect(body.success).toBe(true);
        expect(body.data).toBeTypeOf("object");
      }
    }
  });

  it("an error is JSON with success false and error as an object", async () => {
    const { headers, body } = await given().service.post("/v1/tx/buy", {});
    expect(headers.get("content-type")).toMatch(/^application\/json/);
    expect(body.success).toBe(false);
    expect(body.error).toBeTypeOf("object");
  });
}
