import type http from "node:http";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Http2Server, ServerHttp2Session } from "node:http2";
import type { AddressInfo, Server, Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import tls from "node:tls";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { ApiSettings } from "../settings.ts";
import { answerBeforeEnd } from "./closing/client-end.ts";
import { LastAnswers } from "./closing/last-answers.ts";
import { lingerAfterEarlyAnswers } from "./closing/linger.ts";
import { refuseUnread } from "./closing/refuse-and-close.ts";
import { ConnectionPlaces } from "./connection-places.ts";
import { FlowGuard, type TakeStream } from "./flow/flow-guard.ts";
import { serveInTurn } from "./flow/pipeline.ts";
import { createHttp1, createHttp2 } from "./http-servers.ts";
import type { ServingConnections } from "./lane/plain-lane.ts";
import { FirstReads } from "./opening/first-reads.ts";
import { Proxies } from "./proxies.ts";
import { type ServeConnection, sniffProtocol } from "./sniff-protocol.ts";
import { Handshakes } from "./tls/handshakes.ts";
import { KeyUpdates } from "./tls/key-updates.ts";
import { boundRecords } from "./tls/records.ts";

/**
 * On close, how long new connections are accepted and not served before the port closes: longer than clients nearby take to
 * connect. Milliseconds.
 */
const HOLD_MS = 100;
/** On close, least grace for a connection that has sent nothing yet, or that its HTTP/2 client has yet to close; at most twice as long. Milliseconds. */
const FIRST_BYTES_MS = 500;
/** On close, how often connections that have become idle are closed. Milliseconds. */
const SWEEP_MS = 50;
/**
 * A request may come unread within the last turn before idle connections are closed: it should be short, if one of the next is.
 * Milliseconds.
 */
const SHORT_TURN_MS = 2;
const MOST_TURNS = 20;
/** Connections that the system has made and keeps until the process accepts them, at most. */
const MOST_QUEUED = 511;

const notTls = new TradewireError("VALIDATION_ERROR", "This port speaks TLS. Use https.");

/**
 * One port that speaks HTTP/1.1 and HTTP/2. Without a certificate HTTP/2 is recognised by its connection preface; with one,
 * the protocol is negotiated by ALPN. Connections are ended in a way that clients understand: `Connection: close` on the
 * last response of an HTTP/1.1 connection, GOAWAY on HTTP/2.
 */
export class Listener {
  /** The HTTP/1.1 server. Its timeouts and its connection tracking serve both protocols. */
  readonly http1: http.Server;
  /** What listens: the TLS server with a certificate, else the HTTP/1.1 server. */
  readonly #front: Server;
  readonly #places: ConnectionPlaces;
  readonly #flow: FlowGuard;
  readonly #sessions = new Set<ServerHttp2Session>();
  /** Connections that have sent nothing yet by which their protocol is known, or no request over TLS. */
  readonly #undecided = new Set<Socket>();
  readonly #lastAnswers = new LastAnswers();
  readonly #nowMs: () => number;
  #closing = false;
  /** Connections accepted so far. */
  #accepted = 0;
  /** What serves the connections that come while the port closes; undefined at other times. */
  #held: (() => void)[] | undefined;

  /**
   * @param nowMs a monotonic clock
   * @param requestIds makes ids of refusals
   * @param serving connections of calls in flight that look idle to the HTTP/1.1 server
   * @param takeStream serves HTTP/2 streams before the HTTP/2 server does
   */
  constructor(
    settings: ApiSettings,
    handler: RequestListener,
    nowMs: () => number,
    requestIds: () => string,
    serving: ServingConnections,
    takeStream: TakeStream,
  ) {
    const isClosing = () => this.#closing;
    const proxies = new Proxies(settings);
    this.#nowMs = nowMs;
    this.#flow = new FlowGuard(settings, proxies, nowMs);
    const serve: RequestListener = (request, response) => {
      if (this.#closing) setImmediate(serveOpen, handler, request, response);
      else handler(request, response);
    };
    const inTurn = serveInTurn(serve, { requestIds, nowMs, lateMs: settings.requestTimeoutMs });
    const take: RequestListener = (request, response) => {
      if (!this.#closing || this.#lastAnswers.take(request, response)) inTurn(request, response);
    };
    this.http1 = createHttp1(settings, take, requestIds, () => serving.serving());
    const http2 = createHttp2(settings, handler, requestIds, this.#sessions, isClosing, (session) =>
      this.#flow.isServing(session),
    );
    this.#places = new ConnectionPlaces(settings.maxConnectionsPerAddress, (address) => proxies.isProxy(address));
    const takeHttp1 = takeConnections(this.http1);
    const isServing = (socket: Socket) => serving.isServing(socket);
    const serveHttp1 = (socket: Socket) => {
      this.#flow.watchHttp1(socket);
      takeHttp1(socket);
      answerBeforeEnd(socket, isServing);
      lingerAfterEarlyAnswers(socket);
    };
    const serveHttp2 = this.#flow.watchHttp2(http2, takeStream, takeConnections(http2));
    this.#front =
      settings.tls === undefined
        ? this.#servePlain(settings, new FirstReads({ requestIds, serve: serveHttp1 }), serveHttp2)
        : this.#serveTls(settings, settings.tls, requestIds, serveHttp1, serveHttp2);
    this.#front.maxConnections = settings.maxConnections;
  }

  #servePlain(settings: ApiSettings, http1: FirstReads, serveHttp2: ServeConnection): Server {
    this.http1.on("connection", (socket: Socket) => {
      this.#take(socket, () => sniffProtocol(socket, settings, this.#undecided, http1.begin, serveHttp2));
    });
    return this.http1;
  }

  #serveTls(
    settings: ApiSettings,
    certificate: { readonly cert: string; readonly key: string },
    requestIds: () => string,
    serveHttp1: ServeConnection,
    serveHttp2: ServeConnection,
  ): Server {
    const secure = tls.createServer(
      {
        ...certificate,
        ALPNProtocols: ["h2", "http/1.1"],
        handshakeTimeout: settings.headersTimeoutMs,
        allowHalfOpen: true,
      },
      (socket) => {
        if (socket.alpnProtocol === "h2") {
          socket.allowHalfOpen = false;
          serveHttp2(socket);
          return;
        }
        socket.setTimeout(settings.keepAliveMs);
        boundRecords(socket);
        serveHttp1(socket);
        this.#undecided.add(socket);
        const forget = () => void this.#undecided.delete(socket);
        socket.once("data", forget).once("close", forget);
        // With a listener the data comes through the stream, which a pause holds back. Without one the HTTP parser reads the
        // decrypted records directly, and Node hands it those after a pause too: it refuses them as HPE_PAUSED.
        socket.on("data", () => {});
      },
    );
    // A failed handshake concerns only its client. One that takes too long is left open by Node.
    secure.on("tlsClientError", (_, socket) => void socket.destroy());
    const keyUpdates = new KeyUpdates();
    // Node has no event of a renewal but this one, which says each new secret. It is not looked at.
    secure.on("keylog", (_, socket) => keyUpdates.count(socket));
    const handshakes = new Handshakes({
      silentMs: settings.headersTimeoutMs,
      undecided: this.#undecided,
      refusePlain: (socket) => refuseUnread(socket, notTls, requestIds()),
      shakeHands: takeConnections(secure),
    });
    secure.on("connection", (socket: Socket) => {
      this.#take(socket, () => handshakes.begin(socket));
    });
    return secure;
  }

  /** Serves a new connection, if there is a place for it. */
  #take(socket: Socket, serve: () => void): void {
    this.#accepted += 1;
    if (!this.#places.take(socket)) return;
    if (this.#held === undefined) {
      serve();
      return;
    }
    socket.on("error", () => socket.destroy());
    this.#held.push(() => {
      if (!socket.destroyed) serve();
    });
  }

  /** @throws Error if the port is taken or the host is none of this machine's */
  async listen(host: string, port: number): Promise<AddressInfo> {
    const front = this.#front;
    await new Promise<void>((resolve, reject) => {
      front.once("error", reject);
      front.listen(port, host, () => {
        front.off("error", reject);
        // A connection that cannot be accepted, as without a free file descriptor, concerns only its client.
        front.on("error", () => {});
        resolve();
      });
    });
    this.#flow.start();
    this.#checkTimeouts();
    return front.address() as AddressInfo;
  }

  /** Shows new connections another certificate. Without TLS nothing changes. @throws Error if it is none, or not the key's */
  renewCertificate(certificate: NonNullable<ApiSettings["tls"]>): void {
    if (this.#front instanceof tls.Server) this.#front.setSecureContext(certificate);
  }

  /** Has Node check header and request timeouts, which it begins with this event and ends when a server closes, whatever is to come. */
  #checkTimeouts(): void {
    this.http1.emit("listening");
  }

  /** Open connections. */
  connections(): number {
    return this.#places.sockets.size;
  }

  /** Open HTTP/2 streams. */
  streams(): number {
    return this.#flow.streams;
  }

  /** From now on every connection closes with the last answer that it owes, so that the balancer can route clients elsewhere. */
  drain(): void {
    this.#closing = true;
    for (const socket of this.#places.sockets) this.#lastAnswers.announce(socket);
    // GOAWAY refuses the streams that were sent and are not read yet.
    void afterReading(this.#nowMs).then(() => {
      for (const session of this.#sessions) session.close();
    });
  }

  /** Refuses new connections, lets requests in flight end, and destroys the remaining connections after `deadlineMs`. */
  async close(deadlineMs: number): Promise<void> {
    this.drain();
    // The system resets connections that it has made and the port has not accepted. Clients that are answered connect again at once.
    const held: (() => void)[] = [];
    this.#held = held;
    await sleep(HOLD_MS);
    // Closing an idle connection discards its unread data, so it is done right after reading.
    await afterReading(this.#nowMs, () => this.#accepted);
    const servers = [this.http1, ...(this.#front === this.http1 ? [] : [this.#front])];
    const closed = Promise.all(servers.map(closeServer));
    this.#checkTimeouts();
    this.#held = undefined;
    for (const serve of held) serve();
    for (const session of this.#sessions) session.close();
    // A new connection is about to send its first request.
    let [undecided, idle] = [[...this.#undecided], this.#flow.idle()];
    const breakOffSilent = () => {
      for (const socket of undecided) if (this.#undecided.has(socket)) socket.destroy();
      for (const session of idle) if (session.size === 0) session.breakOff();
      [undecided, idle] = [[...this.#undecided], this.#flow.idle()];
    };
    const silent = setInterval(() => void afterReading(this.#nowMs).then(breakOffSilent), FIRST_BYTES_MS);
    // Busy connections become idle one by one.
    const sweep = setInterval(
      () => void afterReading(this.#nowMs).then(() => this.http1.closeIdleConnections()),
      SWEEP_MS,
    );
    const deadline = setTimeout(() => {
      for (const socket of this.#places.sockets) socket.destroy();
    }, deadlineMs);
    await closed;
    this.#flow.stop();
    clearInterval(sweep);
    clearInterval(silent);
    clearTimeout(deadline);
  }
}

/**
 * Resolves after the reading of a turn of the event loop that took little time: what came before it has been read. A turn asks once what
 * there is to read, so a long one ends with requests unread that came meanwhile.
 *
 * @param accepted counts connections: none came in that turn. A turn takes one at most from the system's queue
 */
async function afterReading(nowMs: () => number, accepted = () => 0): Promise<void> {
  // The rest of this turn.
  await nextTurn();
  for (let turn = 1; turn <= MOST_QUEUED; turn++) {
    const [fromMs, before] = [nowMs(), accepted()];
    await nextTurn();
    const isLong = nowMs() - fromMs > SHORT_TURN_MS && turn < MOST_TURNS;
    if (!isLong && accepted() === before) return;
  }
}

/**
 * Serves a request unless its connection has ended. While the service drains, it is begun in a turn of its own: by then all that was read
 * with it is known, and with that which answer is the last.
 */
function serveOpen(handler: RequestListener, request: IncomingMessage, response: ServerResponse): void {
  if (request.socket.writable) handler(request, response);
}

/** Takes over a server's connections: returns the function by which it would have served one. */
function takeConnections(server: Server | Http2Server): ServeConnection {
  const listeners = server.listeners("connection") as ((this: unknown, socket: Socket) => void)[];
  server.removeAllListeners("connection");
  return (socket) => {
    for (const listener of listeners) listener.call(server, socket);
  };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
