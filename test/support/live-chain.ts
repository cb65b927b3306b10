import { createChainHead, type LiveChainHead } from "../../src/chain/head/chain-head.ts";
import { createLanding, type LiveLanding } from "../../src/chain/landing/landing.ts";
import { createNodeSender } from "../../src/chain/landing/sender.ts";
import type { AccountReader } from "../../src/chain/port.ts";
import { createAccountReader } from "../../src/chain/rpc/accounts/account-reader.ts";
import { createRpcEndpoint, type RpcEndpoint } from "../../src/chain/rpc/rpc-endpoint.ts";
import { createRpcPool, type RpcPool } from "../../src/chain/rpc/rpc-pool.ts";
import { createSubscriptions, type Subscriptions } from "../../src/chain/rpc/subscriptions/subscriptions.ts";
import { Witnesses } from "../../src/chain/rpc/witnesses.ts";
import { createRpcStateSource } from "../../src/chain/state/rpc-state-source.ts";
import type { LiveStateSource } from "../../src/chain/state/state-source.ts";
import type { Now } from "../../src/primitives/clock.ts";

export interface LiveChain {
  readonly pool: RpcPool;
  readonly subscriptions: Subscriptions;
  readonly reader: AccountReader;
  readonly source: LiveStateSource;
  readonly head: LiveChainHead;
  readonly landing: LiveLanding;
  readonly warnings: readonly string[];
  /** HTTP calls made so far, of these methods or of all. */
  calls(methods?: readonly string[]): number;
  close(): void;
}

export interface LiveChainOptions {
  readonly rpcUrls: readonly string[];
  readonly wsUrls: readonly string[];
  /** Default: the machine's. */
  readonly now?: Now;
  /** Oldest blockhash and clock answered. Default: the chain head's own. */
  readonly maxAgeMs?: number;
}

/** Everything that talks to nodes, composed as in the service. */
export async function connectChain(options: LiveChainOptions): Promise<LiveChain> {
  const { rpcUrls, wsUrls, now = Date.now, ...ages } = options;
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const calls: string[] = [];
  const endpoints = rpcUrls.map((url): RpcEndpoint => {
    const endpoint = createRpcEndpoint({ url, now });
    return {
      name: endpoint.name,
      call(...args) {
        calls.push(args[0]);
        return endpoint.call(...args);
      },
      doubt: () => endpoint.doubt(),
      setAside: (forMs) => endpoint.setAside(forMs),
      isAside: () => endpoint.isAside(),
      isCooling: () => endpoint.isCooling(),
      silentForMs: () => endpoint.silentForMs(),
    };
  });
  const pool = createRpcPool({ endpoints, now, warn });
  const subscriptions = createSubscriptions({ urls: wsUrls, now, random: Math.random, warn });
  const head = await createChainHead({ pool, subscriptions, now, monotonicMs: () => performance.now(), warn, ...ages });
  const reader = createAccountReader({ pool, commitment: "processed", isCredible: (slot) => head.isCredible(slot) });
  const headSlot = () => head.slot();
  const source = createRpcStateSource({ reader, subscriptions, now, warn, headSlot, commitment: "processed" });
  const senders = endpoints.map((endpoint, i) => createNodeSender(endpoint, i, { now, warn: () => {} }));
  const landing = createLanding({
    pool,
    witnesses: new Witnesses({ pool, now, warn, silentAfterMs: 500 }),
    senders,
    subscriptions,
    head,
    now,
    monotonicMs: () => performance.now(),
    random: Math.random,
    warn,
  });
  return {
    pool,
    subscriptions,
    reader,
    source,
    head,
    landing,
    warnings,
    calls: (methods) => calls.filter((method) => methods?.includes(method) ?? true).length,
    close() {
      landing.close();
      head.close();
      source.close();
      subscriptions.close();
    },
  };
}
