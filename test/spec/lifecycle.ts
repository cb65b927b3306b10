import bs58 from "bs58";
import { expect, it } from "vitest";
import { BUY, type Given } from "./given.ts";
import { askChain, Trader } from "./trader.ts";

export function checkLifecycle(given: () => Given): void {
  it("built: a valid request is answered with submissionToken, unsignedTransaction and expiresAt", () => {
    const { status, body } = given().buy.build;
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      submissionToken: expect.any(String),
      unsignedTransaction: expect.any(String),
      expiresAt: expect.any(String),
    });
  });

  it("signed: by the caller alone; a transaction that is only built is unknown to the chain", async () => {
    const { service, trader, mint } = given();
    const { data } = (await service.post("/v1/tx/buy", { mint, ...BUY })).body;
    const wire = Buffer.from(trader.signed(data), "base64");
    const { value } = await askChain(service, "getSignatureStatuses", [
      [bs58.encode(wire.subarray(1, 65))],
      { searchTransactionHistory: true },
    ]);
    expect(value).toEqual([null]);
  });

  it("submitted within its window, unchanged: broadcast, confirmed, and answered with signature and amounts", () => {
    const { builtAtMs, build, result } = given().buy;
    expect(builtAtMs).toBeLessThan(Date.parse(build.body.data.expiresAt));
    expect(result.body.data).toMatchObject({ signature: expect.any(String), tradeResult: expect.any(Object) });
  });

  it("submitted without a signature: refused", async () => {
    const { service, mint } = given();
    const { data } = (await service.post("/v1/tx/buy", { mint, ...BUY })).body;
    const { status, body } = await service.post("/v1/tx/submit", {
      submissionToken: data.submissionToken,
      signedTransaction: data.unsignedTransaction,
    });
    expect(status).toBe(400);
    expect(body.error.code).toBe("NOT_FULLY_SIGNED");
  });

  it("submitted with a signature of another key: refused", async () => {
    const { service, mint } = given();
    const { data } = (await service.post("/v1/tx/buy", { mint, ...BUY })).body;
    const { status, body } = await service.post("/v1/tx/submit", {
      submissionToken: data.submissionToken,
      signedTransaction: Trader.create(service).signed(data),
    });
    expect(status).toBe(400);
    expect(body.error.code).toBe("INVALID_SIGNATURE");
  });

  it("submitted again: the same trade, and no second execution", async () => {
    const { service, trader, mint } = given();
    const { data } = (await service.post("/v1/tx/buy", { mint, ...BUY })).body;
    const first = (await trader.submit(data)).body.data;
    const lamports = await askChain(service, "getBalance", [trader.address, { commitment: "confirmed" }]);
    const second = (await trader.submit(data)).body.data;
    expect(second).toMatchObject({ signature: first.signature, slot: first.slot, tradeResult: first.tradeResult });
    expect((await askChain(service, "getBalance", [trader.address, { commitment: "confirmed" }])).value).toBe(
      lamports.value,
    );
  });

  it("expired: submitted after its window it is refused, and a new build trades", async () => {
    const service = given().swift;
    const trader = Trader.demo(service);
    const mint = service.mints.get("EMBER")!;
    const { data } = (await service.post("/v1/tx/buy", { mint, ...BUY })).body;
    const { lastValidBlockHeight } = (await askChain(service, "getLatestBlockhash", [])).value;
    const height = () => askChain(service, "getBlockHeight", [{ commitment: "finalized" }]);
    while ((await height()) <= lastValidBlockHeight) await new Promise((resolve) => setTimeout(resolve, 200));
    expect(Date.now()).toBeGreaterThan(Date.parse(data.expiresAt));
    const { status, body } = await trader.submit(data);
    expect(status).toBe(410);
    expect(body.error.code).toBe("TX_EXPIRED");
    const again = (await service.post("/v1/tx/buy", { mint, ...BUY })).body.data;
    expect((await trader.submit(again)).body.data.status).toBe("confirmed");
  }, 180_000);
}
