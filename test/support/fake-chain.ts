import { NodeError } from "../../src/chain/rpc/node-error.ts";
import type { RpcEndpoint } from "../../src/chain/rpc/rpc-endpoint.ts";
import type { SubscriptionRequest } from "../../src/chain/rpc/subscriptions/held-subscriptions.ts";
import type { SlotListener, Subscriptions } from "../../src/chain/rpc/subscriptions/subscriptions.ts";

export type FakeMethods = Record<string, (...params: never[]) => unknown>;

export interface FakeEndpoint extends RpcEndpoint {
  readonly calls: { readonly method: string; readonly params: readonly unknown[] }[];
  readonly methods: FakeMethods;
  countOf(method: string): number;
}

/** An endpoint without a network: each method answers with what its function returns or throws. */
export function fakeEndpoint(methods: FakeMethods, name = "fake"): FakeEndpoint {
  const calls: FakeEndpoint["calls"] = [];
  return {
    name,
    calls,
    methods,
    countOf: (method) => calls.filter((call) => call.method === method).length,
    doubt: () => {},
    setAside: () => {},
    isAside: () => false,
    isCooling: () => false,
    silentForMs: () => 0,
    async call(method, params) {
      calls.push({ method, params });
      const run = methods[method];
      if (run === undefined) throw new NodeError("refused", `${name} refused ${method}`, { rpcCode: -32601 });
      return run(...(params as never[]));
    },
  };
}

export interface FakeSubscriptions extends Subscriptions {
  /** Reports a slot on the one before it, unless another parent is given; the slot 31 before it is final. */
  slot(slot: bigint, parent?: bigint, root?: bigint): void;
  /** Sends a notice to every subscription of that kind whose first parameter is `key`. */
  notify(kind: string, key: string, result: unknown): void;
  /** Accepts the subscriptions not accepted yet. */
  activate(): void;
  lose(): void;
  count(): number;
  /** How often it was doubted. */
  doubts(): number;
}

/** Subscriptions controlled by the test. */
export function fakeSubscriptions(now: () => number = Date.now): FakeSubscriptions {
  const held = new Set<SubscriptionRequest>();
  const active = new Set<SubscriptionRequest>();
  const slotListeners = new Set<SlotListener>();
  const lostListeners = new Set<() => void>();
  let lastSlot = 0n;
  let lastSlotAtMs = 0;
  let doubts = 0;
  return {
    subscribe(request) {
      held.add(request);
      return () => {
        held.delete(request);
        active.delete(request);
      };
    },
    onSlot(listener) {
      slotListeners.add(listener);
      return () => slotListeners.delete(listener);
    },
    onLost(listener) {
      lostListeners.add(listener);
      return () => lostListeners.delete(listener);
    },
    host: () => undefined,
    lastSlot: () => lastSlot,
    lastSlotAtMs: () => lastSlotAtMs,
    doubt() {
      doubts += 1;
      return true;
    },
    close() {},
    slot(slot, parent = slot - 1n, root = slot > 31n ? slot - 31n : 0n) {
      lastSlot = slot;
      lastSlotAtMs = now();
      for (const listener of slotListeners) listener(slot, { parent, root });
    },
    notify(kind, key, result) {
      for (const request of [...active])
        if (request.kind === kind && request.params[0] === key) request.onNotice(result);
    },
    activate() {
      for (const request of held) {
        if (active.has(request)) continue;
        active.add(request);
        request.onActive?.();
      }
    },
    lose() {
      active.clear();
      for (const listener of lostListeners) listener();
    },
    count: () => held.size,
    doubts: () => doubts,
  };
}
