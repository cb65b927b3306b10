import type { DescMethod } from "@bufbuild/protobuf";
import type { KeyDirectory, Principal } from "../../accounts/port.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { networkOf } from "../http/network-of.ts";
import type { ApiLogger } from "../settings.ts";
import { type Access, accessOf, type CallKind } from "./access.ts";
import type { Admission } from "./admission.ts";
import type { CallObserver } from "./call-record.ts";
import type { CallState } from "./call-state.ts";
import { failureOf, isOfProtocol } from "./failure.ts";
import type { RateLimits } from "./rate-limits.ts";
import type { RefusalPace } from "./refusal-pace.ts";
import { checkRequest } from "./validation/validation.ts";

/** A call as the gate sees it, on any wire. */
export interface GatedCall {
  readonly method: DescMethod;
  readonly state: CallState;
  /** A request header by its lower-case name. */
  headerOf(name: string): string | undefined;
  /** The request; undefined for streams, whose messages are checked as they arrive. */
  readonly message: Parameters<typeof checkRequest>[1] | undefined;
}

interface GateParts {
  readonly keys: KeyDirectory;
  readonly logger: ApiLogger;
  readonly limits: RateLimits;
  readonly admission: Admission;
  readonly observe: CallObserver;
  /** Paces refusals for limits, so that callers who retry at once take a bounded share of the process. */
  readonly refusals: RefusalPace;
}

/** Minimum time between two log lines about upstream failures: a node that is down fails every call that needs it. */
const UPSTREAM_QUIET_MS = 100;

/** Every call on every wire passes it before it is served, in this order: address limit, admission, API key, key limit, validation. */
export class Gate {
  readonly #parts: GateParts;
  readonly #access = new Map<DescMethod, Access>();
  #quietUntilMs = 0;

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  /**
   * Lets a call in. Returns a promise only if the call has to wait for its turn, for the look-up of its key or, beyond a limit, for
   * its refusal. `leave` must follow, also after an error.
   * @throws TradewireError
   */
  enter(call: GatedCall): void | Promise<void> {
    try {
      const entering = this.#enter(call);
      return entering === undefined ? undefined : this.#refusing(call, entering);
    } catch (error) {
      return this.#refuse(call, error);
    }
  }

  /**
   * A function of its own, like everything that awaits: a function with a closure allocates for it on every call, even if it never uses it.
   */
  #refusing(call: GatedCall, entering: Promise<void>): Promise<void> {
    return entering.catch((error: unknown) => this.#refuse(call, error));
  }

  /** Throws the error: at once, or, for a limit, when the refusal is due. A call that waits for its refusal holds no place. */
  #refuse({ state }: GatedCall, error: unknown): Promise<void> {
    const due = isOfLimit(error) ? this.#parts.refusals.next(networkOf(state.peer), state.response) : undefined;
    if (due === undefined) throw error;
    if (state.admitted !== undefined) this.#parts.admission.leave(state.admitted);
    state.admitted = undefined;
    return due.then(() => {
      throw error;
    });
  }

  /**
   * Refuses and ends a call beyond the limit of its address or of its key, which is in memory, as `enter` and `leave` would. Returns
   * undefined, with nothing counted, for any other call, and while its refusal is not due.
   */
  refuseNow(call: GatedCall): TradewireError | undefined {
    const { limits } = this.#parts;
    const { state } = call;
    const { kind, needsKey } = this.#accessOf(call.method);
    if (kind === undefined || !needsKey) return undefined;
    const byAddress = limits.refusalByAddress(kind, state.peer, state.limit);
    if (byAddress !== undefined) return this.#refuseDue(call, byAddress);
    const principal = this.#known(call);
    const byKey = principal && limits.refusalByKey(kind, principal.keyId, state.limit);
    if (byKey === undefined) return undefined;
    state.principal = principal;
    state.stages.mark("auth");
    const refused = this.#refuseDue(call, byKey);
    if (refused !== undefined) limits.takeAddress(kind, state.peer);
    return refused;
  }

  /** Ends the call with its refusal; undefined if that is not due yet. */
  #refuseDue(call: GatedCall, refusal: TradewireError): TradewireError | undefined {
    if (!this.#parts.refusals.takeDue()) return undefined;
    this.leave(call, refusal);
    return refusal;
  }

  /** The owner of the call's key, if it is in memory. */
  #known(call: GatedCall): Principal | undefined {
    try {
      const found = this.#parts.keys.recall(bearerOf(call.headerOf("authorization")));
      return found instanceof Promise ? undefined : found;
    } catch {
      return undefined;
    }
  }

  #enter(call: GatedCall): Promise<void> | undefined {
    const { limits, admission } = this.#parts;
    const { state } = call;
    const access = this.#accessOf(call.method);
    const { kind } = access;
    if (kind !== undefined) {
      limits.takeAddress(kind, state.peer, state.limit);
      const turn = admission.enter(kind, state.response);
      if (turn !== undefined) return this.#identifyAfter(turn, call, access);
      state.admitted = kind;
    }
    return this.#identify(call, access);
  }

  #identifyAfter(turn: Promise<void>, call: GatedCall, access: Access): Promise<void> {
    return turn.then(() => {
      call.state.admitted = access.kind;
      call.state.stages.mark("wait");
      return this.#identify(call, access);
    });
  }

  /** Follows admission. */
  #identify(call: GatedCall, { kind, needsKey }: Access): Promise<void> | undefined {
    if (!needsKey) return this.#check(call);
    const principal = this.#authenticate(call);
    if (principal instanceof Promise) return this.#limitKeyAfter(principal, call, kind);
    return this.#limitKey(call, kind, principal);
  }

  #limitKeyAfter(principal: Promise<Principal>, call: GatedCall, kind: CallKind | undefined): Promise<void> {
    return principal.then((known) => this.#limitKey(call, kind, known));
  }

  /** Keys in memory are free; look-ups and failures count against the limit of the address. */
  #authenticate(call: GatedCall): Principal | Promise<Principal> {
    const { state } = call;
    try {
      const apiKey = bearerOf(call.headerOf("authorization"));
      const found = this.#parts.keys.recall(apiKey) ?? this.#lookUp(apiKey, state);
      return found instanceof Promise ? this.#failingAuth(found, state) : found;
    } catch (error) {
      return this.#failAuth(error, state);
    }
  }

  #failingAuth(found: Promise<Principal>, state: CallState): Promise<Principal> {
    return found.catch((error) => this.#failAuth(error, state));
  }

  async #lookUp(apiKey: string, state: CallState): Promise<Principal> {
    const { keys, limits } = this.#parts;
    limits.beginLookUp(state.peer, state.limit);
    try {
      return await keys.authenticate(apiKey);
    } finally {
      limits.endLookUp(state.peer);
    }
  }

  #failAuth(error: unknown, { peer, limit }: CallState): never {
    if (failureOf(error).code === "AUTH_ERROR") this.#parts.limits.takeFailedAuth(peer, limit);
    throw error;
  }

  #limitKey(call: GatedCall, kind: CallKind | undefined, principal: Principal): undefined {
    const { state } = call;
    state.principal = principal;
    state.stages.mark("auth");
    if (kind !== undefined) this.#parts.limits.takeKey(kind, principal, state.limit);
    return this.#check(call);
  }

  #check(call: GatedCall): undefined {
    const { message } = call;
    if (message === undefined) return;
    checkRequest(call.method.input, message);
    call.state.stages.mark("validate");
  }

  /**
   * Counts a message of a stream that needs no key: one stream may carry any number of them.
   * @throws TradewireError RATE_LIMIT_EXCEEDED
   */
  receive({ method, state }: GatedCall): void {
    if (!this.#accessOf(method).needsKey) this.#parts.limits.takeAddress("open", state.peer);
  }

  /** Ends a call: releases its place and reports it to the observer. `error` is what it failed with, if it did. */
  leave(call: GatedCall, error?: unknown): void {
    const { method, state } = call;
    const { kind } = this.#accessOf(method);
    const code = error === undefined ? "OK" : isOfProtocol(error) ? "PROTOCOL" : this.#codeOf(call, error);
    if (kind === undefined) return;
    if (state.admitted !== undefined) this.#parts.admission.leave(state.admitted);
    state.isTimed = kind === "build";
    this.#parts.observe({
      method: method.name,
      requestId: state.requestId,
      code,
      durationMs: state.stages.nowMs() - state.stages.startMs,
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
    } else if (failure.code === "UPSTREAM_ERROR" && state.stages.nowMs() >= this.#quietUntilMs) {
      this.#quietUntilMs = state.stages.nowMs() + UPSTREAM_QUIET_MS;
      this.#parts.logger.warn({ err: failure.cause ?? failure, requestId, method: method.name }, "upstream failed");
    }
    return failure.code;
  }

  #accessOf(method: DescMethod): Access {
    let access = this.#access.get(method);
    if (access === undefined) {
      access = accessOf(method);
      this.#access.set(method, access);
    }
    return access;
  }
}

const isOfLimit = (error: unknown): boolean => error instanceof TradewireError && error.code === "RATE_LIMIT_EXCEEDED";

const BEARER = /^Bearer +\S+$/i;

/** The key in an Authorization header. @throws TradewireError AUTH_ERROR */
function bearerOf(header: string | undefined): string {
  if (header !== undefined && BEARER.test(header)) return header.slice(header.lastIndexOf(" ") + 1);
  throw new TradewireError(
    "AUTH_ERROR",
    header === undefined
      ? "An API key is missing. Send it as `Authorization: Bearer <API_KEY>`."
      : "The Authorization header is not of the form `Bearer <API_KEY>`.",
  );
}
