import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, it } from "vitest";
import type { Tradewire } from "../../../src/client/tradewire.ts";
import { type RpcProxy, startRpcProxy } from "../faults/rpc-proxy.ts";
import { followPace } from "./chain-pace.ts";
import { codeOf, patiently } from "./judged-trade.ts";
import { report } from "./table.ts";
import { findValidator } from "./validator.ts";
import { ValidatorBench } from "./validator-service.ts";
import { tokenPerVenue } from "./world-trades.ts";

const PART = "calls";
/** After the last build: what is read for trades has ended. Milliseconds. */
const REST_MS = 15_000;
const COUNTED_SECONDS = 20;
/** After the first build of a token: its search, which is not repeated soon. */
const SEARCH_MS = 5_000;
const TRADING_SECONDS = 20;
const BUILD_EVERY_MS = 250;
const PENDING_SECONDS = 6;

/** Most calls a second over all nodes, as docs/mainnet.md states them for one node and for two. */
const MOST = {
  fresh: { 1: 3.5, 2: 3.5 },
  trading: { 1: 10, 2: 16 },
  rested: { 1: 4, 2: 4 },
  /** Of statuses, for one pending trade: once per slot, and each node may be asked. */
  statuses: { 1: 3.5, 2: 7 },
  sends: { 1: 2, 2: 4 },
} as const;
type Nodes = 1 | 2;
/** Silence of the chain after which accounts are polled, and the calls a second that adds. */
const QUIET_MS = 1_000;
const POLLS = 2.5;

/** The service on one validator behind so many nodes, whose calls are counted. */
class CountedService {
  readonly nodes: Nodes;
  readonly #proxies: readonly RpcProxy[];
  #client!: Tradewire;

  private constructor(proxies: readonly RpcProxy[]) {
    this.#proxies = proxies;
    this.nodes = proxies.length as Nodes;
  }

  static async start(bench: ValidatorBench, nodes: Nodes): Promise<CountedService> {
    const proxies = await Promise.all(Array.from({ length: nodes }, () => startRpcProxy(bench.validator)));
    const counted = new CountedService(proxies);
    const service = await bench.startService({
      SOLANA_RPC_URL: proxies.map(({ url }) => url).join(","),
      SOLANA_WS_URL: proxies.map(({ wsUrl }) => wsUrl).join(","),
      SHADOW_EXECUTION: "guard",
    });
    counted.#client = await bench.newClient(service);
    return counted;
  }

  close(): Promise<unknown> {
    return Promise.all(this.#proxies.map((proxy) => proxy.close()));
  }

  /** Builds one trade after the other over the mints. */
  async buildFor(seconds: number, mints: readonly string[]): Promise<void> {
    const end = performance.now() + seconds * 1_000;
    for (let i = 0; i < mints.length || performance.now() < end; i++) {
      await patiently(() => this.#buy(mints[i % mints.length]!));
      await sleep(BUILD_EVERY_MS);
    }
  }

  /** A trade that is submitted and never reaches a leader. @returns what ends the wait for it */
  async leavePending(mint: string): Promise<() => Promise<unknown>> {
    for (const proxy of this.#proxies) await proxy.set({ sends: "drop" });
    const built = await patiently(() => this.#buy(mint));
    const signed = await this.#client.sign(built);
    const outcome = codeOf(this.#client.submit(built.submissionToken, signed));
    return async () => {
      for (const proxy of this.#proxies) await proxy.heal();
      return outcome;
    };
  }

  /** Calls so far that were repeated on the other node if there is one: a slow machine must not fail the count. */
  slowCalls(): number {
    return this.nodes === 1 ? 0 : this.#proxies.reduce((sum, { slowCalls }) => sum + slowCalls, 0);
  }

  /** Calls a second while `during` runs, by method. Subscriptions are none. */
  async rates(during: () => Promise<unknown>): Promise<Rates> {
    const before = this.#counts();
    const startedMs = performance.now();
    await during();
    const seconds = (performance.now() - startedMs) / 1_000;
    const counts = [...this.#counts()].map(([method, count]) => [method, count - (before.get(method) ?? 0)] as const);
    return new Map(counts.filter(([, count]) => count > 0).map(([method, count]) => [method, count / seconds]));
  }

  #buy(mint: string) {
    return this.#client.buildBuy({ mint, solAmount: 0.01, slippage: 0.05, priority: "fast" });
  }

  #counts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { calls } of this.#proxies)
      for (const [method, count] of calls)
        if (!/[sS]ubscribe$/.test(method)) counts.set(method, (counts.get(method) ?? 0) + count);
    return counts;
  }
}

type Rates = ReadonlyMap<string, number>;

describe.skipIf(findValidator() === undefined)("calls to the nodes, by state of use", () => {
  let bench: ValidatorBench;
  let services: CountedService[];
  let mints: string[];
  beforeAll(async () => {
    bench = await ValidatorBench.start();
    mints = tokenPerVenue(bench.made.world).map(({ mint }) => mint);
    services = [await CountedService.start(bench, 1), await CountedService.start(bench, 2)];
  });
  afterAll(async () => {
    await bench?.close();
    await Promise.all((services ?? []).map((service) => service.close()));
  });

  /** Counts on both services at once, and holds each against its bound. */
  const count = async (
    state: "fresh" | "trading" | "rested",
    during: (service: CountedService) => Promise<unknown>,
  ) => {
    const pace = followPace(bench.ledger);
    const counted = await Promise.all(services.map((service) => countOne(service, () => during(service))));
    await pace.stop();
    // Without live accounts there is nothing to poll.
    const isPolled = state !== "fresh" && pace.longestMs() > QUIET_MS;
    const quiet = isPolled ? `; the chain paused for ${Math.round(pace.longestMs())} ms` : "";
    for (const { nodes, rates, slow } of counted) {
      const total = [...rates.values()].reduce((sum, rate) => sum + rate, 0);
      const most = MOST[state][nodes] + slow + (isPolled ? POLLS : 0);
      const repeated = slow > 0 ? `; up to ${slow.toFixed(1)} of them repeated` : "";
      const measured = `${describeRates(total, rates)}${quiet}${repeated}`;
      report(PART, `${state}, ${nodes} ${nodes === 1 ? "node" : "nodes"}`, measured, [
        ...(total > 0 ? [] : ["nothing was counted"]),
        ...(total <= most ? [] : [`${total.toFixed(1)} a second: more than ${most}`]),
      ]);
    }
  };

  it("a fresh service", async () => {
    await sleep(REST_MS);
    await count("fresh", () => sleep(COUNTED_SECONDS * 1_000));
  });

  it("one that builds trades on markets it knows", async () => {
    await Promise.all(services.map((service) => service.buildFor(1, mints)));
    await sleep(SEARCH_MS);
    await count("trading", (service) => service.buildFor(TRADING_SECONDS, mints));
  });

  it("one whose last build was a while ago", async () => {
    await sleep(REST_MS);
    await count("rested", () => sleep(COUNTED_SECONDS * 1_000));
  });

  it("one with a pending trade", async () => {
    for (const service of services) {
      const end = await service.leavePending(mints[0]!);
      const rates = await service.rates(() => sleep(PENDING_SECONDS * 1_000));
      await end();
      const [statuses, sends] = ["getSignatureStatuses", "sendTransaction"].map((method) => rates.get(method) ?? 0);
      const { nodes } = service;
      const measured = `${statuses!.toFixed(1)} statuses and ${sends!.toFixed(1)} sends a second`;
      report(PART, `pending trade, ${nodes} ${nodes === 1 ? "node" : "nodes"}`, measured, [
        ...(statuses! > 0 && statuses! <= MOST.statuses[nodes] ? [] : [measured]),
        ...(sends! > 0 && sends! <= MOST.sends[nodes] ? [] : [measured]),
      ]);
    }
  });
});

/** Calls a second of one service while `during` runs, and how many of them may be repetitions. */
async function countOne(service: CountedService, during: () => Promise<unknown>) {
  const before = service.slowCalls();
  const startedMs = performance.now();
  const rates = await service.rates(during);
  const slow = ((service.slowCalls() - before) * 1_000) / (performance.now() - startedMs);
  return { nodes: service.nodes, rates, slow };
}

function describeRates(total: number, rates: Rates): string {
  const methods = [...rates].toSorted(([, a], [, b]) => b - a).slice(0, 4);
  const each = methods.map(([method, rate]) => `${method} ${rate.toFixed(1)}`).join(", ");
  return `${total.toFixed(1)} a second: ${each}`;
}
