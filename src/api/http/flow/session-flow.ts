import http2, { type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { ControlAllowance } from "./control-allowance.ts";
import { WaitingStream } from "./waiting.ts";

const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM } = http2.constants;

/** Concurrent streams of one HTTP/2 connection, while there are places enough for all. */
export const MAX_STREAMS = 256;
/** Streams of one connection served in one turn of the event loop. */
const SERVED_AT_ONCE = 16;
/**
 * Streams of one connection in one turn of the event loop: all that may be open, and as many again in place of ones that the client has
 * reset. Beyond them it is a flood: one read of 64 KiB has room for 1,770 with their resets.
 */
const MAX_IN_TURN = 2 * MAX_STREAMS;
/** Streams refused on one connection before it is closed: a client that asks on regardless costs more than it is served. */
const MAX_REFUSED = 1_000;

/** What waits on one HTTP/2 connection, and what its client sends beside requests. */
export class SessionFlow {
  /** The address the connection comes from. */
  readonly network: string;
  /** The client's address; empty if it was gone before it could be read. */
  readonly peer: string;
  readonly #session: ServerHttp2Session;
  readonly #allowance: ControlAllowance;
  readonly #streams = new Map<ServerHttp2Stream, WaitingStream>();
  readonly #waiting: { readonly serve: () => void; readonly stream: ServerHttp2Stream }[] = [];
  #servedInTurn = 0;
  #refused = 0;
  #madeInTurn = 0;
  #maxStreams = MAX_STREAMS;

  constructor(
    session: ServerHttp2Session,
    { network, peer }: { readonly network: string; readonly peer: string },
    nowMs: number,
  ) {
    this.network = network;
    this.peer = peer;
    this.#session = session;
    this.#allowance = new ControlAllowance(nowMs);
  }

  /** Sets how many streams the connection may have open at once; the protocol library refuses the rest at little cost. */
  allow(maxStreams: number): void {
    if (maxStreams === this.#maxStreams || this.#session.destroyed) return;
    this.#maxStreams = maxStreams;
    this.#session.settings({ maxConcurrentStreams: maxStreams });
  }

  /** True if it may have fewer streams than usual. */
  get isRestricted(): boolean {
    return this.#maxStreams < MAX_STREAMS;
  }

  /** Open streams. */
  get size(): number {
    return this.#streams.size;
  }

  /** True if a stream waited for its client when last looked at. */
  isWaiting = false;

  /** Counts a stream that the protocol library has just made, perhaps in the middle of a read. Closes the connection if there are too many. */
  make(): void {
    if (this.#madeInTurn++ === 0) setImmediate(this.#forgetMade);
    if (this.#madeInTurn > MAX_IN_TURN) this.destroy();
  }

  readonly #forgetMade = (): void => {
    this.#madeInTurn = 0;
  };

  /** Counts a request in, whether or not it gets a place. */
  receive(
    stream: ServerHttp2Stream,
    rawHeaders: readonly string[],
    contentLength: string | undefined,
    hasBody: boolean,
  ): void {
    let left = this.#allowance.addRequest(rawHeaders, contentLength, hasBody);
    if (left === 0) return;
    const end = () => {
      this.#allowance.endBody(left);
      left = 0;
    };
    stream.once("end", end).once("close", end);
  }

  /** Watches a stream until it closes. */
  add(stream: ServerHttp2Stream): void {
    this.#streams.set(stream, new WaitingStream(stream));
    stream.once("close", () => this.#streams.delete(stream));
  }

  /** Counts a refused stream. Closes the connection if there were too many. */
  refuse(): void {
    if (++this.#refused === MAX_REFUSED) this.destroy();
  }

  /** True if its client sent more than requests and what may come beside them. */
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
    for (const [stream, waiting] of this.#streams) {
      bytes += waiting.look(nowMs);
      if (waiting.stalledMs(nowMs) >= stallMs) stalled.push(stream);
    }
    this.isWaiting = bytes > 0;
    if (stalled.length === 0) return bytes;
    if (stalled.length === this.#streams.size) ends.push(() => this.destroy());
    else for (const stream of stalled) ends.push(() => void stream.close(NGHTTP2_CANCEL));
    return bytes;
  }

  /**
   * Serves a stream, at most `SERVED_AT_ONCE` in one turn of the event loop: one read may open hundreds.
   * @param serve not called if the stream has closed by its turn
   */
  inTurn(serve: () => void, stream: ServerHttp2Stream): void {
    if (this.#waiting.length === 0 && this.#servedInTurn < SERVED_AT_ONCE) {
      if (this.#servedInTurn++ === 0) setImmediate(this.#endTurn);
      serve();
    } else this.#waiting.push({ serve, stream });
  }

  readonly #endTurn = (): void => {
    this.#servedInTurn = 0;
    const next = this.#waiting.splice(0, SERVED_AT_ONCE);
    if (next.length === 0) return;
    this.#servedInTurn = next.length;
    setImmediate(this.#endTurn);
    for (const { serve, stream } of next) if (!stream.destroyed) serve();
  };

  /** Closes the connection at once, with the reason. */
  destroy(): void {
    this.#session.destroy(undefined, NGHTTP2_ENHANCE_YOUR_CALM);
  }
}
