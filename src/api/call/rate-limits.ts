import { TradewireError } from "../../errors/tradewire-error.ts";
import { networkOf } from "../http/network-of.ts";
import type { LimitSettings } from "../settings.ts";
import type { CallKind } from "./access.ts";
import type { LimitNote, NotedPolicy } from "./limit-note.ts";
import { TokenBuckets, type Verdict } from "./token-bucket.ts";

/** Calls that passed, by policy and name: what processes on one database exchange. */
export type Usage = Map<string, number>;

interface Policy extends NotedPolicy {
  readonly buckets: TokenBuckets;
  /** The message of a refusal. */
  readonly exceeded: string;
}

/** Token buckets per API key and per address (IPv6: per /64 network), separately for each kind of call. */
export class RateLimits {
  readonly #byKey: Readonly<Record<CallKind, Policy | undefined>>;
  readonly #byAddress: Readonly<Record<CallKind, Policy | undefined>>;
  readonly #failedAuth: Policy | undefined;
  readonly #pages: Policy | undefined;
  readonly #policies: ReadonlyMap<string, Policy>;
  readonly #nowMs: () => number;
  #usage: Usage | undefined;

  /** @param nowMs a monotonic clock */
  constructor(settings: LimitSettings, nowMs: () => number) {
    const { burstSeconds } = settings;
    const ofKey = (kind: CallKind, perSecond: number) =>
      definePolicy(kind, perSecond, burstSeconds, `${kind} calls a second from this API key`);
    const ofAddress = (kind: CallKind, perSecond: number) =>
      definePolicy(`address-${kind}`, perSecond, burstSeconds, `${kind} calls a second from this address`);
    this.#byKey = {
      build: ofKey("build", settings.build),
      submit: ofKey("submit", settings.submit),
      read: ofKey("read", settings.read),
      query: ofKey("query", settings.query),
      open: undefined,
      register: undefined,
    };
    this.#byAddress = {
      build: ofAddress("build", settings.addressBuild),
      submit: ofAddress("submit", settings.addressSubmit),
      read: ofAddress("read", settings.addressRead),
      query: ofAddress("query", settings.addressQuery),
      open: ofAddress("open", settings.addressOpen),
      register: ofAddress("register", settings.addressRegister),
    };
    this.#failedAuth = definePolicy(
      "address-auth",
      settings.addressAuth,
      burstSeconds,
      "calls a second from this address whose API key is missing or unknown",
    );
    this.#pages = definePolicy(
      "address-page",
      settings.addressPage,
      burstSeconds,
      "documents and pages a second from this address",
    );
    const others = [this.#failedAuth, this.#pages];
    const policies = [...Object.values(this.#byKey), ...Object.values(this.#byAddress), ...others];
    this.#policies = new Map(policies.filter((policy) => policy !== undefined).map((policy) => [policy.name, policy]));
    this.#nowMs = nowMs;
  }

  /** Counts a call from an address. @throws TradewireError RATE_LIMIT_EXCEEDED */
  takeAddress(kind: CallKind, address: string, note?: LimitNote): void {
    this.#take(this.#byAddress[kind], networkOf(address), note);
  }

  /** Counts a document or page read from an address. @throws TradewireError RATE_LIMIT_EXCEEDED */
  takePage(address: string, note: LimitNote): void {
    this.#take(this.#pages, networkOf(address), note);
  }

  /** Counts a call from an address without a valid API key. @throws TradewireError RATE_LIMIT_EXCEEDED */
  takeFailedAuth(address: string, note: LimitNote): void {
    this.#take(this.#failedAuth, networkOf(address), note);
  }

  /**
   * Reserves one failure of the address for a key look-up, so that look-ups in flight never exceed the failures left.
   * `endLookUp` must follow, unless this throws.
   * @throws TradewireError RATE_LIMIT_EXCEEDED
   */
  beginLookUp(address: string, note: LimitNote): void {
    const policy = this.#failedAuth;
    if (policy === undefined) return;
    const verdict = policy.buckets.take(networkOf(address), this.#nowMs());
    if (verdict.allowed) return;
    note?.set(policy, verdict);
    throw exceeded(policy, verdict);
  }

  /** Releases the reservation of a look-up, whatever its outcome. */
  endLookUp(address: string): void {
    this.#failedAuth?.buckets.giveBack(networkOf(address));
  }

  /** Counts a call of an API key. @throws TradewireError RATE_LIMIT_EXCEEDED */
  takeKey(kind: CallKind, keyId: string, note: LimitNote): void {
    this.#take(this.#byKey[kind], keyId, note);
  }

  /** The refusal of a call by the limit of its address; undefined, with nothing written, if it has room. Counts nothing. */
  refusalByAddress(kind: CallKind, address: string, note: LimitNote): TradewireError | undefined {
    return this.#refusal(this.#byAddress[kind], networkOf(address), note);
  }

  /** The refusal of a call by the limit of its key; undefined, with nothing written, if it has room. Counts nothing. */
  refusalByKey(kind: CallKind, keyId: string, note: LimitNote): TradewireError | undefined {
    return this.#refusal(this.#byKey[kind], keyId, note);
  }

  #refusal(policy: Policy | undefined, name: string, note: LimitNote): TradewireError | undefined {
    const verdict = policy?.buckets.refusal(name, this.#nowMs());
    if (policy === undefined || verdict === undefined) return undefined;
    note?.set(policy, verdict);
    return exceeded(policy, verdict);
  }

  #take(policy: Policy | undefined, name: string, note: LimitNote | undefined): void {
    if (policy === undefined) return;
    const verdict = policy.buckets.take(name, this.#nowMs());
    note?.set(policy, verdict);
    if (!verdict.allowed) throw exceeded(policy, verdict);
    if (this.#usage !== undefined) {
      const key = `${policy.name} ${name}`;
      this.#usage.set(key, (this.#usage.get(key) ?? 0) + 1);
    }
  }

  /** Returns the calls that passed since the previous call of this method. Counting starts with the first. */
  takeUsage(): Usage {
    const usage = this.#usage ?? new Map();
    this.#usage = new Map();
    return usage;
  }

  /** Charges calls that other processes let through. */
  charge(usage: Usage): void {
    const nowMs = this.#nowMs();
    for (const [key, calls] of usage) {
      const split = key.indexOf(" ");
      this.#policies.get(key.slice(0, split))?.buckets.charge(key.slice(split + 1), calls, nowMs);
    }
  }
}

function definePolicy(name: string, perSecond: number, burstSeconds: number, counted: string): Policy | undefined {
  if (perSecond === 0) return undefined;
  const burst = perSecond * burstSeconds;
  return {
    name,
    exceeded: `More than ${perSecond} ${counted}. Retry after the time in Retry-After.`,
    buckets: new TokenBuckets(perSecond, burst),
    described: `"${name}";q=${burst};w=${burstSeconds}`,
  };
}

function exceeded(policy: Policy, { retryAfterMs }: Verdict): TradewireError {
  return new TradewireError("RATE_LIMIT_EXCEEDED", policy.exceeded, { retryAfterMs: Math.ceil(retryAfterMs) });
}
