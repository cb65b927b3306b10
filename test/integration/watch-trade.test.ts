import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TradeEventKind, TradeService, type WatchTradeResponse } from "../../gen/tradewire/v1/trade_pb.ts";
import { SwapMode, TradeStatus } from "../../gen/tradewire/v1/types_pb.ts";
import { type BuildEntry, type History, Trader } from "../slow/faults/trader.ts";
import { startTestService, type TestService } from "../support/service.ts";

const history: History = { builds: [], refusedBuilds: [], submits: [], lookUps: [], secrets: [] };
let service: TestService;
let trader: Trader;
let mover: Trader;

beforeAll(async () => {
  service = await startTestService({ SANDBOX_SLOT_MS: "150" });
  // A status that lasts for one slot is missed on a busy machine.
  await service.sandbox.setDelays({ confirmedAfterSlots: 6, finalizedAfterSlots: 32 });
  [trader, mover] = [new Trader(0xa1, history), new Trader(0xa2, history)];
  for (const one of [trader, mover]) {
    await service.rpc("requestAirdrop", [one.address, 1e12]);
    await one.register(service.url);
  }
});
afterAll(() => service?.close());

const build = async (who: Trader, more: object = {}): Promise<BuildEntry> => {
  const mint = service.mintOn("raydium_cpmm", "USDC");
  return (await who.build(service.url, { path: "buy", body: { mint, solAmount: 0.01, slippage: 0.1, ...more } }))!;
};

/** Everything the stream of a trade says, from its first answer on, and the error it may end with. */
async function watch(signature: string): Promise<{ answers: WatchTradeResponse[]; failure: ConnectError | undefined }> {
  const client = createClient(TradeService, createConnectTransport({ baseUrl: service.url, httpVersion: "1.1" }));
  const headers = { authorization: `Bearer ${history.secrets[0]}` };
  for (;;) {
    const answers: WatchTradeResponse[] = [];
    try {
      for await (const answer of client.watchTrade({ signature }, { headers })) answers.push(answer);
      return { answers, failure: undefined };
    } catch (error) {
      const failure = ConnectError.from(error);
      // The submit has not arrived yet.
      if (failure.code !== Code.NotFound) return { answers, failure };
    }
  }
}

test("the life of a submit: sent, processed, confirmed, finalized", async () => {
  const built = await build(trader);
  const watched = watch(built.signature);
  await trader.submit({ name: "service", url: service.url }, built);
  const { answers, failure } = await watched;
  expect(failure).toBeUndefined();
  const events = answers.flatMap((answer) => answer.events);
  expect(events.map(({ kind }) => kind)).toEqual([
    TradeEventKind.SENT,
    TradeEventKind.PROCESSED,
    TradeEventKind.CONFIRMED,
    TradeEventKind.FINALIZED,
  ]);
  expect(events[0]).toMatchObject({ lane: "rpc-1" });
  const last = answers.at(-1)!;
  expect(last.status).toBe(TradeStatus.FINALIZED);
  for (const { slot } of events.slice(1)) expect(slot).toBe(last.slot);
  const times = events.map(({ at }) => Date.parse(at));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(last.tradeResult?.outputAmountRaw).toBe(built.estimates.outputAmountRaw);
});

test("a failed trade ends with what happened and why", async () => {
  const built = await build(trader, { slippage: 0 });
  await mover.submit({ name: "service", url: service.url }, await build(mover, { solAmount: 20 }));
  const watched = watch(built.signature);
  const { error } = await trader.submit({ name: "service", url: service.url }, built);
  expect(error?.code).toBe("SLIPPAGE_EXCEEDED");
  const { answers, failure } = await watched;
  expect(answers.flatMap(({ events }) => events.map(({ kind }) => kind))).toContain(TradeEventKind.PROCESSED);
  expect(failure?.code).toBe(Code.Aborted);
});

test("the account's trades are listed with what was promised and what came of them, on every wire", async () => {
  const lister = new Trader(0xa3, history);
  await service.rpc("requestAirdrop", [lister.address, 1e12]);
  await lister.register(service.url);
  const headers = { authorization: `Bearer ${history.secrets[2]}` };
  const get = async (query = "") => (await fetch(`${service.url}/v1/tx${query}`, { headers })).json();
  expect((await get()).data).toEqual({ trades: [], nextCursor: null });
  const good: BuildEntry[] = [];
  for (const solAmount of [0.01, 0.02]) {
    good.push(await build(lister, { solAmount }));
    await lister.submit({ name: "service", url: service.url }, good.at(-1)!);
  }
  const bad = await build(lister, { slippage: 0 });
  await mover.submit({ name: "service", url: service.url }, await build(mover, { solAmount: 20 }));
  await lister.submit({ name: "service", url: service.url }, bad);

  const { trades, nextCursor } = (await get()).data;
  expect(nextCursor).toBeNull();
  expect(trades.map(({ signature }: BuildEntry) => signature)).toEqual(
    [bad, good[1]!, good[0]!].map((one) => one.signature),
  );
  expect(trades[0]).toMatchObject({
    status: "failed",
    failure: { code: "SLIPPAGE_EXCEEDED", safeToRebuild: true },
    tradeResult: null,
    costs: null,
    platform: "raydium_cpmm",
  });
  for (const [i, one] of [good[1]!, good[0]!].entries()) {
    const trade = trades[i + 1];
    expect(trade).toMatchObject({ status: expect.stringMatching(/^(confirmed|finalized)$/), failure: null });
    expect(trade.quoted.outputAmountRaw).toBe(one.estimates.outputAmountRaw);
    expect(trade.tradeResult).toEqual(trade.quoted);
    expect(Date.parse(trade.endedAt)).toBeGreaterThanOrEqual(Date.parse(trade.submittedAt));
  }

  const first = (await get("?limit=2")).data;
  const second = (await get(`?limit=2&cursor=${first.nextCursor}`)).data;
  const signaturesOf = (page: { trades: BuildEntry[] }) => page.trades.map(({ signature }) => signature);
  expect([...signaturesOf(first), ...signaturesOf(second)]).toEqual(signaturesOf({ trades }));
  expect(signaturesOf((await get("?status=failed")).data)).toEqual([bad.signature]);
  expect(signaturesOf((await get("?status=confirmed&status=finalized")).data)).toHaveLength(2);
  expect(signaturesOf((await get(`?since=${trades[1].submittedAt}&until=${trades[0].submittedAt}`)).data)).toEqual([
    good[1]!.signature,
  ]);
  const refused = {
    "?status=lost": "status[0]",
    "?limit=0": "limit",
    "?since=noon": "since",
    "?since=2026-02-30T00:00:00Z": "since",
    "?until=2026-11-31T00:00:00Z": "until",
    "?since=2026-11-22": "since",
    "?until=2026-11-22T08:00:00": "until",
    "?cursor=x": "cursor",
    "?page=2": "page",
    "?limit=1&limit=2": "limit",
  };
  for (const [query, field] of Object.entries(refused)) {
    expect((await get(query)).error, query).toMatchObject({ code: "VALIDATION_ERROR", field });
  }

  const baseUrl = service.url;
  for (const transport of [
    createConnectTransport({ baseUrl, httpVersion: "1.1" }),
    createGrpcTransport({ baseUrl }),
    createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
  ]) {
    const page = await createClient(TradeService, transport).listTrades({ status: [TradeStatus.FAILED] }, { headers });
    expect(page.trades.map(({ signature, status }) => [signature, status])).toEqual([
      [bad.signature, TradeStatus.FAILED],
    ]);
  }
  // Another account sees nothing of them, also with their cursor.
  const foreign = { authorization: `Bearer ${history.secrets[1]}` };
  const theirs = await (await fetch(`${service.url}/v1/tx?cursor=${first.nextCursor}`, { headers: foreign })).json();
  expect(signaturesOf(theirs.data)).not.toContain(good[0]!.signature);
});

interface EventData {
  readonly signature: string;
  readonly status: string;
  readonly events?: readonly { readonly kind: string }[];
  readonly tradeResult: { readonly outputAmountRaw: string };
  readonly estimates: { readonly outputAmountRaw: string };
  readonly error: { readonly code: string };
}

/** The events of a server-sent stream, until it ends or `most` have come. */
async function readEvents(path: string, key: string, most = Number.POSITIVE_INFINITY) {
  const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${key}` } });
  if (response.status !== 200) return { response, events: [], failure: (await response.json()).error };
  const events: { event: string; data: EventData }[] = [];
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const parts = text.split("\n\n");
    text = parts.pop()!;
    for (const part of parts.filter((one) => !one.startsWith(":"))) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(part)!;
      events.push({ event: event!, data: JSON.parse(data!) });
    }
    if (events.length >= most) break;
  }
  return { response, events, failure: undefined };
}

test("server-sent events carry the messages of the typed stream", async () => {
  const key = history.secrets[0]!;
  const failed = await build(trader, { slippage: 0 });
  await mover.submit({ name: "service", url: service.url }, await build(mover, { solAmount: 20 }));
  const { error } = await trader.submit({ name: "service", url: service.url }, failed);
  expect(error).toMatchObject({ code: "SLIPPAGE_EXCEEDED", safeToRebuild: true, details: { finalized: false } });
  const built = await build(trader);
  const submitting = trader.submit({ name: "service", url: service.url }, built);
  let read = await readEvents(`/v1/tx/${built.signature}/events`, key);
  // The submit has not arrived yet.
  while (read.failure?.code === "TRADE_NOT_FOUND") read = await readEvents(`/v1/tx/${built.signature}/events`, key);
  await submitting;
  expect(read.response.headers.get("content-type")).toBe("text/event-stream");
  expect(read.response.headers.get("x-request-id")).not.toBeNull();
  const { events } = read;
  expect(events.map(({ event }) => event)).toEqual([...events.slice(1).map(() => "trade"), "end"]);
  expect(events.flatMap(({ data }) => data.events ?? []).map(({ kind }) => kind)).toEqual([
    "sent",
    "processed",
    "confirmed",
    "finalized",
  ]);
  expect(events.at(-2)!.data).toMatchObject({ status: "finalized", signature: built.signature });

  // The end of a trade of the past: all typed wires and this one say the same.
  const { answers } = await watch(built.signature);
  const again = await readEvents(`/v1/tx/${built.signature}/events`, key);
  expect(again.events[0]!.data.tradeResult.outputAmountRaw).toBe(answers[0]!.tradeResult!.outputAmountRaw);

  const foreign = await readEvents(`/v1/tx/${built.signature}/events`, history.secrets[1]!);
  expect(foreign.failure).toMatchObject({ code: "TRADE_NOT_FOUND" });
  expect((await readEvents(`/v1/tx/${built.signature}/events`, "")).failure).toMatchObject({ code: "AUTH_ERROR" });

  // Its block comes before one that is final.
  const end = await readEvents(`/v1/tx/${failed.signature}/events`, key);
  const failure = end.failure ?? end.events.at(-1)!.data.error;
  expect(failure).toMatchObject({ code: "SLIPPAGE_EXCEEDED", safeToRebuild: true, details: { finalized: true } });
});

test("a price streams as it changes, and is bounded like calls", async () => {
  const mint = service.mintOn("raydium_cpmm", "USDC");
  const ask = `inputMint=SOL&outputMint=${mint}&amount=0.1&swapMode=exactIn&slippage=0.01`;
  const reading = readEvents(`/v1/quotes/stream?${ask}`, history.secrets[0]!, 2);
  await mover.submit({ name: "service", url: service.url }, await build(mover, { solAmount: 20 }));
  const { events } = await reading;
  expect(events.map(({ event }) => event)).toEqual(["quote", "quote"]);
  const [before, after] = events.map(({ data }) => BigInt(data.estimates.outputAmountRaw));
  expect(after).toBeLessThan(before!);
  for (const [query, field] of [
    [ask.replace("0.1", "-1"), "amount"],
    [`${ask}&amout=1`, "amout"],
    [ask.replace("exactIn", "in"), "swapMode"],
  ]) {
    const { failure } = await readEvents(`/v1/quotes/stream?${query}`, history.secrets[0]!);
    expect(failure, query).toMatchObject({ code: "VALIDATION_ERROR", field });
  }
  const client = createClient(TradeService, createGrpcTransport({ baseUrl: service.url }));
  const request = { inputMint: "SOL", outputMint: mint, amount: 0.1, swapMode: SwapMode.EXACT_IN, slippage: 0.01 };
  for await (const quoted of client.watchQuote(request, {
    headers: { authorization: `Bearer ${history.secrets[0]}` },
  })) {
    expect(quoted.estimates!.outputAmountRaw).toBe(after!.toString());
    break;
  }
});
