import { TradewireError } from "../../errors/tradewire-error.ts";
import { networkOf } from "../http/network-of.ts";
import type { LimitSettings } from "../settings.ts";
import { TokenBuckets, type Verdict } from "./token-bucket.ts";

/** What a call is counted as. */
export type CallKind = "build" | "submit" | "read" | "open" | "register";

/** What processes on one database tell each other: calls that passed, by policy and name. */
export type Usage = Map<string, number>;

/** Header lines for an answer: names and values in turn. */
export type AnswerHeaders = string[];

interface Policy {
  readonly name: string;
  readonly buckets: TokenBuckets;
  /** The policy as its header says it. */
  readonly described: string;
  /** What is told to who exceeds it. */
  readonly exceeded: string;
}

/** Token buckets per key and per address (of IPv6: per /64 network), builds and submits apart. */
export class RateLimits {
  readonly #byKey: Readonly<Record<CallKind, Policy | undefined>>;
  readonly #byAddress: Readonly<Record<CallKind, Policy | undefined>>;
  readonly #failedAuth: Policy | undefined;
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
      open: undefined,
      register: undefined,
    };
    this.#byAddress = {
      build: ofAddress("build", settings.addressBuild),
      submit: ofAddress("submit", settings.addressSubmit),
      read: ofAddress("read", settings.addressRead),
      open: ofAddress("open", settings.addressOpen),
      register: ofAddress("register", settings.addressRegister),
    };
    this.#failedAuth = definePolicy(
      "address-auth",
      settings.addressAuth,
      burstSeconds,
      "calls a second from this address whose API key is missing or not known",
    );
    const policies = [...Object.values(this.#byKey), ...Object.values(this.#byAddress), this.#failedAuth];
    this.#policies = new Map(policies.filter((policy) => policy !== undefined).map((policy) => [policy.name, policy]));
    this.#nowMs = nowMs;
  }

  /** Counts a call from an address. @throws TradewireError RATE_LIMIT_EXCEEDED */
  takeAddress(kind: CallKind, address: string, headers: AnswerHeaders): void {
    this.#take(this.#byAddress[kind], networkOf(address), headers);
  }

  /** Counts a call from an address that brought no key, or a wrong one. @throws TradewireError RATE_LIMIT_EXCEEDED */
  takeFailedAuth(address: string, headers: AnswerHeaders): void {
    this.#take(this.#failedAuth, networkOf(address), headers);
  }

  /**
   * Before a key is looked up: an address has no more look-ups under way than it may still have failures. `endLookUp` must
   * follow.
   * @throws TradewireError RATE_LIMIT_EXCEEDED; then none follows
   */
  beginLookUp(address: string, headers: AnswerHeaders): void {
    const policy = this.#failedAuth;
    if (policy === undefined) return;
    const verdict = policy.buckets.take(networkOf(address), this.#nowMs());
    if (verdict.allowed) return;
    writeHeaders(headers, policy, verdict);
    throw exceeded(policy, verdict);
  }

  /** After a look-up, however it ended. */
  endLookUp(address: string): void {
    this.#failedAuth?.buckets.giveBack(networkOf(address));
  }

  /** Counts a call of a key. @throws TradewireError RATE_LIMIT_EXCEEDED */
  takeKey(kind: CallKind, keyId: string, headers: AnswerHeaders): void {
    this.#take(this.#byKey[kind], keyId, headers);
  }

  #take(policy: Policy | undefined, name: string, headers: AnswerHeaders): void {
    if (policy === undefined) return;
    const verdict = policy.buckets.take(name, this.#nowMs());
    writeHeaders(headers, policy, verdict);
    if (!verdict.allowed) throw exceeded(policy, verdict);
    if (this.#usage !== undefined) {
      const key = `${policy.name} ${name}`;
      this.#usage.set(key, (this.#usage.get(key) ?? 0) + 1);
    }
  }

  /** What passed here since the last time this was asked. From the first time on it is counted. */
  takeUsage(): Usage {
    const usage = this.#usage ?? new Map();
    this.#usage = new Map();
    return usage;
  }

  /** Counts what passed in other processes. */
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
    exceeded: `More than ${perSecond} ${counted}. Wait as Retry-After says.`,
    buckets: new TokenBuckets(perSecond, burst),
    described: `"${name}";q=${burst};w=${burstSeconds}`,
  };
}

/**
 * The policy nearest to its end is the one told: a key's own, unless the address has run out.
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 */
function writeHeaders(headers: AnswerHeaders, { name, described }: Policy, verdict: Verdict): void {
  const state = `"${name}";r=${verdict.remaining};t=${Math.ceil(verdict.resetMs / 1_000)}`;
  headers.length = 0;
  headers.push("RateLimit-Policy", described, "RateLimit", state);
}

function exceeded(policy: Policy, { retryAfterMs }: Verdict): TradewireError {
  return new TradewireError("RATE_LIMIT_EXCEEDED", policy.exceeded, { retryAfterMs: Math.ceil(retryAfterMs) });
}
