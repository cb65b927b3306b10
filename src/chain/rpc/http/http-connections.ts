import type { Now } from "../../../primitives/clock.ts";
import { HttpConnection, type HttpOrigin } from "./http-connection.ts";

interface Idle {
  readonly connection: HttpConnection;
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** Idle connections kept for a moment, and how long that is. Milliseconds. */
const MAX_IDLE = 64;
const IDLE_MS = 4_000;
/** Idle connections kept for longer: the searches for a new token take 17 at once, and some nodes limit the connections of an address. */
const MAX_RESTING = 24;
/** How long that is if the server does not say, and at most. Milliseconds. */
const REST_MS = 30_000;
const MAX_REST_MS = 60_000;
/** A connection is closed this long before the server would close it. Milliseconds. */
const IDLE_MARGIN_MS = 1_000;

/** The connections to one server: idle ones are kept for the next request. */
export class HttpConnections {
  readonly #origin: HttpOrigin;
  readonly #now: Now;
  /** Most recently used last. */
  readonly #idle: Idle[] = [];
  #sweep: NodeJS.Timeout | undefined;

  constructor(origin: HttpOrigin, now: Now) {
    this.#origin = origin;
    this.#now = now;
  }

  /** The most recently used idle connection, or a new one. */
  take(): HttpConnection {
    return this.#takeKept() ?? this.open();
  }

  /** A new connection; its first request waits while it opens. */
  open(): HttpConnection {
    return new HttpConnection(this.#origin, (gone) => {
      const at = this.#idle.findIndex(({ connection }) => connection === gone);
      if (at >= 0) this.#idle.splice(at, 1);
    });
  }

  #takeKept(): HttpConnection | undefined {
    const last = this.#idle.pop();
    if (last === undefined) return undefined;
    if (last.untilMs > this.#now()) return last.connection;
    last.connection.destroy();
    return this.#takeKept();
  }

  /** Keeps a connection that has carried its answer for the next request. */
  keep(connection: HttpConnection, keepAliveMs = REST_MS + IDLE_MARGIN_MS): void {
    const idleMs = Math.min(MAX_REST_MS, keepAliveMs - IDLE_MARGIN_MS);
    if (connection.isGone || idleMs <= 0 || this.#idle.length >= MAX_IDLE) {
      connection.destroy();
      return;
    }
    connection.rest();
    const sinceMs = this.#now();
    this.#idle.push({ connection, sinceMs, untilMs: sinceMs + idleMs });
    this.#sweep ??= setTimeout(() => this.#closeOld(), IDLE_MS).unref();
  }

  /** Closes connections whose time is over and, of those idle for longer, all but the most recently used. */
  #closeOld(): void {
    const nowMs = this.#now();
    const mostRested = this.#idle.length - MAX_RESTING;
    const old = this.#idle.filter(
      ({ sinceMs, untilMs }, at) => untilMs <= nowMs || (at < mostRested && sinceMs + IDLE_MS <= nowMs),
    );
    for (const { connection } of old) connection.destroy();
    this.#sweep = this.#idle.length === 0 ? undefined : setTimeout(() => this.#closeOld(), IDLE_MS).unref();
  }

  /** A call got no answer: something in between may have silently dropped the connections that have been idle since. */
  distrustRested(): void {
    const usedSinceMs = this.#now() - IDLE_MS;
    const rested = this.#idle.filter(({ sinceMs }) => sinceMs <= usedSinceMs);
    for (const { connection } of rested) connection.destroy();
  }
}
