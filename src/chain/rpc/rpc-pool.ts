import type { Now } from "../../primitives/clock.ts";
import { isOversized } from "../port.ts";
import { NodeSlots } from "./accounts/node-slots.ts";
import { isRefusal, NodeError } from "./node-error.ts";
import type { RpcEndpoint } from "./rpc-endpoint.ts";

/** Which nodes may answer a read, and which answers count. */
export interface ReadOptions {
  readonly timeoutMs?: number;
  /** Index of the endpoint asked first, wrapped. Spreads repeated requests over all of them. */
  readonly startAt?: number;
  /** The one endpoint that may answer; undefined: any of them. */
  readonly only?: RpcEndpoint | undefined;
  /** True for an answer that another endpoint may improve on, such as null from a node that lags. */
  readonly isLacking?: (result: unknown) => boolean;
  /** True: a refusal may concern the form of the request, not the method. */
  readonly isProbe?: boolean;
  /** True for an answer that contradicts the known chain: its endpoint is doubted for a while, and another is asked. */
  readonly isWrong?: (result: unknown) => boolean;
  /** Receives the endpoint whose answer counts. */
  readonly onAnswer?: (endpoint: RpcEndpoint) => void;
}

/** Several nodes that serve the same chain. */
export interface RpcPool {
  readonly endpoints: readonly RpcEndpoint[];
  /** The slots that their answers about accounts named. */
  readonly slots: NodeSlots;
  /**
   * Asks one endpoint; the next one if that fails, and alongside it if it is slow. The first proper answer counts.
   * @throws TradewireError UPSTREAM_ERROR, as the NodeError of the last endpoint asked; of kind "refused" if no endpoint serves the method
   */
  read(method: string, params: readonly unknown[], options?: ReadOptions): Promise<unknown>;
  /**
   * Asks this endpoint alone. Once it has refused a method, it is not asked for it again for a while; only for a short while if it has
   * served it before.
   * @throws TradewireError UPSTREAM_ERROR, as a NodeError
   */
  ask(endpoint: RpcEndpoint, method: string, params: readonly unknown[], timeoutMs?: number): Promise<unknown>;
}

interface RpcPoolOptions {
  readonly endpoints: readonly RpcEndpoint[];
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** How long an endpoint may take before the next is asked as well. */
  readonly hedgeMs?: number;
  /** How long an endpoint is not asked again for a method it refused. */
  readonly refusalMs?: number;
}

const DEFAULT_HEDGE_MS = 400;
const DEFAULT_REFUSAL_MS = 600_000;
/** The same for one that has served the method before; each that follows lasts twice as long as the one before. Milliseconds. */
const SERVED_REFUSAL_MS = 1_000;

/** What an endpoint does with a method. */
interface MethodState {
  hasServed: boolean;
  /** Until when it is not asked, and for how long that was. Milliseconds. */
  refusedUntilMs: number;
  refusedForMs: number;
}

/** Endpoints in order of preference. An unreachable one goes last for a while. */
export function createRpcPool(options: RpcPoolOptions): RpcPool {
  return new FailoverPool(options);
}

class FailoverPool implements RpcPool {
  readonly endpoints: readonly RpcEndpoint[];
  readonly slots: NodeSlots;
  readonly #now: Now;
  readonly #warn: (message: string) => void;
  readonly #hedgeMs: number;
  readonly #refusalMs: number;
  /** By endpoint and method. */
  readonly #methods = new Map<RpcEndpoint, Map<string, MethodState>>();

  constructor(options: RpcPoolOptions) {
    if (options.endpoints.length === 0) throw new RangeError("a pool needs at least one endpoint");
    this.endpoints = options.endpoints;
    this.slots = new NodeSlots(options.now);
    this.#now = options.now;
    this.#warn = options.warn;
    this.#hedgeMs = options.hedgeMs ?? DEFAULT_HEDGE_MS;
    this.#refusalMs = options.refusalMs ?? DEFAULT_REFUSAL_MS;
    for (const endpoint of options.endpoints) this.#methods.set(endpoint, new Map());
  }

  read(method: string, params: readonly unknown[], options: ReadOptions = {}): Promise<unknown> {
    const read = new PoolRead({
      method,
      params,
      options,
      endpoints: this.#order(method, options),
      hedgeMs: this.#hedgeMs,
      now: this.#now,
      slots: this.slots,
      onServed: (endpoint) => this.#noteServed(endpoint, method),
      onRefusal: (endpoint) => this.#noteRefusal(endpoint, method),
    });
    return read.run();
  }

  async ask(endpoint: RpcEndpoint, method: string, params: readonly unknown[], timeoutMs?: number): Promise<unknown> {
    if (this.#isRefused(endpoint, method))
      throw new NodeError("refused", `The Solana node ${endpoint.name} does not serve ${method}.`);
    const askedAtMs = this.#now();
    try {
      const result = await endpoint.call(method, params, timeoutMs);
      this.#noteServed(endpoint, method);
      this.slots.noteAnswer(endpoint, method, params, result, askedAtMs);
      return result;
    } catch (error) {
      if (isRefusal(error)) this.#noteRefusal(endpoint, method);
      throw error;
    }
  }

  #isRefused(endpoint: RpcEndpoint, method: string): boolean {
    const state = this.#methods.get(endpoint)!.get(method);
    return state !== undefined && state.refusedUntilMs > this.#now();
  }

  #stateOf(endpoint: RpcEndpoint, method: string): MethodState {
    const methods = this.#methods.get(endpoint)!;
    let state = methods.get(method);
    if (state === undefined) {
      state = { hasServed: false, refusedUntilMs: Number.NEGATIVE_INFINITY, refusedForMs: 0 };
      methods.set(method, state);
    }
    return state;
  }

  #noteServed(endpoint: RpcEndpoint, method: string): void {
    this.#stateOf(endpoint, method).hasServed = true;
  }

  #order(method: string, { startAt = 0, only }: ReadOptions): readonly RpcEndpoint[] {
    const ready: RpcEndpoint[] = [];
    const cooling: RpcEndpoint[] = [];
    const aside: RpcEndpoint[] = [];
    for (let i = 0; i < this.endpoints.length; i++) {
      const endpoint = this.endpoints[(startAt + i) % this.endpoints.length]!;
      if ((only !== undefined && endpoint !== only) || this.#isRefused(endpoint, method)) continue;
      if (endpoint.isAside()) aside.push(endpoint);
      else (endpoint.isCooling() ? cooling : ready).push(endpoint);
    }
    return cooling.length + aside.length === 0 ? ready : [...ready, ...cooling, ...aside];
  }

  #noteRefusal(endpoint: RpcEndpoint, method: string): void {
    const state = this.#stateOf(endpoint, method);
    // Calls in flight together are refused together; warn once.
    if (state.refusedUntilMs > this.#now()) return;
    // An endpoint that serves some of a method's calls and refuses others counts, before long, as one that serves none.
    const isAgain = this.#now() < state.refusedUntilMs + this.#refusalMs;
    const servedMs = isAgain ? 2 * state.refusedForMs : SERVED_REFUSAL_MS;
    state.refusedForMs = state.hasServed ? Math.min(servedMs, this.#refusalMs) : this.#refusalMs;
    state.refusedUntilMs = this.#now() + state.refusedForMs;
    this.#warn(
      `The Solana node ${endpoint.name} does not serve ${method}; it is not asked again for ${state.refusedForMs / 1000} s.`,
    );
  }
}

interface PoolReadOptions {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly options: ReadOptions;
  /** In the order they are asked. */
  readonly endpoints: readonly RpcEndpoint[];
  readonly hedgeMs: number;
  readonly now: Now;
  readonly slots: NodeSlots;
  readonly onServed: (endpoint: RpcEndpoint) => void;
  readonly onRefusal: (endpoint: RpcEndpoint) => void;
}

/** One read of a pool: asks endpoint after endpoint until one gives a proper answer. */
class PoolRead {
  readonly #parts: PoolReadOptions;
  readonly #answer = Promise.withResolvers<unknown>();
  /** Endpoints asked so far, and those that have not answered yet. */
  #asked = 0;
  #inFlight = 0;
  #isSettled = false;
  #hedge: NodeJS.Timeout | undefined;
  /** How the last endpoint asked failed; undefined: none was asked. */
  #failure: unknown;
  /** Endpoints whose answers were larger than one may be. */
  readonly #oversized: RpcEndpoint[] = [];
  #lacking: { readonly result: unknown } | undefined;

  constructor(parts: PoolReadOptions) {
    this.#parts = parts;
  }

  run(): Promise<unknown> {
    this.#askNext();
    return this.#answer.promise;
  }

  #askNext(): void {
    clearTimeout(this.#hedge);
    if (this.#isSettled) return;
    const endpoint = this.#parts.endpoints[this.#asked++];
    if (endpoint !== undefined) void this.#ask(endpoint);
    else if (this.#inFlight === 0) this.#giveUp();
  }

  async #ask(endpoint: RpcEndpoint): Promise<void> {
    const { method, params, options, endpoints, hedgeMs, now, onRefusal } = this.#parts;
    this.#inFlight += 1;
    // A contradicted node is not asked to make up for a slow one.
    if (endpoints[this.#asked]?.isAside() === false) this.#hedge = setTimeout(() => this.#askNext(), hedgeMs);
    const askedAtMs = now();
    try {
      this.#receive(endpoint, await endpoint.call(method, params, options.timeoutMs), askedAtMs);
    } catch (error) {
      // That one node cannot answer because of the size matters more than that another is away.
      if (isOversized(error)) this.#oversized.push(endpoint);
      if (!isOversized(this.#failure)) this.#failure = error;
      if (isRefusal(error) && options.isProbe !== true) onRefusal(endpoint);
    }
    this.#inFlight -= 1;
    this.#askNext();
  }

  #receive(endpoint: RpcEndpoint, result: unknown, askedAtMs: number): void {
    const { method, params, options, slots, onServed } = this.#parts;
    onServed(endpoint);
    slots.noteAnswer(endpoint, method, params, result, askedAtMs);
    if (options.isWrong?.(result) === true) {
      endpoint.doubt();
      this.#failure = new NodeError(
        "malformed",
        `The Solana node ${endpoint.name} answered ${method} with what contradicts the chain.`,
      );
    } else if (options.isLacking?.(result) === true) this.#lacking = { result };
    else if (!this.#isSettled) {
      this.#isSettled = true;
      clearTimeout(this.#hedge);
      // Another endpoint's answer to the same question had a proper size.
      for (const other of this.#oversized) other.doubt();
      options.onAnswer?.(endpoint);
      this.#answer.resolve(result);
    }
  }

  /** Every endpoint has answered, none properly: an incomplete answer is better than none. */
  #giveUp(): void {
    this.#isSettled = true;
    // Created only now: creating an error costs more than everything else about a successful read.
    this.#failure ??= new NodeError("refused", `No configured Solana node serves ${this.#parts.method}.`);
    if (isOversized(this.#failure) && this.#failure instanceof NodeError)
      this.#failure.isUncertain = this.#oversized.length === 1 && this.#parts.endpoints.length > 1;
    if (this.#lacking === undefined) this.#answer.reject(this.#failure);
    else this.#answer.resolve(this.#lacking.result);
  }
}
