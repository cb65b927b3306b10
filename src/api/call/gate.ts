import type { DescMethod } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { AccountService } from "../../../gen/tradewire/v1/account_pb.ts";
import { TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import type { KeyDirectory, Principal } from "../../accounts/port.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { ApiLogger } from "../settings.ts";
import { needsKey } from "./access.ts";
import type { Admission } from "./admission.ts";
import type { CallObserver } from "./call-record.ts";
import { type CallState, monotonicMs } from "./call-state.ts";
import { failureOf } from "./failure.ts";
import type { CallKind, RateLimits } from "./rate-limits.ts";
import { checkRequest } from "./validation.ts";

const { buy, sell, swap, quote, submit } = TradeService.method;
const BUILDS: ReadonlySet<DescMethod> = new Set([buy, sell, swap, quote]);
const { createChallenge, register } = AccountService.method;

/** What a call is limited as; undefined for those that concern the server itself, such as health. */
export function kindOf(method: DescMethod): CallKind | undefined {
  if (BUILDS.has(method)) return "build";
  if (method === submit) return "submit";
  if (method === createChallenge || method === register) return "register";
  if (method.parent !== TradeService && method.parent !== AccountService) return undefined;
  return needsKey(method) ? "read" : "open";
}

/** A call as the gate sees it, on whichever wire. */
export interface GatedCall {
  readonly method: DescMethod;
  readonly state: CallState;
  /** A request header by its lower-case name. */
  headerOf(name: string): string | undefined;
  /** What is asked; undefined for streams, whose messages are checked as they come. */
  readonly message: Parameters<typeof checkRequest>[1] | undefined;
}

interface GateParts {
  readonly keys: KeyDirectory;
  readonly logger: ApiLogger;
  readonly limits: RateLimits;
  readonly admission: Admission;
  readonly observe: CallObserver;
}

/** A node that is away fails every call that needs it: one line in the log tells as much as a thousand. */
const UPSTREAM_QUIET_MS = 100;

interface Rules {
  readonly kind: CallKind | undefined;
  readonly needsKey: boolean;
}

/**
 * What every call passes on every wire before it is served, in this order: there is room for it, its caller is known and
 * within their limits, the request is sound.
 */
export class Gate {
  readonly #parts: GateParts;
  readonly #rules = new Map<DescMethod, Rules>();
  #quietUntilMs = 0;

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  /** Lets a call in; waits where its turn has not come, or its key has to be looked up. `leave` must follow, also when this fails. @throws TradewireError */
  enter(call: GatedCall): void | Promise<void> {
    const { limits, admission } = this.#parts;
    const { state } = call;
    const rules = this.#rulesOf(call.method);
    const { kind } = rules;
    if (kind !== undefined) {
      limits.takeAddress(kind, state.peer, state.headers);
      const turn = admission.enter(kind);
      if (turn !== undefined) {
        return turn.then(() => {
          state.entered = kind;
          state.stages.mark("wait");
          return this.#admit(call, rules);
        });
      }
      state.entered = kind;
    }
    return this.#admit(call, rules);
  }

  /** Once there is room for the call. */
  #admit(call: GatedCall, rules: Rules): void | Promise<void> {
    const { kind } = rules;
    if (!rules.needsKey) return this.#check(call);
    const principal = this.#authenticate(call);
    if (principal instanceof Promise) return principal.then((known) => this.#recognise(call, kind, known));
    this.#recognise(call, kind, principal);
  }

  /** A key in memory is known at once. Looking up others, and failing, is what an address may do so often. */
  #authenticate(call: GatedCall): Principal | Promise<Principal> {
    const { state } = call;
    try {
      const apiKey = bearerOf(call.headerOf("authorization"));
      const found = this.#parts.keys.recall(apiKey) ?? this.#lookUp(apiKey, state);
      return found instanceof Promise ? found.catch((error) => this.#failAuth(error, state)) : found;
    } catch (error) {
      return this.#failAuth(error, state);
    }
  }

  async #lookUp(apiKey: string, state: CallState): Promise<Principal> {
    const { keys, limits } = this.#parts;
    limits.beginLookUp(state.peer, state.headers);
    try {
      return await keys.authenticate(apiKey);
    } finally {
      limits.endLookUp(state.peer);
    }
  }

  #failAuth(error: unknown, { peer, headers }: CallState): never {
    if (failureOf(error).code === "AUTH_ERROR") this.#parts.limits.takeFailedAuth(peer, headers);
    throw error;
  }

  #recognise(call: GatedCall, kind: CallKind | undefined, principal: Principal): void {
    const { state } = call;
    state.principal = principal;
    state.stages.mark("auth");
    if (kind !== undefined) this.#parts.limits.takeKey(kind, principal.keyId, state.headers);
    this.#check(call);
  }

  #check(call: GatedCall): void {
    const { message } = call;
    if (message === undefined) return;
    checkRequest(call.method.input, message);
    call.state.stages.mark("validate");
  }

  /** Takes note of how a call ended: with the error it failed with, if it did. */
  leave(call: GatedCall, error?: unknown): void {
    const { method, state } = call;
    const { kind } = this.#rulesOf(method);
    const code = error === undefined ? "OK" : error instanceof ConnectError ? "PROTOCOL" : this.#codeOf(call, error);
    if (kind === undefined) return;
    if (state.entered !== undefined) this.#parts.admission.leave(state.entered);
    if (kind === "build") state.headers.push("Server-Timing", state.stages.describe());
    this.#parts.observe({
      method: method.name,
      requestId: state.requestId,
      code,
      durationMs: monotonicMs() - state.stages.startMs,
      stages: state.stages,
      keyId: state.principal?.keyId,
      traceparent: call.headerOf("traceparent"),
    });
  }

  #codeOf({ method, state }: GatedCall, error: unknown): string {
    const failure = failureOf(error);
    const { requestId } = state;
    if (failure.code === "INTERNAL_ERROR") {
      this.#parts.logger.error({ err: failure.cause ?? failure, requestId, method: method.name }, "call failed");
    } else if (failure.code === "UPSTREAM_ERROR" && monotonicMs() >= this.#quietUntilMs) {
      this.#quietUntilMs = monotonicMs() + UPSTREAM_QUIET_MS;
      this.#parts.logger.warn({ err: failure.cause ?? failure, requestId, method: method.name }, "upstream failed");
    }
    return failure.code;
  }

  #rulesOf(method: DescMethod): Rules {
    let rules = this.#rules.get(method);
    if (rules === undefined) {
      rules = { kind: kindOf(method), needsKey: needsKey(method) };
      this.#rules.set(method, rules);
    }
    return rules;
  }
}

const BEARER = /^Bearer +(\S+)$/i;

/** The key in an Authorization header. @throws TradewireError AUTH_ERROR */
function bearerOf(header: string | undefined): string {
  const apiKey = header === undefined ? undefined : BEARER.exec(header)?.[1];
  if (apiKey !== undefined) return apiKey;
  throw new TradewireError(
    "AUTH_ERROR",
    header === undefined
      ? "An API key is missing. Send it as `Authorization: Bearer <API_KEY>`."
      : "The Authorization header is not `Bearer <API_KEY>`.",
  );
}
