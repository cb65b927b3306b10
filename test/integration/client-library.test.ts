import { Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { createKeyPairSignerFromBytes } from "@solana/kit";
import { Keypair } from "@solana/web3.js";
import bs58 from "bs58";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ErrorDetailSchema } from "../../gen/tradewire/v1/errors_pb.ts";
import { TradeService } from "../../gen/tradewire/v1/trade_pb.ts";
import type { TradeStep } from "../../src/client/order/options.ts";
import { TradeError } from "../../src/client/trade-error.ts";
import { Tradewire } from "../../src/client/tradewire.ts";
import type { WalletLike } from "../../src/client/wallet.ts";
import { eventually } from "../support/eventually.ts";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;
let mint: string;

beforeAll(async () => {
  service = await startTestService();
  mint = service.mintOn("raydium_cpmm", "EMBER");
});
afterAll(() => service?.close());

const buyOrder = () => ({ mint, solAmount: 0.1, slippage: 0.05, priority: "fast" as const });

async function funded(
  wallet: WalletLike,
  options: Partial<Parameters<typeof Tradewire.connect>[0]> = {},
): Promise<Tradewire> {
  const client = Tradewire.connect({ baseUrl: service.url, wallet, ...options });
  await service.rpc("requestAirdrop", [client.wallet.publicKey.toString(), 5e9]);
  await client.register();
  return client;
}

const failureOf = (promise: Promise<unknown>): Promise<TradeError> =>
  promise.then(
    () => Promise.reject(new Error("accepted")),
    (error: unknown) => {
      if (error instanceof TradeError) return error;
      throw error;
    },
  );

/** The data of a REST call with the client's key. */
async function rest(client: Tradewire, path: string, body?: object): Promise<object> {
  const headers = { authorization: `Bearer ${client.apiKey}`, "content-type": "application/json" };
  const init = body === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(body) };
  const { data } = (await (await fetch(service.url + path, init)).json()) as { data: object };
  return data;
}

/** Expects only plain objects, lists, texts, numbers, truth values and bytes, and no name that begins with a dollar sign. */
function expectPlain(value: unknown): void {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) {
    expect(typeof value).not.toBe("bigint");
    return;
  }
  expect([Object.prototype, Array.prototype]).toContain(Object.getPrototypeOf(value));
  expect(Object.keys(value).filter((name) => name.startsWith("$"))).toEqual([]);
  Object.values(value).forEach(expectPlain);
}

/** The names and kinds of a result's fields, at every depth; bytes are base64 in JSON. Amounts change from call to call. */
function fieldsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fieldsOf);
  if (value instanceof Uint8Array) return "string";
  if (typeof value !== "object" || value === null) return typeof value;
  const present = Object.entries(value).filter(([, field]) => field !== undefined && field !== null);
  return Object.fromEntries(present.map(([name, field]) => [name, fieldsOf(field)]));
}

describe("wallets", () => {
  const seed = () => crypto.getRandomValues(new Uint8Array(32));

  test("every kind registers and trades", async () => {
    const keypair = Keypair.generate();
    const kit = await createKeyPairSignerFromBytes(Keypair.generate().secretKey);
    const inner = Keypair.generate();
    const signer = Tradewire.connect({ baseUrl: service.url, wallet: inner }).wallet;
    const standard = {
      accounts: [{ address: inner.publicKey.toBase58(), publicKey: inner.publicKey.toBytes() }],
      features: {
        "solana:signMessage": {
          signMessage: async ({ message }: { message: Uint8Array }) => [
            { signature: await signer.signMessageBytes(message) },
          ],
        },
        "solana:signTransaction": {
          signTransaction: async ({ transaction }: { transaction: Uint8Array }) => {
            const signedTransaction = transaction.slice();
            signedTransaction.set(await signer.signMessageBytes(transaction.subarray(65)), 1);
            return [{ signedTransaction }];
          },
        },
      },
    };
    const wallets: Record<string, WalletLike> = {
      "32 bytes": bs58.encode(seed()),
      "64 bytes": bs58.encode(Keypair.generate().secretKey),
      "web3.js": keypair,
      kit: kit as never,
      standard,
      own: { publicKey: inner.publicKey, signMessageBytes: (message) => signer.signMessageBytes(message) },
    };
    for (const [name, wallet] of Object.entries(wallets)) {
      const trade = await (await funded(wallet)).buy(buyOrder());
      expect(trade.status, name).toBe("confirmed");
    }
  });

  test("a wallet that changes the transaction is detected before anything is sent", async () => {
    const client = await funded(bs58.encode(seed()));
    const { publicKey } = client.wallet;
    const changing = Tradewire.connect({
      baseUrl: service.url,
      apiKey: client.apiKey,
      wallet: {
        publicKey,
        signMessageBytes: (message) => client.wallet.signMessageBytes(message),
        signTransaction: async (unsigned) => unsigned.map((byte, index) => (index === 100 ? byte ^ 1 : byte)),
      },
    });
    expect((await failureOf(changing.buy(buyOrder()))).code).toBe("UNEXPECTED_TRANSACTION");
  });

  test("a private key is never repeated in an error", () => {
    expect(() => Tradewire.connect({ baseUrl: service.url, wallet: "not-a-key-0OIl" })).toThrow(/^A private key is/);
  });
});

describe("verification", () => {
  /** A service in the middle that changes what it passes on. */
  const tampering =
    (change: (response: { unsignedTransaction: Uint8Array }) => void): Interceptor =>
    (next) =>
    async (request) => {
      const response = await next(request);
      if (!response.stream && "unsignedTransaction" in response.message) change(response.message as never);
      return response;
    };
  const through = (interceptor: Interceptor) =>
    createConnectTransport({ baseUrl: service.url, httpVersion: "1.1", interceptors: [interceptor] });

  test("a changed transaction is refused before signing, and the reason names it", async () => {
    const client = await funded(Keypair.generate(), {
      transport: through(tampering(({ unsignedTransaction }) => unsignedTransaction.set([2], 66))),
    });
    const failure = await failureOf(client.buy(buyOrder()));
    expect(failure.code).toBe("UNEXPECTED_TRANSACTION");
    expect(failure.message).toContain("2 signatures");
  });

  test('"off" says so loudly, and signs what it is given', async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const client = await funded(Keypair.generate(), { verify: "off" });
    expect(warn.mock.calls.flat().join()).toContain("verification is OFF");
    warn.mockRestore();
    expect((await client.buy(buyOrder())).status).toBe("confirmed");
  });

  test("the caller's limits are enforced on the client", async () => {
    const client = await funded(Keypair.generate());
    const built = await client.buildBuy(buyOrder());
    expect((await failureOf(client.sign(built, { maxPriceImpact: 0 }))).code).toBe("PRICE_IMPACT_TOO_HIGH");
    expect((await failureOf(client.sign(built, { maxPriorityCost: 0 }))).code).toBe("PRIORITY_COST_TOO_HIGH");
    expect((await failureOf(client.sign(built, { minOutputAmount: 1e9 }))).code).toBe("DECIMALS_REQUIRED");
    const decimals = { output: 6 };
    expect((await failureOf(client.sign(built, { minOutputAmount: 1e9, decimals }))).code).toBe("LIMIT_EXCEEDED");
    expect((await failureOf(client.sign(built, { minOutputRaw: `${10n ** 18n}` }))).code).toBe("LIMIT_EXCEEDED");
    await expect(client.sign(built, { maxPriceImpct: 1e-10 } as never)).rejects.toThrow(
      'Did you mean "maxPriceImpact"?',
    );
    expect((await failureOf(client.sign(structuredClone(built)))).code).toBe("UNEXPECTED_TRANSACTION");
    expect((await client.sign(built)).length).toBe(built.unsignedTransaction.length);
    // Limits given with the build hold when others are given to sign, unless those set them anew: one that is undefined sets none.
    const bounded = await client.buildBuy(buyOrder(), { minOutputRaw: `${10n ** 18n}`, requireProof: true });
    expect((await failureOf(client.sign(bounded, { maxPriorityCost: 0.01 }))).code).toBe("LIMIT_EXCEEDED");
    const unset = { minOutputRaw: undefined, requireProof: false };
    expect((await failureOf(client.sign(bounded, unset))).code).toBe("LIMIT_EXCEEDED");
    const setAnew = { minOutputRaw: "1", requireProof: false };
    expect((await client.sign(bounded, setAnew)).length).toBe(bounded.unsignedTransaction.length);
  });
});

describe("a trade", () => {
  test("amounts in base units are exact on every order, and need no decimals", async () => {
    const client = await funded(Keypair.generate());
    const terms = { slippage: 0.05, priority: "fast" } as const;
    const bought = await client.buy({ ...terms, mint, solAmountRaw: "100000001" });
    expect(bought.tradeResult?.inputAmountRaw).toBe("100000001");
    const got = BigInt(bought.tradeResult!.outputAmountRaw);
    const sold = await client.sell({ ...terms, mint, tokenAmountRaw: `${got / 3n}` });
    expect(sold.tradeResult?.inputAmountRaw).toBe(`${got / 3n}`);
    const swapped = await client.swap(
      { ...terms, inputMint: "SOL", outputMint: mint, amountRaw: `${got / 5n}`, swapMode: "exactOut" },
      { maxInputRaw: "100000000" },
    );
    expect(swapped.tradeResult?.outputAmountRaw).toBe(`${got / 5n}`);
    const price = { inputMint: mint, outputMint: "SOL", amountRaw: "12345", swapMode: "exactIn", slippage: 0 } as const;
    expect((await client.quote(price)).estimates?.inputAmountRaw).toBe("12345");
    const both = client.buy({ ...terms, mint, solAmount: 1, solAmountRaw: "1000000000" });
    await expect(both).rejects.toThrow("exactly one of solAmount, solAmountRaw");
    for (const amountRaw of ["0", "1.5", "-1", "1e9", "", "0x10", "9".repeat(21), (2 ** 60) as never]) {
      const order = { ...terms, inputMint: "SOL", outputMint: mint, amountRaw, swapMode: "exactIn" } as const;
      await expect(client.swap(order), amountRaw).rejects.toThrow("base units as a decimal string");
    }
  });

  test("bounds of the route are kept by the service, and held against its answer", async () => {
    const client = await funded(Keypair.generate());
    const only = await client.buildBuy(buyOrder(), { venues: ["raydium_cpmm"], maxPaths: 1, directOnly: true });
    expect(only.route.map(({ venue }) => venue)).toEqual(["raydium_cpmm"]);
    expect((await client.verify(only)).built).toBe(only);
    for (const [limits, reason] of [
      [{ venues: ["pump_fun"] }, "which venues does not list"],
      [{ excludeVenues: ["orca_whirlpool", "raydium_cpmm"] }, "which excludeVenues lists"],
      [{ venues: [] }, "venues is a list of venues"],
      [{ excludeVenues: ["raydium_cpm"] }, 'no venue "raydium_cpm"'],
      [{ maxLegs: 0 }, "maxLegs is a whole number from 1 to 3"],
      [{ maxPaths: 1.5 }, "maxPaths is a whole number from 1 to 4"],
      [{ directOnly: "yes" as never }, "directOnly is true or false"],
      [{ requireChecked: 1 as never }, "requireChecked is true or false"],
      [{ requireChecked: true }, "its quote is not checked on the deployed programs"],
    ] as const) {
      await expect(client.sign(only, limits), reason).rejects.toThrow(reason);
    }
    Object.assign(only.proof!, { checked: true });
    expect(await client.sign(only, { requireChecked: true })).toHaveLength(only.unsignedTransaction.length);
    const unchecked = await failureOf(client.buy(buyOrder(), { requireChecked: true }));
    expect([unchecked.code, unchecked.signature]).toEqual(["VENUE_DEGRADED", undefined]);
    const refused = await failureOf(client.buy(buyOrder(), { venues: ["pump_fun"] }));
    expect([refused.code, refused.signature]).toEqual(["NO_ROUTE", undefined]);
    await expect(client.buy(buyOrder(), { directonly: true } as never)).rejects.toThrow('Did you mean "directOnly"?');
    await expect(client.quote({ ...buyOrder(), maxLegs: 1 } as never)).rejects.toThrow("Unknown key");
  });

  test("reports its steps, and can be found and watched until it is final", async () => {
    const client = await funded(Keypair.generate());
    const steps: TradeStep["step"][] = [];
    const trade = await client.buy(buyOrder(), { onProgress: ({ step }) => steps.push(step) });
    expect(steps).toEqual(["built", "signed", "waiting"]);
    expect(await client.getTrade(trade.signature)).toMatchObject({
      signature: trade.signature,
      tradeResult: trade.tradeResult,
    });
    const seen: string[] = [];
    for await (const { status } of client.watchTrade(trade.signature)) seen.push(status);
    expect(seen.at(-1)).toBe("finalized");
    expect(BigInt(trade.tradeResult!.inputAmountRaw)).toBe(100_000_000n);
    expect(Object.keys(trade.costs!)).toEqual(["baseFee", "priorityFee", "tip", "rentPaid", "rentReturned"]);
  });

  test("every result is a plain object in the words of the REST interface", async () => {
    const client = await funded(Keypair.generate());
    const done = await client.buy(buyOrder());
    const order = { inputMint: "SOL", outputMint: mint, amount: 0.1, swapMode: "exactIn", slippage: 0.05 } as const;
    const built = await client.buildBuy(buyOrder());
    const results = [
      [await client.quote(order), await rest(client, "/v1/tx/quote", order)],
      [await client.priorities(), await rest(client, "/v1/priority")],
      [{ keys: await client.keys() }, await rest(client, "/v1/auth/keys")],
      [await client.getTrade(done.signature), await rest(client, `/v1/tx/${done.signature}`)],
    ] as const;
    for (const [own, answered] of results) {
      expectPlain(own);
      expect(fieldsOf(own)).toEqual(fieldsOf(answered));
    }
    expectPlain(built);
    expect(fieldsOf(built)).toEqual(fieldsOf(await rest(client, "/v1/tx/buy", buyOrder())));
    expect((await client.priorities()).levels.map(({ priority }) => priority)).toEqual([
      "economy",
      "fast",
      "faster",
      "fastest",
    ]);
  });

  test("submit survives lost connections by asking again with the same bytes", async () => {
    let losses = 3;
    const flaky: Interceptor = (next) => async (request) => {
      if (request.method.name === "Submit" && losses > 0) {
        losses -= 1;
        // Half of the losses happen after the service got the bytes.
        if (losses % 2 === 0) await next(request);
        throw new TypeError("fetch failed");
      }
      return next(request);
    };
    const client = await funded(Keypair.generate(), {
      transport: createConnectTransport({ baseUrl: service.url, httpVersion: "1.1", interceptors: [flaky] }),
    });
    const trade = await client.buy(buyOrder());
    expect(trade.status).toBe("confirmed");
    expect(losses).toBe(0);
  });

  test("an aborted call reports the signature if there is one", async () => {
    const client = await funded(Keypair.generate());
    expect((await failureOf(client.buildBuy(buyOrder(), { signal: AbortSignal.abort() }))).code).toBe("ABORTED");
    const stop = new AbortController();
    const failure = await failureOf(
      client.buy(buyOrder(), { signal: stop.signal, onProgress: ({ step }) => step === "waiting" && stop.abort() }),
    );
    expect(failure.code).toBe("ABORTED");
    expect(failure.signature).toMatch(/^[1-9A-HJ-NP-Za-km-z]{80,88}$/);
  });

  test("an expired transaction is rebuilt as often as allowed, and only if the price has not moved", async () => {
    let expiries = 2;
    const expiring: Interceptor = (next) => async (request) => {
      if (request.method.name !== "Submit" || expiries === 0) return next(request);
      expiries -= 1;
      throw new ConnectError("expired", Code.FailedPrecondition, undefined, [
        { desc: ErrorDetailSchema, value: { code: "TX_EXPIRED", message: "expired", safeToRebuild: true } },
      ]);
    };
    const client = await funded(Keypair.generate(), {
      transport: createConnectTransport({ baseUrl: service.url, httpVersion: "1.1", interceptors: [expiring] }),
    });
    const steps: string[] = [];
    const failure = await failureOf(client.buy(buyOrder()));
    expect(failure.code).toBe("TX_EXPIRED");
    const trade = await client.buy(buyOrder(), {
      rebuild: { times: 1, maxPriceMove: 0.05 },
      onProgress: ({ step }) => steps.push(step),
    });
    expect(steps).toEqual(["built", "signed", "waiting", "expired", "built", "signed", "waiting"]);
    expect(trade.status).toBe("confirmed");
    expiries = 1;
    const moved = await failureOf(client.buy(buyOrder(), { rebuild: { times: 1, maxPriceMove: -1 } }));
    expect([moved.code, moved.safeToRebuild]).toEqual(["PRICE_MOVED", true]);
  });

  test("refusals carry the service's details", async () => {
    const client = await funded(Keypair.generate());
    const failure = await failureOf(client.buy({ ...buyOrder(), solAmount: 1000 }));
    expect(failure).toMatchObject({ code: "INSUFFICIENT_SOL", retryable: false });
    const invalid = await failureOf(client.buildBuy({ ...buyOrder(), slippage: 2 }));
    expect(invalid).toMatchObject({ code: "VALIDATION_ERROR", field: "slippage" });
    const offline = Tradewire.connect({ baseUrl: "http://127.0.0.1:9", wallet: Keypair.generate() });
    expect(
      await failureOf(
        offline.quote({ inputMint: "SOL", outputMint: mint, amount: 1, swapMode: "exactIn", slippage: 0 }),
      ),
    ).toMatchObject({
      code: "CONNECTION_ERROR",
      retryable: true,
    });
  });
});

describe("the connection", () => {
  test("stays warm while idle, and closes", async () => {
    const client = await funded(Keypair.generate(), { keepAliveMs: 40 });
    const ping = vi.spyOn(client, "ping");
    await eventually(() => expect(ping.mock.calls.length).toBeGreaterThanOrEqual(2));
    client.close();
    const pings = ping.mock.calls.length;
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(ping.mock.calls.length).toBe(pings);
    const failure = await failureOf(client.priorities());
    expect([failure.code, failure.message]).toEqual(["ABORTED", "This client is closed: connect another."]);
  });

  test("may be of any kind: Connect, gRPC and gRPC-Web, in three lines", async () => {
    const { apiKey } = await funded(Keypair.generate());
    const headers = { authorization: `Bearer ${apiKey}` };
    for (const transport of [
      createConnectTransport({ baseUrl: service.url, httpVersion: "1.1" }),
      createGrpcTransport({ baseUrl: service.url }),
      createGrpcWebTransport({ baseUrl: service.url, httpVersion: "1.1" }),
    ]) {
      const trades = createClient(TradeService, transport);
      const built = await trades.buy({ ...buyOrder(), priority: 2 }, { headers });
      expect(built.unsignedTransaction.length).toBeGreaterThan(200);
      const client = Tradewire.connect({ baseUrl: service.url, wallet: Keypair.generate(), transport });
      expect((await client.priorities()).levels.length).toBe(4);
    }
  });
});
