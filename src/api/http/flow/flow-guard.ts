import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { EventEmitter } from "node:events";
import http2, { type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { ApiSettings } from "../../settings.ts";
import { joinCopies } from "../lane/field-copies.ts";
import type { OpenedStream } from "../lane/stream-exchange.ts";
import { networkOf } from "../network-of.ts";
import { SessionOpenings } from "../opening/session-openings.ts";
import type { Proxies } from "../proxies.ts";
import type { ServeConnection } from "../sniff-protocol.ts";
import { OpenStreams, SHARED } from "./open-streams.ts";
import { OpeningRate } from "./opening-rate.ts";
import { MAX_STREAMS, SessionFlow } from "./session-flow.ts";
import { forgetClosedStreams } from "./session-streams.ts";
import { WaitingConnection } from "./waiting.ts";

const { NGHTTP2_REFUSED_STREAM } = http2.constants;

/** Where Node publishes each stream as it makes it: a `stream` event may come after the whole read. */
const STREAM_MADE = "http2.server.stream.created";

/** How often waiting bytes are checked. Milliseconds. */
const LOOK_EVERY_MS = 1_000;
/** How often to look at what clients send beside requests, and at how many connections: until then a flood costs what it sends. */
const CHARGE_EVERY_MS = 50;
const CHARGED_AT_ONCE = 512;
/** Connections to which new stream limits are announced in one turn of the event loop. */
const ALLOWED_AT_ONCE = 8;

type FlowSettings = Pick<ApiSettings, "maxStreams" | "maxWaitingBytes" | "stallTimeoutMs">;
/** Serves a stream; false, with nothing done, if it does not. */
export type TakeStream = (opened: OpenedStream) => boolean;

type StreamListener = (
  this: Http2Server,
  stream: ServerHttp2Stream,
  headers: http2.IncomingHttpHeaders,
  flags: number,
  rawHeaders: string[],
) => void;

/** What a connection has waiting, and how to close it. */
interface Held {
  readonly bytes: number;
  readonly destroy: () => void;
}

/**
 * Bounds what the service holds for clients that do not read: open HTTP/2 streams in all, waiting bytes per connection and in all, and the
 * time for which nothing is read while something waits. A stream without data may stay silent indefinitely.
 */
export class FlowGuard {
  readonly #settings: FlowSettings;
  readonly #proxies: Pick<Proxies, "isProxy">;
  readonly #nowMs: () => number;
  readonly #streams: OpenStreams;
  readonly #opening = new OpeningRate();
  readonly #sessions = new Map<ServerHttp2Session, SessionFlow>();
  readonly #connections = new Map<Socket, WaitingConnection>();
  /** Connections whose turn to be charged comes first. */
  #uncharged = this.#sessions.values();
  #timers: readonly NodeJS.Timeout[] = [];

  /** @param nowMs a monotonic clock */
  constructor(settings: FlowSettings, proxies: Pick<Proxies, "isProxy">, nowMs: () => number) {
    this.#settings = settings;
    this.#proxies = proxies;
    this.#nowMs = nowMs;
    this.#streams = new OpenStreams(settings.maxStreams);
  }

  /** Open HTTP/2 streams. */
  get streams(): number {
    return this.#streams.count;
  }

  /** Starts to look at what waits. */
  start(): void {
    subscribe(STREAM_MADE, this.#onMade);
    this.#timers = [
      setInterval(() => this.look(), LOOK_EVERY_MS).unref(),
      setInterval(() => this.#charge(), CHARGE_EVERY_MS).unref(),
    ];
  }

  stop(): void {
    unsubscribe(STREAM_MADE, this.#onMade);
    for (const timer of this.#timers) clearInterval(timer);
  }

  /** Watches an HTTP/1.1 connection until it closes. */
  watchHttp1(socket: Socket): void {
    this.#connections.set(socket, new WaitingConnection(socket));
    socket.once("close", () => this.#connections.delete(socket));
  }

  /**
   * Refuses streams of the server beyond the bound (REFUSED_STREAM: safe to repeat) and watches the rest.
   *
   * @param takeStream serves a stream before the server does, or returns false
   * @param serve begins a session of the server
   * @returns the same, one in a turn of the event loop, and only for connections that begin no flood
   */
  watchHttp2(server: Http2Server, takeStream: TakeStream, serve: ServeConnection): ServeConnection {
    let maxStreams = MAX_STREAMS;
    let connection: Socket;
    server.on("session", (session) => {
      forgetClosedStreams(session);
      const { remoteAddress } = session.socket;
      const isShared = this.#proxies.isProxy(remoteAddress);
      const network = isShared ? SHARED : networkOf(remoteAddress);
      const peer = remoteAddress ?? "";
      const flow = new SessionFlow(session, { connection, network, peer, isShared, maxStreams, nowMs: this.#nowMs });
      this.#sessions.set(session, flow);
      session.once("close", () => this.#sessions.delete(session));
    });
    const listeners = server.listeners("stream") as StreamListener[];
    server.removeAllListeners("stream");
    const serveNow = (opened: OpenedStream, flags: number) => {
      const { stream, headers, rawHeaders } = opened;
      joinCopies(headers, rawHeaders);
      if (takeStream(opened)) return;
      for (const listener of listeners) listener.call(server, stream, headers, flags, rawHeaders as string[]);
    };
    // A function of its own: a function with a closure allocates for it on every call.
    const serveLater = (flow: SessionFlow, opened: OpenedStream, flags: number) =>
      flow.serveLater(opened.stream, () => serveNow(opened, flags));
    const serveStream: StreamListener = (stream, headers, flags, rawHeaders) => {
      const flow = this.#admit(stream, headers, rawHeaders);
      if (flow === undefined) return;
      const opened = { stream, headers, rawHeaders, peer: flow.peer };
      if (flow.takesNow()) serveNow(opened, flags);
      else serveLater(flow, opened, flags);
    };
    server.on("stream", serveStream);
    const openings = new SessionOpenings({
      streams: () => Math.min(this.#streams.share(MAX_STREAMS), this.#opening.share(this.#nowMs())),
      begin: (socket, streams) => {
        maxStreams = streams;
        connection = socket;
        server.updateSettings({ maxConcurrentStreams: streams });
        serve(socket);
      },
    });
    return openings.open;
  }

  /** True while streams of a session are open. */
  isServing(session: ServerHttp2Session): boolean {
    return (this.#sessions.get(session)?.size ?? 0) > 0;
  }

  /** Sessions without streams. */
  idle(): readonly SessionFlow[] {
    return [...this.#sessions.values()].filter(({ size }) => size === 0);
  }

  readonly #onMade = (made: unknown): void => {
    const { stream } = made as { readonly stream: ServerHttp2Stream };
    if (stream.session !== undefined) this.#sessions.get(stream.session as ServerHttp2Session)?.make(stream);
  };

  /** The connection of a stream that has a place; undefined if the stream was refused. */
  #admit(
    stream: ServerHttp2Stream,
    headers: http2.IncomingHttpHeaders,
    rawHeaders: readonly string[],
  ): SessionFlow | undefined {
    // A stream's error concerns only its client, and nothing else listens while it waits for its turn. Without a listener, Node ends the
    // process.
    stream.on("error", ignore);
    const flow = stream.session === undefined ? undefined : this.#sessions.get(stream.session as ServerHttp2Session);
    if (flow === undefined) {
      stream.close(NGHTTP2_REFUSED_STREAM);
      return undefined;
    }
    const bodyBytes = flow.receive(rawHeaders, headers["content-length"], !stream.endAfterHeaders);
    const { network } = flow;
    if (!this.#streams.take(network)) {
      // Closing with this code is an error to Node.
      stream.close(NGHTTP2_REFUSED_STREAM);
      flow.refuse(bodyBytes);
      return undefined;
    }
    // Not `once`: removing a listener costs more than creating it.
    stream.on("close", () => {
      this.#streams.free(network);
      flow.remove(stream, this.#streams.share(MAX_STREAMS));
      // Even if closed streams stay in memory until the next full collection, their calls do not. Node's own removal listener does
      // bookkeeping that is useless here; without it, all other listeners are removed at once, not one by one.
      dropListeners.call(stream, "removeListener");
      dropListeners.call(stream);
      stream.on("error", ignore);
    });
    flow.add(stream, bodyBytes);
    return flow;
  }

  /** Closes connections whose clients flood them, of the next ones in turn. */
  #charge(): void {
    const nowMs = this.#nowMs();
    const ends: (() => void)[] = [];
    for (let left = Math.min(this.#sessions.size, CHARGED_AT_ONCE); left > 0; left--) {
      let next = this.#uncharged.next();
      if (next.done === true) {
        this.#uncharged = this.#sessions.values();
        next = this.#uncharged.next();
      }
      const flow = next.value;
      if (flow?.isFlooding(nowMs)) ends.push(() => flow.destroy());
    }
    runInTurns(ends);
  }

  /** Checks once: closes what has stalled, and the fullest connections while too many bytes wait. */
  look(): void {
    const nowMs = this.#nowMs();
    const { maxWaitingBytes, stallTimeoutMs } = this.#settings;
    const full: Held[] = [];
    const ends: (() => void)[] = [];
    let sum = 0;
    const hold = (bytes: number, destroy: () => void) => {
      if (bytes === 0) return;
      sum += bytes;
      full.push({ bytes, destroy });
    };
    const share = this.#streams.share(MAX_STREAMS);
    const allowances: SessionFlow[] = [];
    for (const flow of this.#sessions.values()) {
      hold(flow.look(nowMs, stallTimeoutMs, ends), () => flow.destroy());
      if (flow.isFarFrom(share) && !flow.isWaiting) allowances.push(flow);
    }
    for (const [socket, waiting] of this.#connections) {
      const bytes = waiting.look(nowMs);
      if (waiting.stalledMs(nowMs) >= stallTimeoutMs) ends.push(() => void socket.destroy());
      else hold(bytes, () => void socket.destroy());
    }
    for (let at = 0; at < allowances.length; at += ALLOWED_AT_ONCE) {
      const next = allowances.slice(at, at + ALLOWED_AT_ONCE);
      ends.push(() => {
        for (const flow of next) flow.allow(share);
      });
    }
    if (maxWaitingBytes > 0) ends.push(...fullest(full, sum, maxWaitingBytes).map(({ destroy }) => destroy));
    runInTurns(ends);
  }
}

/** Connections that hold more than half of what all may hold, and the fullest of the others until the rest fits. */
function fullest(full: Held[], sum: number, maxBytes: number): readonly Held[] {
  if (sum <= maxBytes / 2) return [];
  let left = sum;
  return full
    .sort((a, b) => b.bytes - a.bytes)
    .filter(({ bytes }) => {
      if (left <= maxBytes && bytes <= maxBytes / 2) return false;
      left -= bytes;
      return true;
    });
}

/** Not the stream's own method, which checks in a later turn whether it still has readers. */
const dropListeners = EventEmitter.prototype.removeAllListeners;

function ignore(): void {}

/** Runs each in a turn of the event loop of its own, in their order: to close a connection with hundreds of streams takes milliseconds. */
function runInTurns(ends: readonly (() => void)[], at = 0): void {
  if (at === ends.length) return;
  ends[at]!();
  setImmediate(() => runInTurns(ends, at + 1));
}
