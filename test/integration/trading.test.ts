import { VersionedTransaction } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TradeService } from "../../gen/tradewire/v1/trade_pb.ts";
import { signTransaction } from "../../src/client/signature/signing.ts";
import { TradeError } from "../../src/client/trade-error.ts";
import type { Tradewire } from "../../src/client/tradewire.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { createWires } from "../support/wires.ts";

let service: TestService;
let client: Tradewire;
let mint: string;

beforeAll(async () => {
  service = await startTestService();
  client = await service.newClient();
  mint = service.mintOn("raydium_cpmm", "EMBER");
});
afterAll(() => service?.close());

const buyOrder = () => ({ mint, solAmount: 0.1, slippage: 0.05, priority: "fast" as const });
const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "accepted",
    (error: unknown) => (error instanceof TradeError ? error.code : String(error)),
  );
const lamportsOf = (wallet: Tradewire) =>
  service
    .rpc<{ value: number }>("getBalance", [wallet.wallet.publicKey.toString(), { commitment: "processed" }])
    .then(({ value }) => BigInt(value));
/** The counters of a venue, as they are scraped. */
const countersOf = async (venue: string): Promise<Record<string, number>> => {
  const text = await (await fetch(`${service.app.admin.url}/metrics`)).text();
  const line = new RegExp(`^tradewire_venue_(\\w+)_total\\{venue="${venue}"(?:,reason="(\\w+)")?\\} (\\d+)$`, "gm");
  return Object.fromEntries([...text.matchAll(line)].map(([, name, reason, count]) => [reason ?? name, Number(count)]));
};
const transactionCount = () => service.rpc<number>("getTransactionCount", [{ commitment: "processed" }]);

describe("a trade over the whole service", () => {
  test("a buy ends in exactly the balances it was estimated at, and costs what it said", async () => {
    const wallet = await service.newClient(5);
    const before = await lamportsOf(wallet);
    const built = await wallet.buildBuy(buyOrder());
    const trade = await wallet.submit(built.submissionToken, await wallet.sign(built));
    const after = await lamportsOf(wallet);

    expect(trade.status).toBe("confirmed");
    expect(trade.platform).toBe("raydium_cpmm");
    expect(trade.tradeResult).toMatchObject({
      inputAmountRaw: "100000000",
      outputAmountRaw: built.estimates!.outputAmountRaw,
      inputAmount: 0.1,
    });
    const { baseFee, priorityFee, tip, rentPaid, rentReturned } = built.costs!;
    const costs =
      [baseFee, priorityFee, tip, rentPaid].reduce((sum, text) => sum + BigInt(text), 0n) - BigInt(rentReturned);
    expect(before - after).toBe(100_000_000n + costs);
    expect(built.priorityCost).toBe(Number(priorityFee) / 1e9);
    const held = await service.rpc<{
      value: { account: { data: { parsed: { info: { tokenAmount: { amount: string } } } } } }[];
    }>("getTokenAccountsByOwner", [
      wallet.wallet.publicKey.toString(),
      { mint },
      { encoding: "jsonParsed", commitment: "processed" },
    ]);
    expect(held.value.map(({ account }) => account.data.parsed.info.tokenAmount.amount)).toEqual([
      trade.tradeResult!.outputAmountRaw,
    ]);
  });

  test("selling right after buying is exact to the last base unit", async () => {
    const wallet = await service.newClient(5);
    const bought = await wallet.buy(buyOrder());
    const sold = await wallet.sell({
      mint,
      tokenAmount: bought.tradeResult!.outputAmount,
      slippage: 0.05,
      priority: "economy",
    });
    expect(sold.tradeResult!.inputAmountRaw).toBe(bought.tradeResult!.outputAmountRaw);
    expect(await codeOf(wallet.buildSell({ mint, tokenAmount: 1, slippage: 0.05, priority: "fast" }))).toBe(
      "INSUFFICIENT_TOKEN_BALANCE",
    );
  });

  test("exactOut delivers exactly the amount asked for and takes the estimated input", async () => {
    const trade = await client.swap(
      {
        inputMint: "SOL",
        outputMint: mint,
        amount: 12.5,
        swapMode: "exactOut",
        slippage: 0.01,
        priority: "fastest",
      },
      { maxInputAmount: 2 },
    );
    expect(trade.tradeResult!.outputAmount).toBe(12.5);
    expect(trade.inputMint).toBe("So11111111111111111111111111111111111111112");
  });

  test("token for token: two markets in one transaction, exactly as estimated, both modes", async () => {
    const wallet = await service.newClient(20);
    const lumen = service.mintOn("raydium_cpmm", "LUMEN");
    const tithe = service.mintOn("raydium_cpmm", "TITHE");
    await wallet.buy({ ...buyOrder(), mint: lumen, solAmount: 2 });
    for (const [swapMode, amount] of [
      ["exactIn", 500],
      ["exactOut", 300],
    ] as const) {
      for (const slippage of [0, 0.03]) {
        const built = await wallet.buildSwap({
          inputMint: lumen,
          outputMint: tithe,
          amount,
          swapMode,
          slippage,
          priority: "fast",
        });
        expect(built.route).toHaveLength(2);
        expect(built.platform).toBe("raydium_cpmm+raydium_cpmm");
        expect(built.unsignedTransaction.length).toBeLessThanOrEqual(1232);
        const { estimates } = built;
        const signed = await wallet.sign(built, { maxInputAmount: 500 });
        const trade = await wallet.submit(built.submissionToken, signed);
        expect(trade.tradeResult).toMatchObject({
          inputAmountRaw: estimates!.inputAmountRaw,
          outputAmountRaw: estimates!.outputAmountRaw,
        });
      }
    }
  });

  const coin = ({ sandbox }: TestService) =>
    sandbox.world.tokens
      .find(({ venue, quoteMint }) => venue === "pump_fun" && quoteMint !== SOL_MINT)!
      .mint.toString();

  test("a route too large for a version 0 transaction is refused in builds and quotes, with its size and the remedy", async () => {
    const small = await startTestService({ LOOKUP_TABLES: "none" });
    try {
      const wallet = await small.newClient(20);
      const body = { inputMint: "SOL", outputMint: coin(small), amount: 1, swapMode: "exactIn", slippage: 0.01 };
      const built = await small.call("/v1/tx/swap", { ...body, priority: "fast" }, wallet.apiKey);
      const quoted = await small.call("/v1/tx/quote", body, wallet.apiKey);
      for (const { status, body } of [built, quoted]) {
        expect([status, body.error?.code]).toEqual([422, "NO_ROUTE"]);
        const { details, message } = body.error as unknown as { details: Record<string, unknown>; message: string };
        expect(details).toMatchObject({ limitBytes: 1232, remedy: "LOOKUP_TABLES, TRANSACTION_V1" });
        expect(details.transactionBytes).toBeGreaterThan(1232);
        expect(message).toContain(`${details.transactionBytes} bytes`);
      }
    } finally {
      await small.close();
    }
  });

  test("a route too large for a version 0 transaction is built as version 1 if allowed, with the same exactness", async () => {
    const large = await startTestService({ LOOKUP_TABLES: "none", TRANSACTION_V1: "on" });
    try {
      const wallet = await large.newClient(20);
      const built = await wallet.buildBuy({ ...buyOrder(), mint: coin(large) });
      expect(built.unsignedTransaction[0]).toBe(0x81);
      expect(built.unsignedTransaction.length).toBeGreaterThan(1232);
      const { estimates } = built;
      const trade = await wallet.submit(built.submissionToken, await wallet.sign(built));
      expect(trade.tradeResult).toMatchObject({
        inputAmountRaw: estimates!.inputAmountRaw,
        outputAmountRaw: estimates!.outputAmountRaw,
      });
    } finally {
      await large.close();
    }
  });

  test("a quote names the runners-up, routes through a hub among them, none better than the best", async () => {
    const wallet = await service.newClient(20);
    const quote = await service.call(
      "/v1/tx/quote",
      { inputMint: "SOL", outputMint: mint, amount: 1, swapMode: "exactIn", slippage: 0.01 },
      wallet.apiKey,
    );
    const platforms = (quote.body.data!.alternatives as { platform: string; outputAmountRaw: string }[]).map(
      ({ platform }) => platform,
    );
    expect(platforms).toContain("raydium_cpmm+raydium_cpmm");
    const { valueRaw } = quote.body.data as { valueRaw: string };
    const { outputAmountRaw } = quote.body.data!.estimates as { outputAmountRaw: string };
    expect(BigInt(valueRaw)).toBeGreaterThanOrEqual(BigInt(outputAmountRaw));
    for (const other of quote.body.data!.alternatives as { valueRaw: string }[]) {
      expect(BigInt(other.valueRaw)).toBeLessThanOrEqual(BigInt(valueRaw));
    }
  });

  test("repeated submits join and give one answer, and execute once", async () => {
    const built = await client.buildBuy(buyOrder());
    const signed = await client.sign(built);
    const before = await transactionCount();
    const answers = await Promise.all(Array.from({ length: 8 }, () => client.submit(built.submissionToken, signed)));
    const later = await client.submit(built.submissionToken, signed);
    for (const answer of answers) expect(answer).toEqual(later);
    expect((await transactionCount()) - before).toBe(1);
  });

  test("two identical builds are two trades", async () => {
    const [first, second] = await Promise.all([client.buy(buyOrder()), client.buy(buyOrder())]);
    expect(first.signature).not.toBe(second.signature);
  });

  test("a submitted trade can be found and watched by its account alone", async () => {
    const trade = await client.buy(buyOrder());
    const found = await service.call(`/v1/tx/${trade.signature}`, undefined, client.apiKey);
    expect(found.status).toBe(200);
    expect(found.body.data).toMatchObject({
      signature: trade.signature,
      tradeResult: { outputAmountRaw: trade.tradeResult!.outputAmountRaw },
    });
    const stranger = await service.newClient(0);
    const hidden = await service.call(`/v1/tx/${trade.signature}`, undefined, stranger.apiKey);
    expect([hidden.status, hidden.body.error?.code]).toEqual([404, "TRADE_NOT_FOUND"]);
  });

  test("a transaction that lands and fails says why: the price moved beyond slippage", async () => {
    const victim = await service.newClient(5);
    const onePool = service.mintOn("raydium_cpmm", "LUMEN");
    const built = await victim.buildBuy({ ...buyOrder(), mint: onePool, slippage: 0 });
    await client.buy({ ...buyOrder(), mint: onePool, solAmount: 5 });
    const failure = await victim
      .submit(built.submissionToken, await victim.sign(built))
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "SLIPPAGE_EXCEEDED", safeToRebuild: true, retryable: false });
    expect((failure as TradeError).signature).toMatch(/^\w{64,88}$/);
    const again = await victim.submit(built.submissionToken, await victim.sign(built)).catch((error: unknown) => error);
    expect(again).toMatchObject({ code: "SLIPPAGE_EXCEEDED", signature: (failure as TradeError).signature });
  });

  test("what became of each venue is counted: answers, landings, and failures by what they were", async () => {
    const { mint: onePool } = service.sandbox.world.tokens.find(
      ({ venue, symbol }) => venue === "raydium_cpmm" && symbol === "LUMEN",
    )!;
    const pair = { inputMint: "SOL", outputMint: onePool.toString(), swapMode: "exactIn" as const, slippage: 0 };
    const before = await countersOf("raydium_cpmm");
    await client.quote({ ...pair, amount: 0.1 });
    const tooMuch = client.quote({ ...pair, swapMode: "exactOut", amount: 1e9 });
    expect(await codeOf(tooMuch)).toBe("INSUFFICIENT_LIQUIDITY");
    const victim = await service.newClient(5);
    const order = { ...buyOrder(), mint: onePool.toString(), slippage: 0 };
    const built = await victim.buildBuy(order);
    await client.buy({ ...order, solAmount: 5 });
    expect(await codeOf(victim.submit(built.submissionToken, await victim.sign(built)))).toBe("SLIPPAGE_EXCEEDED");
    const after = await countersOf("raydium_cpmm");
    const more = Object.fromEntries(Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]));
    expect(more).toEqual({ quotes: 1, builds: 2, landed: 1, refused: 1, slippage: 1, withheld: 0, failed: 0 });

    // The service has run for less than the minutes that the page shows.
    const shown = async () => {
      const { recent } = (await (await fetch(`${service.url}/status.json`)).json()) as {
        recent: { venues: { id: string }[] };
      };
      return recent.venues.find(({ id }) => id === "raydium_cpmm");
    };
    await expect.poll(shown).toEqual({ id: "raydium_cpmm", ...after });
  });

  test("web3.js decodes the unsigned transaction and reads its one required signature", async () => {
    const built = await client.buildBuy(buyOrder());
    const transaction = VersionedTransaction.deserialize(built.unsignedTransaction);
    expect(transaction.message.header.numRequiredSignatures).toBe(1);
    expect(transaction.message.staticAccountKeys[0]!.toBase58()).toBe(client.wallet.publicKey.toString());
    expect(Buffer.from(transaction.serialize())).toEqual(Buffer.from(built.unsignedTransaction));
    const simulated = await service.rpc<{ value: { err: unknown; unitsConsumed: number } }>("simulateTransaction", [
      Buffer.from(built.unsignedTransaction).toString("base64"),
      { encoding: "base64", sigVerify: false, replaceRecentBlockhash: true },
    ]);
    expect(simulated.value.err).toBeNull();
    const limit = transaction.message.compiledInstructions[0]!.data;
    const units = new DataView(limit.buffer, limit.byteOffset).getUint32(1, true);
    expect(simulated.value.unitsConsumed).toBeLessThanOrEqual(units);
  });

  test("expiresAt has three millisecond digits and lies at most 30 seconds ahead", async () => {
    const built = await client.buildBuy(buyOrder());
    expect(built.expiresAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const ahead = Date.parse(built.expiresAt) - Date.now();
    expect(ahead).toBeGreaterThan(0);
    expect(ahead).toBeLessThanOrEqual(30_000);
  });

  test("the client refuses before signing what exceeds its limits", async () => {
    const built = await client.buildBuy(buyOrder());
    await expect(client.sign(built, { maxPriceImpact: 0 })).rejects.toThrow(/PRICE|moves the price/);
    await expect(client.sign(built, { maxPriorityCost: 0 })).rejects.toThrow(/Priority costs/);
    expect(await codeOf(client.buy(buyOrder(), { maxPriceImpact: 0 }))).toBe("PRICE_IMPACT_TOO_HIGH");
    expect(await codeOf(client.buy(buyOrder(), { maxPriorityCost: 0 }))).toBe("PRIORITY_COST_TOO_HIGH");
  });

  test("a transaction that can no longer land is called expired only when that is proven", async () => {
    const quick = await startTestService({ SANDBOX_SLOT_MS: "20" });
    try {
      const wallet = await quick.newClient(5);
      const built = await wallet.buildBuy({ ...buyOrder(), mint: quick.mintOn("raydium_cpmm") });
      await quick.sandbox.advanceSlots(160);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const failure = await wallet
        .submit(built.submissionToken, await wallet.sign(built))
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "TX_EXPIRED", safeToRebuild: true });
    } finally {
      await quick.close();
    }
  });
});

describe("bad input is answered by its code, and nothing is broadcast", () => {
  const build = (body: object) => service.call("/v1/tx/buy", body, client.apiKey);
  const order = () => ({ mint, solAmount: 0.1, slippage: 0.05, priority: "fast" });
  const without = (field: string) => Object.fromEntries(Object.entries(order()).filter(([name]) => name !== field));

  test.each<[string, () => object, string, string | undefined]>([
    ["no mint", () => without("mint"), "VALIDATION_ERROR", "mint"],
    ["no slippage", () => without("slippage"), "VALIDATION_ERROR", "slippage"],
    ["slippage 1", () => ({ ...order(), slippage: 1 }), "VALIDATION_ERROR", "slippage"],
    ["slippage −0.1", () => ({ ...order(), slippage: -0.1 }), "VALIDATION_ERROR", "slippage"],
    ["slippage NaN", () => ({ ...order(), slippage: "NaN" }), "VALIDATION_ERROR", "slippage"],
    ["solAmount as text", () => ({ ...order(), solAmount: "0.1" }), "VALIDATION_ERROR", "solAmount"],
    ["solAmount 0", () => ({ ...order(), solAmount: 0 }), "VALIDATION_ERROR", "solAmount"],
    ["solAmount below one lamport", () => ({ ...order(), solAmount: 1e-10 }), "VALIDATION_ERROR", "solAmount"],
    ["solAmount beyond u64", () => ({ ...order(), solAmount: 1e30 }), "VALIDATION_ERROR", "solAmount"],
    ["unknown priority", () => ({ ...order(), priority: "turbo" }), "VALIDATION_ERROR", "priority"],
    ["a misspelt field", () => ({ ...without("slippage"), slipage: 0.05 }), "VALIDATION_ERROR", "slipage"],
    ["bad base58", () => ({ ...order(), mint: "0OIl" }), "VALIDATION_ERROR", "mint"],
    [
      "an unknown mint",
      () => ({ ...order(), mint: "8szGkuLTAux9XMgZ2vtY39jVSowEcpBfFfD8hXSEqdGC" }),
      "TOKEN_NOT_FOUND",
      "mint",
    ],
    [
      "SOL for SOL",
      () => ({ ...order(), mint: "So11111111111111111111111111111111111111112" }),
      "VALIDATION_ERROR",
      "mint",
    ],
    ["more SOL than there is", () => ({ ...order(), solAmount: 5_000 }), "INSUFFICIENT_SOL", undefined],
  ])("%s", async (_what, body, code, field) => {
    const { body: answer } = await build(body());
    expect([answer.error?.code, answer.error?.field]).toEqual([code, field]);
  });

  test("the faucet refuses accounts that the chain lets receive nothing, as a fault of the request", async () => {
    for (const account of ["11111111111111111111111111111111", "SysvarC1ock11111111111111111111111111111111"]) {
      const response = await fetch(`${service.url}/faucet`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ walletAddress: account }),
      });
      expect(response.status, account).toBe(400);
      expect(await response.json()).toMatchObject({
        error: { code: "VALIDATION_ERROR", field: "walletAddress", message: expect.stringContaining(account) },
      });
    }
  });

  test("a wallet without SOL learns its address and how to fund it, on every wire, and what it says funds it", async () => {
    const poor = await service.newClient(0);
    const address = poor.wallet.publicKey.toString();
    const { buy, sell, swap } = TradeService.method;
    const terms = { slippage: 0.05, priority: "fast" };
    const pair = { inputMint: "SOL", outputMint: mint, swapMode: "exactIn" };
    const wires = createWires(service.url);
    const words = `POST /faucet {"walletAddress":"${address}"} gives 10 SOL of this chain.`;
    for (const wire of wires) {
      for (const [method, request] of [
        [buy, { ...terms, mint, solAmount: 0.1 }],
        [swap, { ...terms, ...pair, amount: 0.1 }],
      ] as const) {
        const outcome = await wire.call(method, request, `Bearer ${poor.apiKey}`);
        expect(outcome, wire.name).toMatchObject({ code: "INSUFFICIENT_SOL", retryable: false });
        const { message } = outcome as { message: string };
        expect(message, wire.name).toContain(`The wallet ${address} holds 0 SOL; the trade needs `);
        expect(message.endsWith(words), `${wire.name}: ${message}`).toBe(true);
      }
      // A sale of tokens that it lacks is another matter.
      const sale = await wire.call(sell, { ...terms, mint, tokenAmount: 1 }, `Bearer ${poor.apiKey}`);
      expect(sale, wire.name).toMatchObject({ code: "INSUFFICIENT_TOKEN_BALANCE" });
      wire.close();
    }
    const [, verb, path, body] = /(POST) (\/\S+) (\{.*?\})/.exec(words)!;
    const headers = { "content-type": "application/json" };
    expect((await fetch(service.url + path, { method: verb!, headers, body: body! })).status).toBe(200);
    await poor.buy(buyOrder());
    poor.close();
  });

  test("slippage 0 is valid", async () => {
    expect((await build({ ...order(), slippage: 0 })).status).toBe(200);
  });

  test("an amount too small for every market is reported under the request's own field", async () => {
    const dust = { mint, slippage: 0.05, priority: "fast" };
    const errorOf = async (path: string, body: object) => (await service.call(path, body, client.apiKey)).body.error;
    expect(await errorOf("/v1/tx/buy", { ...dust, solAmount: 1e-9 })).toMatchObject({
      code: "VALIDATION_ERROR",
      field: "solAmount",
    });
    await client.buy({ ...order(), priority: "fast" });
    expect(await errorOf("/v1/tx/sell", { ...dust, tokenAmount: 0.000001 })).toMatchObject({
      code: "VALIDATION_ERROR",
      field: "tokenAmount",
    });
  });

  test("exactOut beyond what the pool holds, and the same mint twice", async () => {
    const swap = {
      inputMint: "SOL",
      outputMint: mint,
      amount: 1e9,
      swapMode: "exactOut",
      slippage: 0.05,
      priority: "fast",
    };
    expect((await service.call("/v1/tx/swap", swap, client.apiKey)).body.error).toMatchObject({
      code: "INSUFFICIENT_LIQUIDITY",
      message: "No market holds enough for this trade. Trade less.",
      details: { tried: expect.stringMatching(/^raydium_cpmm \w+: /) },
    });
    const same = { ...swap, inputMint: mint, amount: 1 };
    expect((await service.call("/v1/tx/swap", same, client.apiKey)).body.error).toMatchObject({
      code: "VALIDATION_ERROR",
      field: "outputMint",
    });
  });

  test("keys: none, mistyped, unknown", async () => {
    expect((await service.call("/v1/tx/buy", order())).body.error?.code).toBe("AUTH_ERROR");
    expect((await service.call("/v1/tx/buy", order(), "api_nonsense")).body.error?.code).toBe("AUTH_ERROR");
    expect((await service.call("/v1/tx/buy", order(), `${client.apiKey!.slice(0, -1)}~`)).body.error?.code).toBe(
      "AUTH_ERROR",
    );
  });

  test("broken JSON and a body of 17 KiB", async () => {
    expect((await service.call("/v1/tx/buy", "{", client.apiKey)).body.error?.code).toBe("VALIDATION_ERROR");
    const large = await service.call("/v1/tx/buy", `{"mint":"${"a".repeat(17 * 1024)}"}`, client.apiKey);
    expect([large.status, large.body.error?.code]).toEqual([413, "BODY_TOO_LARGE"]);
  });

  test("submits that differ from the build", async () => {
    const built = await client.buildBuy(buyOrder());
    const signed = await client.sign(built);
    const stranger = await service.newClient(1);
    const before = await transactionCount();
    const submit = (bytes: Uint8Array, token = built.submissionToken, by = client) => codeOf(by.submit(token, bytes));
    const flipped = (at: number) => signed.map((byte, index) => (index === at ? byte ^ 1 : byte));
    expect(await submit(flipped(10))).toBe("INVALID_SIGNATURE");
    expect(await submit(flipped(signed.length - 1))).toBe("MESSAGE_MISMATCH");
    expect(await submit(built.unsignedTransaction)).toBe("NOT_FULLY_SIGNED");
    expect(await submit(await signTransaction(stranger.wallet, built.unsignedTransaction))).toBe("INVALID_SIGNATURE");
    expect(await submit(Uint8Array.of(...signed, 0))).toBe("MESSAGE_MISMATCH");
    expect(await submit(Uint8Array.of(2, ...signed.slice(1, 65), ...signed.slice(1)))).toBe("MESSAGE_MISMATCH");
    expect(await submit(signed, `${built.submissionToken.slice(0, -2)}AA`)).toBe("INVALID_SUBMISSION_TOKEN");
    expect(await submit(signed, built.submissionToken, stranger)).toBe("INVALID_SUBMISSION_TOKEN");
    expect((await transactionCount()) - before).toBe(0);
    expect(await submit(signed)).toBe("accepted");
  });

  test("a submit that reaches its deadline says that it may continue, and can be repeated", async () => {
    const built = await client.buildBuy(buyOrder());
    const signed = await client.sign(built);
    const response = await fetch(`${service.url}/tradewire.v1.TradeService/Submit`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${client.apiKey}`,
        "content-type": "application/json",
        "connect-timeout-ms": "5",
      },
      body: JSON.stringify({
        submissionToken: built.submissionToken,
        signedTransaction: Buffer.from(signed).toString("base64"),
      }),
    });
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({
      code: "deadline_exceeded",
      details: [{ debug: { code: "REQUEST_TIMEOUT", retryable: true, safeToRebuild: false } }],
    });
    expect((await client.submit(built.submissionToken, signed)).status).toBe("confirmed");
  });
});
