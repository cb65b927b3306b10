import { expect, it } from "vitest";
import { BUY, type Given } from "./given.ts";

export function checkErrors(given: () => Given): void {
  it("every failure has success: false and an error with a code and a message", async () => {
    const { service, mint } = given();
    const failures = [
      await service.post("/v1/tx/buy", "{"),
      await service.post("/v1/tx/buy", "[]"),
      await service.post("/v1/tx/buy", { mint, ...BUY, slipage: 0.1 }),
      await service.post("/v1/tx/buy", { mint, ...BUY }, { apiKey: null }),
      await service.post("/v1/tx/buy", " ".repeat(100_000)),
      await service.post("/v1/tx/nothing", {}),
      await service.get("/v1/tx/buy"),
      await service.post("/v1/tx/buy", { mint: service.mints.get("USDC"), ...BUY, solAmount: 1e9 }),
    ];
    for (const { status, body } of failures) {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
      expect(body.success).toBe(false);
      expect(body.error).toMatchObject({ code: expect.stringMatching(/^[A-Z_]+$/), message: expect.any(String) });
    }
  });

  it("an error reveals no stack trace or source path", async () => {
    const { body } = await given().service.post("/v1/tx/buy", "{");
    expect(JSON.stringify(body)).not.toMatch(/\.ts:|\bat \w+ \(|node_modules/);
  });

  it("a trade fails if the price moves by more than its slippage", async () => {
    const { service, trader, mint } = given();
    const order = { mint, ...BUY, solAmount: 1, slippage: 0 };
    const [first, second] = await Promise.all([
      service.post("/v1/tx/buy", order),
      service.post("/v1/tx/buy", { ...order, solAmount: 2 }),
    ]);
    expect((await trader.submit(first.body.data)).status).toBe(200);
    const { status, body } = await trader.submit(second.body.data);
    expect(status).toBe(422);
    expect(body).toMatchObject({ success: false, error: { code: "SLIPPAGE_EXCEEDED" } });
  });

  it("a trade succeeds if the price moves by less than its slippage", async () => {
    const { service, trader, mint } = given();
    const order = { mint, ...BUY, solAmount: 1, slippage: 0.2 };
    const [first, second] = await Promise.all([
      service.post("/v1/tx/buy", order),
      service.post("/v1/tx/buy", { ...order, solAmount: 2 }),
    ]);
    expect((await trader.submit(first.body.data)).status).toBe(200);
    expect((await trader.submit(second.body.data)).status).toBe(200);
  });
}
