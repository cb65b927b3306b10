import { GradualWalk } from "../../../primitives/turns/gradual-walk.ts";
import type { SubscriptionConnection } from "./subscription-connection.ts";

/** A subscription to ask each connection for, and who receives its notices. */
export interface SubscriptionRequest {
  /** The method is `${kind}Subscribe`. */
  readonly kind: "account" | "signature";
  readonly params: readonly unknown[];
  /** Receives the `result` of each notice. */
  onNotice(result: unknown): void;
  /** The node has accepted the subscription: once per connection, so again after every reconnect. */
  onActive?(): void;
}

/** One subscription at the node, shared by all requests that ask for the same. */
interface SharedSubscription {
  readonly kind: SubscriptionRequest["kind"];
  readonly params: readonly unknown[];
  readonly requests: Set<SubscriptionRequest>;
  /** The connection on which it was last requested; undefined, or not the one in use, if it must be requested. */
  askedOn: SubscriptionConnection | undefined;
  /** The node's number for it on that connection, and only there; undefined before the answer. */
  id: number | undefined;
}

/** Subscriptions requested on a new connection before other work gets a turn. */
const ASKED_PER_TURN = 500;

/**
 * The subscriptions in use, and their numbers at the node. A node gives equal subscriptions of one connection one number, and
 * ends all of them when that number is unsubscribed. Equal requests therefore share one subscription, which ends with the
 * last of them, and never before the node has answered.
 *
 * @see agave rpc/src/rpc_subscription_tracker.rs `SubscriptionControl::subscribe`
 */
export class HeldSubscriptions {
  readonly #byKey = new Map<string, SharedSubscription>();
  readonly #byId = new Map<number, SharedSubscription>();
  /**
   * Requests everything on a new connection. Subscriptions that nobody wants any more, and that only waited for their answer on the last
   * one, are dropped.
   */
  readonly #unasked = new GradualWalk(
    () => this.#byKey,
    ([key, shared]) => {
      if (shared.requests.size > 0) this.#ask(key, shared);
      else if (!this.#isAsked(shared)) this.#byKey.delete(key);
    },
    ASKED_PER_TURN,
  );
  /** Keys of subscriptions that the node refused, oldest refusal first: callers that need the accounts poll them meanwhile. */
  readonly #refused = new Set<string>();
  #connection: SubscriptionConnection | undefined;

  /** Keeps the request active on every connection. @returns how to stop */
  add(request: SubscriptionRequest): () => void {
    const key = JSON.stringify([request.kind, request.params]);
    let shared = this.#byKey.get(key);
    if (shared === undefined) {
      const { kind, params } = request;
      shared = { kind, params, requests: new Set(), askedOn: undefined, id: undefined };
      this.#byKey.set(key, shared);
    }
    shared.requests.add(request);
    if (this.#idOf(shared) === undefined) this.#ask(key, shared);
    else this.#reportActive(shared, request);
    return () => this.#remove(key, shared, request);
  }

  /** Subscribes to everything on a new connection. */
  begin(connection: SubscriptionConnection): void {
    this.lose();
    this.#connection = connection;
    this.#unasked.begin();
  }

  /** Requests again subscriptions that the node has refused, the longest refused first. */
  retryRefused(most: number): void {
    for (const key of [...this.#refused].slice(0, most)) {
      this.#refused.delete(key);
      const shared = this.#byKey.get(key);
      if (shared !== undefined) this.#ask(key, shared);
    }
  }

  /** The connection is out of use, and none of its subscriptions counts, however many there are. */
  lose(): void {
    this.#connection = undefined;
    this.#refused.clear();
    this.#unasked.clear();
    this.#byId.clear();
  }

  /** Passes a notice to everyone who asked for it. */
  notice(id: number, result: unknown): void {
    const shared = this.#byId.get(id);
    if (shared === undefined) return;
    if (shared.kind === "signature" && !isReceipt(result)) {
      // The node itself ends it with the notice of the outcome.
      this.#byId.delete(id);
      shared.askedOn = shared.id = undefined;
    }
    for (const request of [...shared.requests]) request.onNotice(result);
  }

  clear(): void {
    this.lose();
    this.#byKey.clear();
  }

  #ask(key: string, shared: SharedSubscription): void {
    const connection = this.#connection;
    if (connection === undefined || shared.askedOn === connection) return;
    shared.askedOn = connection;
    shared.id = undefined;
    connection.request(`${shared.kind}Subscribe`, shared.params, (id) => {
      if (connection !== this.#connection || shared.askedOn !== connection) return;
      if (id === undefined) {
        shared.askedOn = undefined;
        if (shared.requests.size === 0) this.#byKey.delete(key);
        else this.#refused.add(key);
      } else if (shared.requests.size === 0) this.#end(key, shared, id);
      else {
        shared.id = id;
        this.#byId.set(id, shared);
        for (const request of [...shared.requests]) request.onActive?.();
      }
    });
  }

  /** Called after `add` returns, as for a subscription that the node has not accepted yet. */
  #reportActive(shared: SharedSubscription, request: SubscriptionRequest): void {
    const connection = this.#connection;
    queueMicrotask(() => {
      const isActive =
        connection === this.#connection && this.#idOf(shared) !== undefined && shared.requests.has(request);
      if (isActive) request.onActive?.();
    });
  }

  #remove(key: string, shared: SharedSubscription, request: SubscriptionRequest): void {
    if (!shared.requests.delete(request) || shared.requests.size > 0) return;
    const id = this.#idOf(shared);
    if (id !== undefined) this.#end(key, shared, id);
    // Keep a pending one: a second request for the same must not open a second subscription.
    else if (!this.#isAsked(shared)) {
      this.#byKey.delete(key);
      this.#refused.delete(key);
    }
  }

  #isAsked({ askedOn }: SharedSubscription): boolean {
    return askedOn !== undefined && askedOn === this.#connection;
  }

  /** The number of an active subscription. */
  #idOf(shared: SharedSubscription): number | undefined {
    return this.#isAsked(shared) ? shared.id : undefined;
  }

  #end(key: string, shared: SharedSubscription, id: number): void {
    this.#byKey.delete(key);
    this.#byId.delete(id);
    if (this.#connection?.isOpen === true) this.#connection.request(`${shared.kind}Unsubscribe`, [id]);
  }
}

/** True for a notice that a node has received a transaction, which says nothing about its outcome. */
function isReceipt(result: unknown): boolean {
  return typeof result === "object" && result !== null && "value" in result && result.value === "receivedSignature";
}
