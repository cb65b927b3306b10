import { describe, expect, it } from "vitest";
import { BUY, type Done, type Given, PRIORITIES, SOL } from "./given.ts";
import type { Json } from "./started-service.ts";
import { askChain } from "./trader.ts";

const ISO_MS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export function checkResources(given: () => Given): void {
  const all = (): Done[] => [given().buy, given().sell, given().exactIn, given().exactOut];

  describe("2.1 A built transaction", () => {
    it("submissionToken is a string that a submit takes", () => {
      for (const { build, result } of all()) {
        expect(build.body.data.submissionToken).toBeTypeOf("string");
        expect(result.status).toBe(200);
      }
    });

    it("unsignedTransaction is base64", () => {
      for (const { build } of all()) expect(build.body.data.unsignedTransaction).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
    });

    it("expiresAt is ISO 8601 in UTC with milliseconds", () => {
      for (const { build } of all()) expect(build.body.data.expiresAt).toMatch(ISO_MS);
    });

    it("platform names the venue of the trade", () => {
      for (const { build } of all()) expect(build.body.data.platform).toMatch(/^[a-z][a-z0-9_+]*$/);
    });

    it("inputMint is what goes into the venue: SOL for a buy, the token for a sell", () => {
      expect(given().buy.build.body.data.inputMint).toBe(SOL);
      expect(given().sell.build.body.data.inputMint).toBe(given().mint);
    });

    it("outputMint is what comes out of the venue: the token for a buy, SOL for a sell", () => {
      expect(given().buy.build.body.data.outputMint).toBe(given().mint);
      expect(given().sell.build.body.data.outputMint).toBe(SOL);
    });

    it("estimates is an object", () => {
      for (const { build } of all()) expect(build.body.data.estimates).toBeTypeOf("object");
    });

    it("priorityCost is the priority fee of this transaction in SOL, known before it is signed", () => {
      for (const { build, result } of all()) {
        expect(build.body.data.priorityCost).toBeTypeOf("number");
        expect(build.body.data.priorityCost).toBeGreaterThanOrEqual(0);
        expect(result.body.data.priorityCost).toBe(build.body.data.priorityCost);
      }
    });
  });

  describe("2.2 Estimates", () => {
    it("inputAmount is the estimated input", () => {
      expect(given().buy.build.body.data.estimates.inputAmount).toBe(BUY.solAmount);
      expect(given().sell.build.body.data.estimates.inputAmount).toBe(given().sell.request.tokenAmount);
    });

    it("outputAmount is the estimated output", () => {
      for (const { build } of all()) expect(build.body.data.estimates.outputAmount).toBeGreaterThan(0);
    });

    it("priceImpact is a decimal fraction of the price, larger for a larger trade", async () => {
      const { service, mint } = given();
      const impact = async (solAmount: number) =>
        (await service.post("/v1/tx/buy", { mint, ...BUY, solAmount })).body.data.estimates.priceImpact as number;
      const [small, large] = [await impact(0.1), await impact(20)];
      expect(small).toBeGreaterThanOrEqual(0);
      expect(large).toBeGreaterThan(small);
      expect(large).toBeLessThan(1);
    });

    it("estimates are what the trade does when the market does not move", () => {
      for (const { build, result } of all()) {
        const { inputAmount, outputAmount } = build.body.data.estimates;
        expect(result.body.data.tradeResult).toMatchObject({ inputAmount, outputAmount });
      }
    });
  });

  describe("2.3 Priority", () => {
    it.each(PRIORITIES)("%s is allowed", async (priority) => {
      const { service, mint } = given();
      expect((await service.post("/v1/tx/buy", { mint, ...BUY, priority })).status).toBe(200);
    });

    it.each(["", "slow", "FAST", "Fast", "turbo", 1, null])("%j is not", async (priority) => {
      const { service, mint } = given();
      const { status, body } = await service.post("/v1/tx/buy", { mint, ...BUY, priority });
      expect(status).toBe(400);
      expect(body.error.field).toBe("priority");
    });

    it("a higher priority never costs less, and what it costs is in priorityCost", async () => {
      const { service, mint } = given();
      const costs: number[] = [];
      for (const priority of PRIORITIES) {
        costs.push((await service.post("/v1/tx/buy", { mint, ...BUY, priority })).body.data.priorityCost);
      }
      expect([...costs].sort((a, b) => a - b)).toEqual(costs);
    });
  });

  describe("2.4 A trade's result", () => {
    it("signature is the one the chain knows", async () => {
      for (const { result } of all()) {
        const { value } = await askChain(given().service, "getSignatureStatuses", [
          [result.body.data.signature],
          { searchTransactionHistory: true },
        ]);
        expect(value[0].err).toBeNull();
      }
    });

    it("status is a string, confirmed once the chain has confirmed it", () => {
      for (const { result } of all()) expect(result.body.data.status).toBe("confirmed");
    });

    it("slot is the number of the slot it landed in", async () => {
      for (const { result } of all()) {
        const { slot } = await askChain(given().service, "getTransaction", [
          result.body.data.signature,
          { commitment: "confirmed", maxSupportedTransactionVersion: 1 },
        ]);
        expect(result.body.data.slot).toBe(slot);
      }
    });

    it("platform is the venue that was announced", () => {
      for (const { build, result } of all()) expect(result.body.data.platform).toBe(build.body.data.platform);
    });

    it("inputMint and outputMint are those of the build", () => {
      for (const { build, result } of all()) {
        const { inputMint, outputMint } = build.body.data;
        expect(result.body.data).toMatchObject({ inputMint, outputMint });
      }
    });

    it("tradeResult.inputAmount is what the chain took: the SOL spent by a buy, beside its costs", () => {
      const { lamportsBefore, lamportsAfter, result } = given().buy;
      const { tradeResult, costs } = result.body.data;
      const spent = Math.round(tradeResult.inputAmount * 1e9);
      const paid = [costs.baseFee, costs.priorityFee, costs.tip, costs.rentPaid].reduce((sum, v) => sum + Number(v), 0);
      expect(lamportsBefore - lamportsAfter).toBe(spent + paid - Number(costs.rentReturned));
    });

    it("tradeResult.outputAmount is what the chain gave: the tokens received by a buy", async () => {
      const { buy, mint, trader, service } = given();
      const { meta } = await askChain(service, "getTransaction", [
        buy.result.body.data.signature,
        { commitment: "confirmed", maxSupportedTransactionVersion: 1 },
      ]);
      const held = (balances: Json[]) =>
        balances
          .filter((entry) => entry.owner === trader.address && entry.mint === mint)
          .reduce((sum, entry) => sum + Number(entry.uiTokenAmount.uiAmountString), 0);
      const received = held(meta.postTokenBalances) - held(meta.preTokenBalances);
      expect(buy.result.body.data.tradeResult.outputAmount).toBeCloseTo(received, 9);
    });
  });

  describe("2.5 Limits of the client library", () => {
    it("maxPriceImpact and maxPriorityCost are not needed in a build", () => {
      for (const { request, build } of all()) {
        expect(request).not.toHaveProperty("maxPriceImpact");
        expect(build.status).toBe(200);
      }
    });

    it("estimates.priceImpact and priorityCost give a caller what such limits need, before signing", () => {
      for (const { build } of all()) {
        expect(build.body.data.estimates.priceImpact).toBeTypeOf("number");
        expect(build.body.data.priorityCost).toBeTypeOf("number");
      }
    });
  });
}
