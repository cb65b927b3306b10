import { createAccountReader } from "../../src/chain/account-reader.ts";
import { createChainHead, type LiveChainHead } from "../../src/chain/chain-head.ts";
import { createLanding, type LiveLanding } from "../../src/chain/landing.ts";
import { createNodeLane } from "../../src/chain/lane.ts";
import type { AccountReader, TransactionReader } from "../../src/chain/port.ts";
import { createRpcEndpoint } from "../../src/chain/rpc-endpoint.ts";
import { createRpcPool, type RpcPool } from "../../src/chain/rpc-pool.ts";
import { createRpcStateSource } from "../../src/chain/rpc-state-source.ts";
import type { LiveStateSource } from "../../src/chain/state-source.ts";
import { createSubscriptions, type Subscriptions } from "../../src/chain/subscriptions.ts";
import { createTransactionReader } from "../../src/chain/transaction-reader.ts";

export interface LiveChain {
  readonly pool: RpcPool;
  readonly subscriptions: Subscriptions;
  readonly reader: AccountReader;
  readonly transactions: TransactionReader;
  readonly source: LiveStateSource;
  readonly head: LiveChainHead;
  readonly landing: LiveLanding;
  readonly warnings: readonly string[];
  /** Calls over HTTP so far. */
  calls(): number;
  close(): void;
}

export interface LiveChainOptions {
  readonly rpcUrls: readonly string[];
  readonly wsUrls: readonly string[];
}

/** The whole conversation with a node, put together as the service does it. */
export async function connectChain({ rpcUrls, wsUrls }: LiveChainOptions): Promise<LiveChain> {
  const now = Date.now;
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  let calls = 0;
  const endpoints = rpcUrls
    .map((url) => createRpcEndpoint({ url, now }))
    .map((endpoint) => ({
      ...endpoint,
      call(...args: Parameters<typeof endpoint.call>) {
        calls += 1;
        return endpoint.call(...args);
      },
    }));
  const pool = createRpcPool({ endpoints, now, warn });
  const subscriptions = createSubscriptions({ urls: wsUrls, now, warn });
  const head = await createChainHead({ pool, subscriptions, now, warn });
  const reader = createAccountReader({ pool, commitment: "processed", isCredible: head.isCredible });
  const headSlot = head.slot;
  const source = createRpcStateSource({ reader, subscriptions, now, warn, headSlot, commitment: "processed" });
  const lanes = endpoints.map((endpoint, i) => createNodeLane(endpoint, i, { now, warn: () => {} }));
  const landing = createLanding({ pool, lanes, subscriptions, head, now, warn });
  return {
    pool,
    subscriptions,
    reader,
    transactions: createTransactionReader({ pool }),
    source,
    head,
    landing,
    warnings,
    calls: () => calls,
    close() {
      landing.close();
      head.close();
      source.close();
      subscriptions.close();
    },
  };
}
