import { TradewireError } from "../errors/tradewire-error.ts";
import type { LimitSettings } from "./settings.ts";
import { TokenBuckets, type Verdict } from "./token-bucket.ts";

/** What a call is counted as. */
export type CallKind = "build" | "submit" | "read" | "open";

/** What processes on one database tell each other: calls that passed, by policy and name. */
export type Usage = Map<string, number>;

/** Header lines for an answer: names and values in turn. */
export type AnswerHeaders = string[];

interface Policy {
  readonly name: string;
  readonly buckets: TokenBuckets;
  /** The policy as its header says it. */
  readonly described: string;
  readonly perSecond: number;
}

/** Token buckets per key and per address, builds and submits apart. */
export class RateLimits {
  readonly #byKey: Readonly<Record<CallKind, Policy | undefined>>;
  readonly #byAddress: Readonly<Record<CallKind, Policy | undefined>>;
  readonly #policies: ReadonlyMap<string, Policy>;
  readonly #nowMs: () => number;
  #usage: Usage | undefined;

  /** @param nowMs a monotonic clock */
  constructor(settings: LimitSettings, nowMs: () => number) {
    const define = (name: string, perSecond: number) => definePolicy(name, perSecond, settings.burstSeconds);
    this.#byKey = {
      build: define("build", settings.build),
      submit: define("submit", settings.submit),
      read: define("read", settings.read),
      open: undefined,
    };
    this.#byAddress = {
      build: define("address-build", settings.addressBuild),
      submit: define("address-submit", settings.addressSubmit),
      read: undefined,
      open: define("address-open", settings.addressOpen),
    };
    const policies = [...Object.values(this.#byKey), ...Object.values(this.#byAddress)];
    this.#policies = new Map(policies.filter((policy) => policy !== undefined).map((policy) => [policy.name, policy]));
    this.#nowMs = nowMs;
  }

  /** Counts a call from an address. @throws TradewireError RATE_LIMIT_EXCEEDED */
  takeAddress(kind: CallKind, address: string, headers: AnswerHeaders): void {
    this.#take(this.#byAddress[kind], address, headers);
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

function definePolicy(name: string, perSecond: number, burstSeconds: number): Policy | undefined {
  if (perSecond === 0) return undefined;
  const burst = perSecond * burstSeconds;
  return {
    name,
    perSecond,
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

function exceeded({ name, perSecond }: Policy, { retryAfterMs }: Verdict): TradewireError {
  const whose = name.startsWith("address-") ? "this address" : "this API key";
  return new TradewireError(
    "RATE_LIMIT_EXCEEDED",
    `More than ${perSecond} ${name.replace("address-", "")} calls a second from ${whose}. Wait as Retry-After says.`,
    { retryAfterMs: Math.ceil(retryAfterMs) },
  );
}
