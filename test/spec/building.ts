import { describe, expect, it } from "vitest";
import { BUY, type Given, PRIORITIES, SELL, SOL, SWAP, without } from "./given.ts";
import type { Answer } from "./started-service.ts";

const BUILT = [
  "submissionToken",
  "unsignedTransaction",
  "expiresAt",
  "platform",
  "inputMint",
  "outputMint",
  "estimates",
  "priorityCost",
];

export function checkBuilding(given: () => Given): void {
  const post = (path: string, body: unknown): Promise<Answer> => given().service.post(path, body);
  const buy = () => ({ mint: given().mint, ...BUY });
  const sell = () => ({ mint: given().mint, ...SELL });
  const swap = () => ({ inputMint: "SOL", outputMint: given().mint, amount: 0.1, swapMode: "exactIn", ...SWAP });

  const refused = ({ status, body }: Answer, field: string) => {
    expect(status).toBe(400);
    expect(body).toMatchObject({ success: false, error: { code: "VALIDATION_ERROR", field } });
  };

  describe("4.1 POST /v1/tx/buy", () => {
    it("answers with a built transaction whose input is SOL and whose output is the mint", () => {
      const { data } = given().buy.build.body;
      expect(Object.keys(data)).toEqual(expect.arrayContaining(BUILT));
      expect(data).toMatchObject({ inputMint: SOL, outputMint: given().mint });
    });

    it("takes exactly the SOL amount that is asked for", () => {
      expect(given().buy.result.body.data.tradeResult.inputAmount).toBe(BUY.solAmount);
    });

    it.each(["mint", "solAmount", "slippage", "priority"] as const)("requires %s", async (field) => {
      refused(await post("/v1/tx/buy", without(buy(), field)), field);
    });

    it.each(["", "nonsense", "0x12", "1"])("refuses %j as a mint: not an address", async (mint) => {
      refused(await post("/v1/tx/buy", { ...buy(), mint }), "mint");
    });

    it.each([0, -1])("refuses %d as solAmount", async (solAmount) => {
      refused(await post("/v1/tx/buy", { ...buy(), solAmount }), "solAmount");
    });
  });

  describe("4.2 POST /v1/tx/sell", () => {
    it("answers with a built transaction whose input is the mint and whose output is SOL", () => {
      const { data } = given().sell.build.body;
      expect(Object.keys(data)).toEqual(expect.arrayContaining(BUILT));
      expect(data).toMatchObject({ inputMint: given().mint, outputMint: SOL });
    });

    it("takes exactly the token amount that is asked for", () => {
      expect(given().sell.result.body.data.tradeResult.inputAmount).toBe(SELL.tokenAmount);
    });

    it.each(["mint", "tokenAmount", "slippage", "priority"] as const)("requires %s", async (field) => {
      const { status, body } = await post("/v1/tx/sell", without(sell(), field));
      expect(status).toBe(400);
      expect(body.error.code).toBe("VALIDATION_ERROR");
      expect(JSON.stringify(body.error)).toContain(field);
    });

    it.each([0, -1])("refuses %d as tokenAmount", async (tokenAmount) => {
      refused(await post("/v1/tx/sell", { ...sell(), tokenAmount }), "tokenAmount");
    });
  });

  describe("4.3 POST /v1/tx/swap", () => {
    it("answers with a built transaction", () => {
      expect(Object.keys(given().exactIn.build.body.data)).toEqual(expect.arrayContaining(BUILT));
    });

    it("takes the literal SOL as inputMint", () => {
      expect(given().exactIn.request.inputMint).toBe("SOL");
      expect(given().exactIn.build.body.data.inputMint).toBe(SOL);
    });

    it("takes the literal SOL as outputMint, and a token mint as inputMint", async () => {
      const { status, body } = await post("/v1/tx/swap", { ...swap(), inputMint: given().mint, outputMint: "SOL" });
      expect(status).toBe(200);
      expect(body.data).toMatchObject({ inputMint: given().mint, outputMint: SOL });
    });

    it("trades a token for another", async () => {
      const outputMint = given().service.mints.get("USDC")!;
      const { status, body } = await post("/v1/tx/swap", { ...swap(), inputMint: given().mint, outputMint });
      expect(status).toBe(200);
      expect(body.data).toMatchObject({ inputMint: given().mint, outputMint });
    });

    it("exactIn: amount is exactly what goes in", () => {
      const { request, result } = given().exactIn;
      expect(result.body.data.tradeResult.inputAmount).toBe(request.amount);
    });

    it("exactOut: amount is exactly what comes out", () => {
      const { request, result } = given().exactOut;
      expect(result.body.data.tradeResult.outputAmount).toBe(request.amount);
    });

    it.each(["inputMint", "outputMint", "amount", "swapMode", "slippage", "priority"] as const)(
      "requires %s",
      async (field) => refused(await post("/v1/tx/swap", without(swap(), field)), field),
    );

    it.each([0, -0.5])("refuses %d as amount: it must be above 0", async (amount) => {
      refused(await post("/v1/tx/swap", { ...swap(), amount }), "amount");
    });

    it.each(["", "exact", "ExactIn", 1])("refuses %j as swapMode", async (swapMode) => {
      refused(await post("/v1/tx/swap", { ...swap(), swapMode }), "swapMode");
    });
  });

  describe("the slippage and the priority of all three", () => {
    const builds = () => [
      ["/v1/tx/buy", buy()] as const,
      ["/v1/tx/sell", sell()] as const,
      ["/v1/tx/swap", swap()] as const,
    ];

    it.each([0, 0.05, 0.999])("slippage %d is taken", async (slippage) => {
      for (const [path, body] of builds())
        expect(await post(path, { ...body, slippage })).toMatchObject({ status: 200 });
    });

    it.each([1, 1.5, -0.01])("slippage %d is refused", async (slippage) => {
      for (const [path, body] of builds()) refused(await post(path, { ...body, slippage }), "slippage");
    });

    it.each(PRIORITIES)("priority %s is taken", async (priority) => {
      for (const [path, body] of builds()) expect((await post(path, { ...body, priority })).status).toBe(200);
    });
  });

  describe("4.4 POST /v1/tx/submit", () => {
    it("answers with the result of the trade", () => {
      expect(Object.keys(given().buy.result.body.data)).toEqual(
        expect.arrayContaining([
          "signature",
          "status",
          "slot",
          "platform",
          "inputMint",
          "outputMint",
          "tradeResult",
          "priorityCost",
        ]),
      );
    });

    it("waits for confirmation, and answers before a client gives up after 30,000 ms", () => {
      for (const { submitMs } of [given().buy, given().sell, given().exactIn, given().exactOut]) {
        expect(submitMs).toBeLessThan(30_000);
      }
    });

    it.each(["submissionToken", "signedTransaction"] as const)("requires %s", async (field) => {
      const { service, trader } = given();
      const { data } = given().buy.build.body;
      const whole = { submissionToken: data.submissionToken, signedTransaction: trader.signed(data) };
      const { status, body } = await service.post("/v1/tx/submit", without(whole, field));
      expect(status).toBe(400);
      expect(body.error.field).toBe(field);
    });

    it("refuses a token that the service did not make", async () => {
      const { service, trader } = given();
      const { status, body } = await service.post("/v1/tx/submit", {
        submissionToken: "made up",
        signedTransaction: trader.signed(given().buy.build.body.data),
      });
      expect(status).toBe(400);
      expect(body.error.code).toBe("INVALID_SUBMISSION_TOKEN");
    });
  });

  describe("4.5 GET /v1/ping", () => {
    it("needs no authentication and no body", async () => {
      expect((await given().service.get("/v1/ping")).status).toBe(200);
    });

    it("answers with status 200 and an empty body", async () => {
      const { status, headers, body } = await given().service.get("/v1/ping");
      expect({ status, body }).toEqual({ status: 200, body: undefined });
      expect(headers.get("content-length")).toBe("0");
    });
  });

  describe("4.6 Bounds on amounts", () => {
    it.each(["many", null, {}, [[1]]])("%j is no amount", async (amount) => {
      refused(await post("/v1/tx/buy", { ...buy(), solAmount: amount }), "solAmount");
      refused(await post("/v1/tx/swap", { ...swap(), amount }), "amount");
    });
  });
}
