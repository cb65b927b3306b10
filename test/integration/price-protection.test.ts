import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { QuoteResponse } from "../../gen/tradewire/v1/trade_pb.ts";
import { TradeService } from "../../gen/tradewire/v1/trade_pb.ts";
import type { Tradewire } from "../../src/client/tradewire.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { createWires, type Wire } from "../support/wires.ts";

/** Worst cases that one key may ask for at once. */
const BURST = 15;
const MOVED = { samples: 300, windowSeconds: 1_500, spanSeconds: 60, quantile: 0.95, movement: 0.00421 };

let service: TestService;
let client: Tradewire;
let wires: Wire[];
let mint: string;

beforeAll(async () => {
  service = await startTestService({
    COLD_SEARCHES_PER_KEY: "1",
    COLD_SEARCHES_PER_ADDRESS: "2",
    COLD_SEARCH_BURST_SECONDS: String(BURST),
    TRUSTED_PROXIES: "1",
  });
  client = await service.newClient();
  wires = createWires(service.url);
  mint = service.mintOn("pump_fun");
});
afterAll(async () => {
  client?.close();
  for (const wire of wires ?? []) wire.close();
  await service?.close();
});

const quoteOf = (more: object = {}) => ({
  inputMint: "SOL",
  outputMint: mint,
  amount: 5,
  swapMode: "exactIn",
  slippage: 0.05,
  ...more,
});

interface Quoted {
  readonly estimates: {
    readonly outputAmountRaw: string;
    readonly otherAmountThresholdRaw: string;
    readonly worstCase?: {
      readonly amountRaw: string;
      readonly lossRaw: string;
      readonly markets: readonly { readonly attack: string; readonly takenRaw?: string; readonly boundRaw: string }[];
    };
  };
  readonly route: readonly unknown[];
  readonly priceMovement: { readonly samples: number; readonly spanSeconds: number; readonly movement?: number };
}

describe("the worst case", () => {
  it("is the same over every wire, and says what the slippage may cost", async () => {
    const answers: { readonly name: string; readonly worstCase: unknown }[] = [];
    for (const wire of wires) {
      const outcome = await wire.call(
        TradeService.method.quote,
        quoteOf({ worstCase: true }),
        `Bearer ${client.apiKey}`,
      );
      expect(outcome, wire.name).toHaveProperty("value");
      const { estimates, route } = (outcome as { value: Quoted }).value;
      const { worstCase } = estimates;
      expect(worstCase?.amountRaw, wire.name).toBe(estimates.otherAmountThresholdRaw);
      expect(BigInt(worstCase!.lossRaw)).toBe(BigInt(estimates.outputAmountRaw) - BigInt(worstCase!.amountRaw));
      expect(worstCase?.markets).toHaveLength(new Set(route.map((leg) => (leg as { market: string }).market)).size);
      answers.push({ name: wire.name, worstCase });
    }
    for (const { name, worstCase } of answers) expect(worstCase, name).toEqual(answers[0]!.worstCase);
    const { markets } = answers[0]!.worstCase as NonNullable<Quoted["estimates"]["worstCase"]>;
    expect(markets.some(({ attack, takenRaw }) => attack === "profitable" && BigInt(takenRaw!) > 0n)).toBe(true);
  });

  it("comes with builds that ask for it, and with nothing else", async () => {
    const body = { mint, solAmount: 1, slippage: 0.05, priority: "fast" };
    const plain = await service.call("/v1/tx/buy", body, client.apiKey);
    expect((plain.body.data as unknown as Quoted).estimates.worstCase).toBeNull();
    const asked = await service.call("/v1/tx/buy", { ...body, worstCase: true }, client.apiKey);
    const { estimates } = asked.body.data as unknown as Quoted;
    expect(estimates.worstCase?.amountRaw).toBe(estimates.otherAmountThresholdRaw);
    const quoted = await service.call("/v1/tx/quote", quoteOf(), client.apiKey);
    expect((quoted.body.data as unknown as Quoted).estimates.worstCase).toBeNull();
  });

  it("is limited per key, while plain builds go on", async () => {
    const flooder = await service.newClient();
    const ask = () => service.call("/v1/tx/quote", quoteOf({ worstCase: true }), flooder.apiKey);
    const refused: Awaited<ReturnType<typeof ask>>[] = [];
    // As long as a busy machine answers more slowly than the flood may ask, the flood goes on.
    while (refused.length === 0) {
      const answers = await Promise.all(Array.from({ length: 2 * BURST }, ask));
      refused.push(...answers.filter(({ status }) => status === 429));
    }
    for (const { body } of refused) expect(body.error).toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
    expect(refused[0]!.body.error!.message).toContain("worst cases");
    const body = { mint, solAmount: 1, slippage: 0.05, priority: "fast" };
    expect((await service.call("/v1/tx/buy", body, flooder.apiKey)).status).toBe(200);
    flooder.close();
  });
});

describe("a flood of worst cases over many keys", () => {
  it("is limited per address, while another address has its answers", async () => {
    const clients = await Promise.all(Array.from({ length: 5 }, () => service.newClient()));
    const [other, ...flooders] = clients.map(({ apiKey }) => apiKey);
    const ask = async (apiKey: string | undefined, from: string) => {
      const headers = {
        authorization: `Bearer ${apiKey}`,
        "content-type": "application/json",
        "x-forwarded-for": from,
      };
      const body = JSON.stringify(quoteOf({ worstCase: true }));
      const answer = await fetch(`${service.url}/v1/tx/quote`, { method: "POST", headers, body });
      return { status: answer.status, text: await answer.text() };
    };
    const refused: string[] = [];
    // No key asks for more than its own burst in one round; together they ask for twice what the address may.
    while (refused.length === 0) {
      const flood = flooders.flatMap((key) => Array.from({ length: BURST }, () => ask(key, "10.1.0.1")));
      expect((await ask(other, "10.2.0.1")).status).toBe(200);
      for (const { status, text } of await Promise.all(flood))
        if (status === 429 && text.includes("worst cases were asked for with this address")) refused.push(text);
    }
    expect(refused[0]).toContain("RATE_LIMIT_EXCEEDED");
    for (const one of clients) one.close();
  });
});

describe("slippage by movement", () => {
  /** A client whose service says this of every price's movement. */
  async function clientWith(moved: object | undefined): Promise<Tradewire> {
    const transport = createConnectTransport({
      baseUrl: service.url,
      httpVersion: "1.1",
      interceptors: [
        (next) => async (request) => {
          const response = await next(request);
          if (request.method.name !== "Quote" || response.stream) return response;
          (response.message as unknown as { priceMovement: unknown }).priceMovement = moved && {
            $typeName: "tradewire.v1.PriceMovement",
            ...moved,
          };
          return response as typeof response & { readonly message: QuoteResponse };
        },
      ],
    });
    return service.newClient(10, { transport });
  }
  const order = () => ({ mint, solAmount: 0.05, slippage: "auto", priority: "fast" }) as const;

  it("quotes say what was observed, and a price that was not observed is not guessed", async () => {
    const quoted = await service.call("/v1/tx/quote", quoteOf(), client.apiKey);
    const { priceMovement } = quoted.body.data as unknown as Quoted;
    expect(priceMovement.spanSeconds).toBeGreaterThan(0);
    expect(priceMovement.movement).toBeNull();
    await expect(client.buy(order())).rejects.toMatchObject({ code: "SLIPPAGE_UNKNOWN", signature: undefined });
  });

  it("covers what the price has moved; the trade shows the figures behind it, and their source", async () => {
    const protectedClient = await clientWith(MOVED);
    const trade = await protectedClient.buy(order(), { maxSlippage: 0.02 });
    expect(trade.slippage).toEqual({ ...MOVED, slippage: 0.0043, maxSlippage: 0.02, isCapped: false });
    expect(trade.unproven).toContain("slippage");
    await expect(protectedClient.buy(order(), { requireProof: true })).rejects.toMatchObject({ code: "UNPROVEN" });
    protectedClient.close();
  });

  it("goes by the caller's cap, whatever the service says, and holds a typed slippage to it", async () => {
    const protectedClient = await clientWith({ ...MOVED, movement: 0.9 });
    const built = await protectedClient.buildBuy(order(), { maxSlippage: 0.01 });
    const { outputAmountRaw, otherAmountThresholdRaw } = built.estimates!;
    expect(Number(otherAmountThresholdRaw) / Number(outputAmountRaw)).toBeCloseTo(0.99, 6);
    expect((await protectedClient.verify(built)).slippage).toMatchObject({
      slippage: 0.01,
      isCapped: true,
      movement: 0.9,
    });
    const typed = await protectedClient.buildBuy({ ...order(), slippage: 0.05 }, { maxSlippage: 0.01 });
    await expect(protectedClient.sign(typed)).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    protectedClient.close();
  });
});
