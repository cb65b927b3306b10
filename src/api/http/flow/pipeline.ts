import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import { refuseAndClose } from "../closing/refuse-and-close.ts";
import { BodyPieces } from "./body-pieces.ts";
import { isHeld, pauseReading, resumeReading } from "./hold-reading.ts";

/** Requests waiting behind the one being served, from which nothing more is read, and below which reading goes on. */
const PAUSE_AT = 16;
const RESUME_AT = 4;
/** Requests that may wait on one connection: one read of 64 KiB holds at most about 2,600. */
const MAX_WAITING = 4_096;
/**
 * Requests that may wait on all connections together, unless few wait on theirs: Node parses what it has read of every connection before
 * anything else has its turn.
 */
const MAX_WAITING_IN_ALL = 4_096;
/** Factor on that bound for connections where fewer than `RESUME_AT` wait: a client that sends a few at once pays for no flood. */
const OF_FEW = 4;
/** Time per turn for requests that waited behind others on their connections, all connections together. Milliseconds. */
const TURN_MS = 0.5;

const refusal = new TradewireError(
  "RATE_LIMIT_EXCEEDED",
  "Too many requests wait on this connection. Read the answers before sending more.",
  { retryAfterMs: 1_000 },
);

/** What serving in turn needs, and its bound. */
export interface PipelineOptions {
  /** Makes the id of a refusal. */
  readonly requestIds: () => string;
  /** A monotonic clock. */
  readonly nowMs: () => number;
  /** Requests that may wait on all connections together, unless few wait on theirs. */
  readonly mostWaiting?: number;
  /** Time to arrive, from when reading goes on, for a request whose own time ran out while it was held back. */
  readonly lateMs: number;
}

/** The requests of one connection. */
interface Line {
  /** The response begun last, until it has ended and its request is read: an idle connection keeps nothing of its last request. */
  current: ServerResponse | undefined;
  /** True after the first response. */
  hasServed: boolean;
  readonly waiting: { readonly request: IncomingMessage; readonly response: ServerResponse }[];
  isPaused: boolean;
  isRefused: boolean;
  /** Counts the chunks of bodies; undefined before the first. */
  pieces: BodyPieces | undefined;
  /** True if the time of a request ran out while it was held back. */
  isLate: boolean;
  /** Ends the connection if that request does not arrive now. */
  lateTimer: NodeJS.Timeout | undefined;
}

/** By connection, that of its requests. */
const lines = new WeakMap<Socket, Line>();

/**
 * True if a request did not arrive in time because nothing is read from its connection. Its time starts again when reading
 * goes on.
 */
export function isHeldBack(socket: Socket): boolean {
  const line = lines.get(socket);
  if (line?.isPaused !== true || line.isRefused) return false;
  line.isLate = true;
  return true;
}

/** True if every request that has come is answered, the answer is written, and reading goes on. */
export function isAnswered(socket: Socket): boolean {
  const line = lines.get(socket);
  if (isHeld(socket) || socket.readableLength > 0) return false;
  return (
    line?.hasServed === true && line.waiting.length === 0 && (line.current === undefined || hasEnded(line.current))
  );
}

/** The pending responses, in order. */
export function unendedOn(socket: Socket): readonly ServerResponse[] {
  const line = lines.get(socket);
  if (line === undefined) return [];
  const { current, waiting } = line;
  const begun = current === undefined ? [] : [current];
  return begun.concat(waiting.map(({ response }) => response)).filter((response) => !hasEnded(response));
}

/** The pending response of the last complete request; undefined if none is pending. */
export function unansweredOn(socket: Socket): ServerResponse | undefined {
  return unendedOn(socket).findLast((response) => response.req.complete);
}

/** The request whose response has begun, if incoming bytes are the rest of it. */
export function answeredEarlyOn(socket: Socket): IncomingMessage | undefined {
  const current = lines.get(socket)?.current;
  return current?.headersSent === true && !current.req.complete ? current.req : undefined;
}

/**
 * Serves the requests of each HTTP/1.1 connection one after another, each in a turn of the event loop of its own: a client
 * that pipelines gets no more of the service's time than one that waits for its answers, and hundreds that do share a small part of each
 * turn. With 16 requests waiting, nothing more is read until they are served. Beyond the bounds of a connection, or of all together, one
 * is refused, and the connection closes after it. A connection whose bodies come in too many chunks closes at once.
 *
 * @param handler serves one request
 */
export function serveInTurn(handler: RequestListener, options: PipelineOptions): RequestListener {
  const pipelines = new Pipelines(handler, options);
  return (request, response) => pipelines.take(request, response);
}

/** The requests of all connections that wait behind others. */
class Pipelines {
  readonly #handler: RequestListener;
  readonly #options: PipelineOptions;
  readonly #mostWaiting: number;
  #waitingInAll = 0;
  /** Lines whose last response has ended: each may begin its next one. */
  readonly #ready: Line[] = [];

  constructor(handler: RequestListener, options: PipelineOptions) {
    this.#handler = handler;
    this.#options = options;
    this.#mostWaiting = options.mostWaiting ?? MAX_WAITING_IN_ALL;
  }

  /** Serves a request at once if none of its connection is served now; else it waits, or is refused. */
  take(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const line = lineOf(socket);
    clearTimeout(line.lateTimer);
    if (request.headers["transfer-encoding"] !== undefined) {
      line.pieces ??= new BodyPieces(false, () => socket.destroy());
      line.pieces.watch(request);
    }
    const { current, waiting } = line;
    if (waiting.length === 0 && (current === undefined || hasEnded(current))) this.#serve(line, request, response);
    else if (line.isRefused) return;
    else if (!this.#hasRoom(line)) {
      line.isRefused = true;
      refuseAndClose(socket, response, refusal, this.#options.requestIds());
    } else this.#keep(line, request, response);
  }

  #hasRoom({ waiting: { length } }: Line): boolean {
    const mostInAll = length < RESUME_AT ? OF_FEW * this.#mostWaiting : this.#mostWaiting;
    return length < MAX_WAITING && this.#waitingInAll < mostInAll;
  }

  /** Lets a request wait behind the one that is served. */
  #keep(line: Line, request: IncomingMessage, response: ServerResponse): void {
    shelter(request);
    shelter(response);
    const { waiting } = line;
    waiting.push({ request, response });
    this.#waitingInAll += 1;
    if (waiting.length >= PAUSE_AT && !line.isPaused) {
      line.isPaused = true;
      pauseReading(request.socket);
    }
    if (waiting.length === 1) this.#serveNextAfter(line, line.current!);
  }

  #serve(line: Line, request: IncomingMessage, response: ServerResponse): void {
    line.current = response;
    line.hasServed = true;
    response.once("close", forget);
    this.#handler(request, response);
  }

  #serveNextAfter(line: Line, response: ServerResponse): void {
    response.once("close", () => {
      if (this.#ready.push(line) === 1) setImmediate(this.#serveReady);
    });
  }

  readonly #serveReady = (): void => {
    const { nowMs } = this.#options;
    const fromMs = nowMs();
    try {
      do this.#serveNext(this.#ready.shift()!);
      while (this.#ready.length > 0 && nowMs() - fromMs < TURN_MS);
    } finally {
      if (this.#ready.length > 0) setImmediate(this.#serveReady);
    }
  };

  #serveNext(line: Line): void {
    const next = line.waiting.shift();
    if (next === undefined) return;
    this.#waitingInAll -= 1;
    // Also if the previous answer has closed the connection: nobody would receive this one.
    if (!next.request.socket.writable) {
      this.#waitingInAll -= line.waiting.length;
      line.waiting.length = 0;
      return;
    }
    if (line.isPaused && !line.isRefused && line.waiting.length < RESUME_AT) {
      line.isPaused = false;
      if (line.isLate) awaitLateRequest(line, next.request.socket, this.#options.lateMs);
      resumeReading(next.request.socket);
    }
    endShelter(next.request);
    endShelter(next.response);
    this.#serve(line, next.request, next.response);
    if (line.waiting.length > 0) this.#serveNextAfter(line, next.response);
  }
}

/** The requests of a connection, from its first one on. */
function lineOf(socket: Socket): Line {
  let line = lines.get(socket);
  if (line === undefined) {
    line = {
      current: undefined,
      hasServed: false,
      waiting: [],
      isPaused: false,
      isRefused: false,
      pieces: undefined,
      isLate: false,
      lateTimer: undefined,
    };
    lines.set(socket, line);
  }
  return line;
}

/** Releases a response that has ended, and its request if nothing more of it can arrive. */
function forget(this: ServerResponse): void {
  const line = lines.get(this.req.socket);
  if (line?.current === this && this.req.complete) line.current = undefined;
}

type Part = Pick<IncomingMessage, "destroy"> | Pick<ServerResponse, "destroy">;

/**
 * Keeps Node from destroying requests that are not served yet: it would create an error with its stack for each of the 1,800 requests that
 * one read may hold, in the turn in which their connection closes. Nothing listens to them, and they are freed with the connection.
 */
function shelter(part: Part): void {
  part.destroy = keep;
}

function endShelter(part: Part): void {
  delete (part as { destroy?: unknown }).destroy;
}

function keep<T>(this: T): T {
  return this;
}

/** Node watches the time of each request once: this one's is watched here. */
function awaitLateRequest(line: Line, socket: Socket, lateMs: number): void {
  line.isLate = false;
  // On a connection that has closed by then it does nothing.
  line.lateTimer = setTimeout(() => socket.destroy(), lateMs).unref();
}

const hasEnded = (response: ServerResponse): boolean => response.writableFinished || response.destroyed;
