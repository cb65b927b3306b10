import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rpcNode } from "../../src/client/node/rpc-node.ts";
import { TradeError } from "../../src/client/trade-error.ts";
import type { Tradewire } from "../../src/client/tradewire.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { isWhole } from "../support/whole.ts";

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.close());

const terms = { slippage: 0.05, priority: "fast" as const };
const lamportsOf = ({ wallet }: Tradewire) =>
  service
    .rpc<{ value: number }>("getBalance", [wallet.publicKey.toString(), { commitment: "processed" }])
    .then(({ value }) => BigInt(value));

/** Base units of the mint that the wallet holds; undefined without a token account. */
async function heldBy({ wallet }: Tradewire, mint: string): Promise<bigint | undefined> {
  const { value } = await service.rpc<{
    value: { account: { data: { parsed: { info: { tokenAmount: { amount: string } } } } } }[];
  }>("getTokenAccountsByOwner", [
    wallet.publicKey.toString(),
    { mint },
    { encoding: "jsonParsed", commitment: "processed" },
  ]);
  return value[0] === undefined ? undefined : BigInt(value[0].account.data.parsed.info.tokenAmount.amount);
}

/** A client whose own node reads the balance. */
const newClient = (sol: number) => service.newClient(sol, { node: rpcNode(service.sandbox.rpcUrl) });

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "accepted",
    (error: unknown) => (error instanceof TradeError ? `${error.code} ${error.field ?? ""}`.trim() : String(error)),
  );

describe("selling a share of the balance", () => {
  test("sells exactly that share of the balance on the chain; 100 % also returns the rent", async () => {
    for (const symbol of isWhole ? ["EMBER", "QRTZ", "MINTS", "LUMEN"] : ["EMBER", "LUMEN"]) {
      const mint = service.mintOn("raydium_cpmm", symbol);
      const client = await newClient(5);
      const bought = BigInt((await client.buy({ mint, solAmount: 0.2, ...terms })).tradeResult!.outputAmountRaw);

      const part = await client.sell({ mint, sellPercent: 33.3, ...terms });
      expect(BigInt(part.tradeResult!.inputAmountRaw), symbol).toBe((bought * 333n) / 1000n);
      expect(part.costs!.rentReturned).toBe("0");
      const rest = bought - (bought * 333n) / 1000n;
      expect(await heldBy(client, mint)).toBe(rest);

      const before = await lamportsOf(client);
      const built = await client.buildSell({ mint, sellPercent: 100, ...terms });
      const all = await client.submit(built.submissionToken, await client.sign(built));
      const after = await lamportsOf(client);
      expect(BigInt(all.tradeResult!.inputAmountRaw), symbol).toBe(rest);
      expect(await heldBy(client, mint), symbol).toBeUndefined();
      expect(BigInt(built.costs!.rentReturned)).toBeGreaterThan(0n);
      expect(all.costs!.rentReturned).toBe(built.costs!.rentReturned);
      const { baseFee, priorityFee, rentPaid, rentReturned } = all.costs!;
      const beside = BigInt(rentReturned) - BigInt(baseFee) - BigInt(priorityFee) - BigInt(rentPaid);
      expect(after - before, symbol).toBe(BigInt(all.tradeResult!.outputAmountRaw) + beside);
    }
  });

  test("a token account with withheld transfer fees stays open, and the sale is still exact", async () => {
    const mint = service.mintOn("raydium_cpmm", "TITHE");
    const client = await newClient(5);
    await client.buy({ mint, solAmount: 0.2, ...terms });
    const held = await heldBy(client, mint);
    const sold = await client.sell({ mint, sellPercent: 100, ...terms });
    expect(BigInt(sold.tradeResult!.inputAmountRaw)).toBe(held);
    expect(sold.costs!.rentReturned).toBe("0");
    expect(await heldBy(client, mint)).toBe(0n);
  });

  test("works on every venue of the world", async () => {
    const client = await newClient(50);
    const forSol = service.sandbox.world.tokens.filter(({ quoteMint }) => quoteMint === SOL_MINT);
    // The fast tests take one token of each venue and token program.
    const ofEachKind = new Map(forSol.map((token) => [`${token.venue} ${token.program}`, token])).values();
    for (const { mint, venue } of isWhole ? forSol : ofEachKind) {
      const token = mint.toString();
      await client.buy({ mint: token, solAmount: 0.05, ...terms });
      const sold = await client.sell({ mint: token, sellPercent: 100, ...terms });
      expect(sold.status, venue).toBe("confirmed");
      expect((await heldBy(client, token)) ?? 0n, venue).toBe(0n);
    }
  });

  test("refusals name the field", async () => {
    const mint = service.mintOn("raydium_cpmm", "EMBER");
    const client = await newClient(1);
    expect(await codeOf(client.buildSell({ mint, sellPercent: 50, ...terms }))).toBe(
      "INSUFFICIENT_TOKEN_BALANCE sellPercent",
    );
    for (const sellPercent of [0, -1, 100.5, Number.NaN]) {
      expect(await codeOf(client.buildSell({ mint, sellPercent, ...terms }))).toBe("VALIDATION_ERROR sellPercent");
    }
    const both = { mint, tokenAmount: 1, sellPercent: 1, ...terms };
    expect((await service.call("/v1/tx/sell", both, client.apiKey)).body.error).toMatchObject({ field: "tokenAmount" });
    const neither = await service.call("/v1/tx/sell", { mint, ...terms }, client.apiKey);
    expect(neither.body.error).toMatchObject({ code: "VALIDATION_ERROR", field: "tokenAmount" });
    expect(await codeOf(client.buildSell({ mint: "SOL", sellPercent: 1, ...terms }))).toMatch(/^VALIDATION_ERROR/);
  });
});
