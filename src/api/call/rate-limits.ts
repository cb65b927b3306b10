import { TradewireError } from "../../errors/tradewire-error.ts";
import { networkOf } from "../http/network-of.ts";
import type { LimitSettings } from "../settings.ts";
import type { CallKind } from "./access.ts";
import { type LimitNote, type NotedPolicy, notedPolicy } from "./limit-note.ts";
import { type BucketKeeper, TokenBuckets, type Verdict } from "./token-bucket.ts";

/** Calls that passed, by policy and name: what processes on one database exchange. */
export type Usage = Map<string, number>;

/** The calls of one name in an interval between two exchanges, or in several. */
interface Calls {
  count: number;
  /** When its bucket was full before the first of them: other processes' calls count from then. Undefined if it was not in use. */
  fullAtMs: number | undefined;
}

/** The largest debt from calls elsewhere, in exchange intervals: that many processes may each let through the whole policy. */
const MOST_DEBT = 64;
/** Names whose calls are kept beyond an interval while exchanges fail. */
const MOST_OPEN = 100_000;

/** An API key by its public part, and the place of its bucket. */
interface LimitedKey extends BucketKeeper {
  readonly keyId: string;
}

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
  /** Calls since the last exchange; undefined if there are none to exchange with. */
  #calls: Map<string, Calls> | undefined;
  #callsSinceMs = 0;
  /** Those of the interval that ended last, or of several once an exchange fails. */
  #open = new Map<string, Calls>();
  #openSinceMs: number | undefined;
  /**
   * Those of the interval before, with the calls of other processes that were received since: these end their intervals at other times,
   * so what one publishes in an interval of this process may have been called in the one before.
   */
  #earlier = new Map<string, Calls>();
  #earlierSinceMs: number | undefined;
  #openUntilMs = 0;
  #chargedAtMs = 0;

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
  takeKey(kind: CallKind, key: LimitedKey, note: LimitNote): void {
    this.#take(this.#byKey[kind], key.keyId, note, key);
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

  #take(policy: Policy | undefined, name: string, note: LimitNote | undefined, keeper?: BucketKeeper): void {
    if (policy === undefined) return;
    const { buckets } = policy;
    const fullAtMs = this.#calls === undefined ? undefined : buckets.fullAtMs(name);
    const verdict = buckets.take(name, this.#nowMs(), note, keeper);
    note?.set(policy);
    if (!verdict.allowed) throw exceeded(policy, verdict);
    if (this.#calls === undefined) return;
    const key = `${policy.name} ${name}`;
    const calls = this.#calls.get(key);
    if (calls === undefined) this.#calls.set(key, { count: 1, fullAtMs });
    else calls.count += 1;
  }

  /** Ends an interval of exchanges. Counting starts with the first call. @returns the calls that passed in it */
  takeUsage(): Usage {
    const nowMs = this.#nowMs();
    const calls = this.#calls ?? new Map<string, Calls>();
    const usage = new Map(Array.from(calls, ([key, { count }]) => [key, count]));
    if (this.#calls === undefined) this.#chargedAtMs = nowMs;
    else {
      // Calls that others let through while the database is unavailable arrive once they reach it again: within the same time once more.
      if (this.#chargedAtMs < this.#callsSinceMs) this.#openUntilMs = 2 * nowMs - this.#chargedAtMs;
      this.#keepOpen(calls);
    }
    this.#calls = new Map();
    this.#callsSinceMs = nowMs;
    return usage;
  }

  #keepOpen(calls: ReadonlyMap<string, Calls>): void {
    if (this.#open.size + calls.size > MOST_OPEN) this.#end();
    this.#openSinceMs ??= this.#callsSinceMs;
    for (const [key, later] of calls) {
      const before = this.#open.get(key);
      if (before === undefined) this.#open.set(key, later);
      else before.count += later.count;
    }
  }

  #end(): void {
    this.#earlier = this.#open;
    this.#earlierSinceMs = this.#openSinceMs;
    this.#open = new Map();
    this.#openSinceMs = undefined;
  }

  /**
   * Charges what other processes let through, beside what this one did: all of it, or a caller of many processes would have a multiple of
   * the policy. Each call counts as made at the earliest time that it may have been, the beginning of the interval before the one that
   * ended last, so that calls of everywhere that keep to the policy leave no debt, however long the interval is and whichever processes
   * they go to. Exchanges that fail make it longer.
   */
  charge(usage: Usage): void {
    const nowMs = this.#nowMs();
    const sinceMs = this.#openSinceMs ?? this.#callsSinceMs;
    const earliestMs = this.#earlierSinceMs ?? sinceMs;
    const mostDebtMs = MOST_DEBT * (this.#callsSinceMs - sinceMs);
    for (const [key, elsewhere] of usage) {
      const split = key.indexOf(" ");
      const name = key.slice(split + 1);
      const buckets = this.#policies.get(key.slice(0, split))?.buckets;
      if (buckets === undefined) continue;
      const [earlier, here, later] = [this.#earlier.get(key), this.#open.get(key), this.#calls?.get(key)];
      const first = earlier ?? here ?? later;
      const wasFullAtMs = first === undefined ? buckets.fullAtMs(name) : first.fullAtMs;
      const count = elsewhere + (earlier?.count ?? 0);
      const add = (calls: number, fromMs: number) => buckets.charge(name, calls, fromMs, nowMs, mostDebtMs);
      const before = Math.max(add(count, Math.max(wasFullAtMs ?? earliestMs, earliestMs)), sinceMs);
      this.#earlier.set(key, { count, fullAtMs: wasFullAtMs });
      this.#open.set(key, { count: here?.count ?? 0, fullAtMs: before });
      const fullAtMs = add(here?.count ?? 0, before);
      if (later === undefined) continue;
      add(later.count, Math.max(fullAtMs, this.#callsSinceMs));
      later.fullAtMs = fullAtMs;
    }
    this.#chargedAtMs = nowMs;
    if (nowMs >= this.#openUntilMs) this.#end();
  }
}

function definePolicy(name: string, perSecond: number, burstSeconds: number, counted: string): Policy | undefined {
  if (perSecond === 0) return undefined;
  const burst = perSecond * burstSeconds;
  return {
    ...notedPolicy(name, `"${name}";q=${burst};w=${burstSeconds}`),
    exceeded: `More than ${perSecond} ${counted}. Retry after the time in Retry-After.`,
    buckets: new TokenBuckets(perSecond, burst),
  };
}

function exceeded(policy: Policy, { retryAfterMs }: Verdict): TradewireError {
  return new TradewireError("RATE_LIMIT_EXCEEDED", policy.exceeded, { retryAfterMs: Math.ceil(retryAfterMs) });
}
