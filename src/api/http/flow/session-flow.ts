import http2, { type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { BodyPieces } from "./body-pieces.ts";
import { ControlAllowance } from "./control-allowance.ts";
import { stopReading } from "./hold-reading.ts";
import { WaitingStream } from "./waiting.ts";

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = http2.constants;

/** Concurrent streams of one HTTP/2 connection, while there are places enough for all. */
export const MAX_STREAMS = 256;
/** Streams of one connection served in one turn of the event loop, and the time for them: at least one, and none after it. Milliseconds. */
const SERVED_AT_ONCE = 16;
const SERVED_MS = 0.5;
/** With fewer streams than this allowed, a connection came in a flood of others. */
const FEW = 16;
/** A limit is announced again once it has risen by this many streams. */
const CLEARLY_MORE = 8;
/** Streams of one connection closed in one turn of the event loop. */
const CLOSED_AT_ONCE = 8;
/**
 * Streams of one connection in one turn of the event loop: all that may be open, and as many again for ones that the client has reset.
 * Beyond them it is a flood: one read of 64 KiB has room for 1,770 with their resets.
 */
const MAX_IN_TURN = 2 * MAX_STREAMS;
/** Streams refused on one connection before it is closed: a client that asks on regardless costs more than it is served. */
const MAX_REFUSED = 1_000;

interface FlowParts {
  /** The session's connection. */
  readonly connection: Socket;
  /** The address the connection comes from. */
  readonly network: string;
  /** The client's address; empty if it was gone before it could be read. */
  readonly peer: string;
  /** Whether it is a proxy's, with the requests of many clients. */
  readonly isShared?: boolean;
  /** Streams at once, announced when the session began. */
  readonly maxStreams: number;
  /** A monotonic clock. */
  readonly nowMs: () => number;
}

/** By session, what is counted of it. */
const flows = new WeakMap<object, SessionFlow>();

/** Allows for bytes of a long body that were read and dropped. */
export function creditBody({ session }: ServerHttp2Stream, bytes: number): void {
  if (session !== undefined) flows.get(session)?.credit(bytes);
}

/** The waiting bytes of one HTTP/2 connection, and what its client sends beside requests. */
export class SessionFlow {
  readonly network: string;
  readonly peer: string;
  readonly #session: ServerHttp2Session;
  readonly #connection: Socket;
  readonly #nowMs: () => number;
  readonly #allowance: ControlAllowance;
  /**
   * The open streams, unordered. Not a map: with constant insertions and removals, its outgrown tables stay linked and keep each stream,
   * with its whole call, in memory until the next full collection.
   */
  readonly #open: WaitingStream[] = [];
  readonly #waiting: { readonly serve: () => void; readonly stream: ServerHttp2Stream }[] = [];
  #isInTurn = false;
  #servedInTurn = 0;
  /** Deadline for the streams served in this turn. */
  #untilMs = 0;
  #refused = 0;
  #madeInTurn = 0;
  readonly #pieces: BodyPieces;
  #maxStreams: number;
  /** True while it may have as many streams as at first. */
  #isNew = true;
  /** Answers read since its present limit was set. */
  #read = 0;

  constructor(session: ServerHttp2Session, { connection, network, peer, isShared, maxStreams, nowMs }: FlowParts) {
    this.network = network;
    this.peer = peer;
    this.#pieces = new BodyPieces(isShared === true, () => this.destroy());
    this.#maxStreams = maxStreams;
    this.#session = session;
    this.#connection = connection;
    this.#nowMs = nowMs;
    this.#allowance = new ControlAllowance(nowMs());
    flows.set(session, this);
  }

  /** Sets how many streams the connection may have open at once; the protocol library refuses the rest at little cost. */
  allow(maxStreams: number): void {
    if (maxStreams === this.#maxStreams || this.#session.destroyed) return;
    this.#maxStreams = maxStreams;
    this.#isNew = false;
    this.#session.settings({ maxConcurrentStreams: maxStreams });
  }

  /** True if it may have fewer streams than usual. */
  get isRestricted(): boolean {
    return this.#maxStreams < MAX_STREAMS;
  }

  /**
   * True if this limit should be announced: the first time that it rises, later if it is clearly higher or has halved. Announcing every
   * small change would write to thousands of connections each second.
   */
  isFarFrom(maxStreams: number): boolean {
    if (!this.isRestricted) return false;
    const enough = this.#isNew ? 1 : CLEARLY_MORE;
    return maxStreams - this.#maxStreams >= enough || 2 * maxStreams <= this.#maxStreams;
  }

  /** Open streams. */
  get size(): number {
    return this.#open.length;
  }

  /** True if a stream waited for its client when last looked at. */
  isWaiting = false;

  /**
   * Counts a stream that the protocol library has just created, perhaps in the middle of a read, and from now on the pieces of its body.
   * Closes the connection if there are too many.
   */
  make(stream: ServerHttp2Stream): void {
    if (this.#madeInTurn++ === 0) setImmediate(this.#forgetMade);
    if (this.#madeInTurn > MAX_IN_TURN) this.destroy();
    this.#pieces.watch(stream);
  }

  readonly #forgetMade = (): void => {
    this.#madeInTurn = 0;
  };

  /** Counts a request, whether or not it gets a place. Returns the bytes reserved for its body: `add` or `refuse` must follow. */
  receive(rawHeaders: readonly string[], contentLength: string | undefined, hasBody: boolean): number {
    return this.#allowance.addRequest(rawHeaders, contentLength, hasBody);
  }

  /** Watches a stream until it is removed. @param bodyBytes kept for its body */
  add(stream: ServerHttp2Stream, bodyBytes: number): void {
    const waiting = new WaitingStream(stream, bodyBytes);
    this.#open.push(waiting);
    if (bodyBytes > 0) stream.on("end", () => this.#endBody(waiting));
  }

  /** Allows for bytes of a body beyond what is reserved for it. */
  credit(bytes: number): void {
    this.#allowance.credit(bytes);
  }

  /** Releases the reservation of a body that has arrived or will not. */
  #endBody(waiting: WaitingStream): void {
    this.#allowance.endBody(waiting.bodyBytes);
    waiting.bodyBytes = 0;
  }

  /**
   * Removes a closed stream. A connection with few streams may have twice as many once it has read that many answers.
   * @param most streams at once
   */
  remove(stream: ServerHttp2Stream, most: number): void {
    const at = this.#open.findIndex((waiting) => waiting.stream === stream);
    if (at !== -1) {
      this.#endBody(this.#open[at]!);
      const last = this.#open.pop()!;
      if (at < this.#open.length) this.#open[at] = last;
    }
    if (!this.isRestricted || stream.rstCode !== NGHTTP2_NO_ERROR || ++this.#read < this.#maxStreams) return;
    this.#read = 0;
    if (most > this.#maxStreams) this.allow(Math.min(most, 2 * this.#maxStreams));
  }

  /** Counts a refused stream. Closes the connection if there were too many. @param bodyBytes kept for its body */
  refuse(bodyBytes: number): void {
    this.#allowance.endBody(bodyBytes);
    if (++this.#refused === MAX_REFUSED) this.destroy();
  }

  /** True if its client sent more than its requests and the allowance beside them. */
  isFlooding(nowMs: number): boolean {
    if (this.#session.destroyed) return false;
    const { bytesRead: read, bytesWritten: sent } = this.#session.socket;
    return !this.#allowance.charge({ read, sent }, nowMs);
  }

  /**
   * Looks for streams that have stalled for `stallMs`. What is to be closed, the streams or the whole connection, is added
   * to `ends`.
   * @returns the bytes that wait
   */
  look(nowMs: number, stallMs: number, ends: (() => void)[]): number {
    if (this.#session.destroyed) return 0;
    let bytes = 0;
    const stalled: ServerHttp2Stream[] = [];
    for (const waiting of this.#open) {
      bytes += waiting.look(nowMs);
      if (waiting.stalledMs(nowMs) >= stallMs) stalled.push(waiting.stream);
    }
    this.isWaiting = bytes > 0;
    if (stalled.length === 0) return bytes;
    const isWhole = stalled.length === this.#open.length;
    // Streams that the connection closes with it are closed at once.
    for (let at = 0; at < stalled.length - (isWhole ? CLOSED_AT_ONCE : 0); at += CLOSED_AT_ONCE) {
      const next = stalled.slice(at, at + CLOSED_AT_ONCE);
      ends.push(() => {
        for (const stream of next) stream.close(NGHTTP2_CANCEL);
      });
    }
    if (isWhole) ends.push(() => this.destroy());
    return bytes;
  }

  /**
   * True, and counted, if a stream may be served in this turn of the event loop: one read may open hundreds. With few streams allowed,
   * none is before the whole read is known: what else is in it may end the connection.
   */
  takesNow(): boolean {
    if (!this.#isInTurn) this.#beginTurn();
    if (this.#waiting.length > 0 || this.#maxStreams < FEW || !this.#mayServe) return false;
    this.#servedInTurn++;
    return true;
  }

  /** Serves a stream in one of the next turns. @param serve not called if the stream has closed by then */
  serveLater(stream: ServerHttp2Stream, serve: () => void): void {
    this.#waiting.push({ serve, stream });
  }

  #beginTurn(): void {
    this.#isInTurn = true;
    this.#servedInTurn = 0;
    this.#untilMs = this.#nowMs() + SERVED_MS;
    setImmediate(this.#endTurn);
  }

  get #mayServe(): boolean {
    return this.#servedInTurn < SERVED_AT_ONCE && (this.#servedInTurn === 0 || this.#nowMs() < this.#untilMs);
  }

  readonly #endTurn = (): void => {
    this.#isInTurn = false;
    if (this.#waiting.length === 0) return;
    this.#beginTurn();
    while (this.#waiting.length > 0 && this.#mayServe) {
      const { serve, stream } = this.#waiting.shift()!;
      if (stream.destroyed) continue;
      this.#servedInTurn++;
      const hasEnded = stream.readableEnded;
      serve();
      // An empty body that ended meanwhile had no listener.
      if (hasEnded) stream.emit("end");
    }
  };

  /** Closes the connection of a session that is closed: its client may keep its side open, or go on with no request that it has begun. */
  breakOff(): void {
    this.#connection.destroy();
  }

  /** Closes the connection at once. Without a code: streams that nobody listens to yet would throw it as their error. */
  destroy(): void {
    if (this.#session.destroyed) return;
    stopReading(this.#session.socket as Socket);
    this.#session.destroy();
  }
}
