import { createRandom } from "../../../src/primitives/random.ts";
import { register, rpc } from "../../slow/edge/service-processes.ts";
import { createTestWallet, type TestWallet } from "../../support/wallet.ts";
import { Http1Lane } from "../wires/http1-lane.ts";
import type { WireRequest } from "../wires/wire-requests.ts";

/** A wallet with its key. */
export interface Trader {
  readonly wallet: TestWallet;
  readonly apiKey: string;
}

/** A signed trade. */
export interface SignedTrade {
  readonly request: WireRequest;
  /** Base64. */
  readonly signed: string;
}

const SEED = 41;
const SOL = 1_000;

/** Registers wallets that hold SOL. */
export async function openTraders(port: number, rpcUrl: string, count: number): Promise<readonly Trader[]> {
  const random = createRandom(SEED);
  const traders: Trader[] = [];
  for (let i = 0; i < count; i++) {
    const wallet = createTestWallet(random.bytes(32));
    await rpc(rpcUrl, "requestAirdrop", [wallet.address.toString(), SOL * 1e9]);
    traders.push({ wallet, apiKey: (await register(port, wallet)).apiKey });
  }
  return traders;
}

/** A buy of a hundredth of a SOL, as a request. */
export function buyOf({ apiKey }: Trader, mint: string): WireRequest {
  return post("/v1/tx/buy", apiKey, { mint, solAmount: 0.01, slippage: 0.5, priority: "fast" });
}

/** Builds and signs buys, the traders and mints in turn. */
export async function signTrades(
  port: number,
  traders: readonly Trader[],
  mints: readonly string[],
  count: number,
): Promise<readonly SignedTrade[]> {
  const trades: SignedTrade[] = [];
  for (let i = 0; i < count; i++) {
    const trader = traders[i % traders.length]!;
    const { path, headers, body } = buyOf(trader, mints[Math.floor(i / traders.length) % mints.length]!);
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", headers, body: Buffer.from(body) });
    const { data, error } = (await answer.json()) as {
      readonly data?: { readonly submissionToken: string; readonly unsignedTransaction: string };
      readonly error?: { readonly code: string; readonly message: string };
    };
    if (data === undefined) throw new Error(`build: ${error?.code} ${error?.message}`);
    const transaction = Buffer.from(data.unsignedTransaction, "base64");
    transaction.set(trader.wallet.sign(transaction.subarray(65)), 1);
    const signed = transaction.toString("base64");
    const submitted = { submissionToken: data.submissionToken, signedTransaction: signed };
    trades.push({ signed, request: post("/v1/tx/submit", trader.apiKey, submitted) });
  }
  return trades;
}

/** Connections by port, kept from batch to batch: clients keep theirs, and what one costs to open is no part of a submit. */
const kept = new Map<number, Http1Lane[]>();

function lanesTo(port: number, count: number): readonly Http1Lane[] {
  const open = (kept.get(port) ?? []).filter(({ isOpen }) => isOpen);
  while (open.length < count) open.push(new Http1Lane(port));
  kept.set(port, open);
  return open.slice(0, count);
}

/** Makes the requests, so many at once. @returns when each was made; epoch milliseconds */
export async function callAll(
  port: number,
  requests: readonly WireRequest[],
  atOnce: number,
): Promise<readonly number[]> {
  const madeAt: number[] = [];
  let next = 0;
  await Promise.all(
    lanesTo(port, atOnce).map(async (lane) => {
      while (next < requests.length) {
        const at = next++;
        madeAt[at] = performance.timeOrigin + performance.now();
        if ((await lane.call(requests[at]!)) === undefined) throw new Error("the service is too busy");
      }
    }),
  );
  return madeAt;
}

/** Makes the requests at even times, whatever the answers take. @returns when each was made; epoch milliseconds */
export async function callSpaced(
  port: number,
  requests: readonly WireRequest[],
  everyMs: number,
): Promise<readonly number[]> {
  const lanes: Http1Lane[] = [];
  const madeAt: number[] = [];
  const calls: Promise<void>[] = [];
  for (const request of requests) {
    await new Promise((resolve) => setTimeout(resolve, everyMs));
    const lane = lanes.pop() ?? (await openLane(port));
    madeAt.push(performance.timeOrigin + performance.now());
    calls.push(lane.call(request).then(() => void lanes.push(lane)));
  }
  await Promise.all(calls);
  for (const lane of lanes) lane.close();
  return madeAt;
}

/** A connection that has carried a call. */
async function openLane(port: number): Promise<Http1Lane> {
  const lane = new Http1Lane(port);
  await lane.call({ path: "/v1/auth/challenge", headers: {}, body: Buffer.from("{}") }).catch(() => {});
  return lane;
}

function post(path: string, apiKey: string, body: object): WireRequest {
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  return { path, headers, body: Buffer.from(JSON.stringify(body)) };
}
