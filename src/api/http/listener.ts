import http, { type RequestListener } from "node:http";
import http2, { type ServerHttp2Session } from "node:http2";
import type { AddressInfo, Server, Socket } from "node:net";
import tls from "node:tls";
import type { ApiSettings } from "../settings.ts";
import { ConnectionPlaces } from "./connection-places.ts";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

/** Streams that one HTTP/2 connection may have open. */
const MAX_STREAMS = 256;

/** On close, how long a connection on which nothing was heard may still say what it was made for. */
const FIRST_WORDS_MS = 500;

/** One port that speaks HTTP/1.1 and HTTP/2. */
export interface Listener {
  /** The HTTP/1.1 server; its timeouts and its connection tracking serve both protocols. */
  readonly http1: http.Server;
  listen(host: string, port: number): Promise<AddressInfo>;
  /** Connections open now. */
  connections(): number;
  /** From now on every answer tells its caller to connect anew: elsewhere, where a balancer has taken note. */
  drain(): void;
  /** Takes no new connections, lets requests under way end, and cuts off what is left after `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
}

/**
 * Without a certificate HTTP/2 is recognised by the preface that every such connection begins with; with one, the
 * protocol is agreed on by ALPN. Both keep connections as the settings say and end them in a way clients understand:
 * `Connection: close` on the last response of an HTTP/1.1 connection, GOAWAY on HTTP/2.
 */
export function createListener(settings: ApiSettings, handler: RequestListener): Listener {
  let closing = false;
  const isClosing = () => closing;
  const http1 = createHttp1(settings, handler, isClosing);
  const sessions = new Set<ServerHttp2Session>();
  const plainHttp2 = createHttp2(settings, handler, sessions, isClosing);
  const serveHttp1 = takeConnections(http1);
  const serveHttp2 = takeConnections(plainHttp2);
  const undecided = new Set<Socket>();
  const places = new ConnectionPlaces(settings.trustedProxies === 0 ? settings.maxConnectionsPerAddress : 0);

  let front: Server;
  if (settings.tls === undefined) {
    front = http1;
    http1.on("connection", (socket: Socket) => {
      if (places.take(socket)) decide(socket, settings, undecided, serveHttp1, serveHttp2);
    });
  } else {
    const secure = tls.createServer(
      { ...settings.tls, ALPNProtocols: ["h2", "http/1.1"], handshakeTimeout: settings.headersTimeoutMs },
      (socket) => {
        if (socket.alpnProtocol === "h2") return serveHttp2(socket);
        socket.setTimeout(settings.keepAliveMs);
        serveHttp1(socket);
      },
    );
    // A failed handshake concerns the caller alone.
    secure.on("tlsClientError", () => {});
    const shakeHands = takeConnections(secure);
    secure.on("connection", (socket: Socket) => {
      if (places.take(socket)) shakeHands(socket);
    });
    front = secure;
  }
  front.maxConnections = settings.maxConnections;
  const { sockets } = places;

  return {
    http1,
    async listen(host, port) {
      await new Promise<void>((resolve, reject) => {
        front.once("error", reject);
        front.listen(port, host, () => {
          front.off("error", reject);
          resolve();
        });
      });
      // The check of header and request timeouts starts when the HTTP/1.1 server listens, or is told so.
      if (front !== http1) http1.emit("listening");
      return front.address() as AddressInfo;
    },
    connections: () => sockets.size,
    drain() {
      closing = true;
      for (const session of sessions) session.close();
    },
    async close(deadlineMs) {
      closing = true;
      // Idle connections are closed with what has arrived on them unread: so only when all that has arrived was just read.
      await justRead();
      const closed = Promise.all([closeServer(http1), front === http1 ? undefined : closeServer(front)]);
      for (const session of sessions) session.close();
      // A connection that has just been made is about to ask.
      const silent = setTimeout(() => {
        for (const socket of undecided) socket.destroy();
      }, FIRST_WORDS_MS);
      // Connections that were busy become idle one by one.
      const sweep = setInterval(() => void justRead().then(() => http1.closeIdleConnections()), 50);
      const deadline = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, deadlineMs);
      await closed;
      clearInterval(sweep);
      clearTimeout(silent);
      clearTimeout(deadline);
    },
  };
}

/** Resolves in the turn of the event loop's that comes after reading. */
const justRead = () => new Promise<void>((resolve) => void setImmediate(resolve));

function createHttp1(settings: ApiSettings, handler: RequestListener, isClosing: () => boolean): http.Server {
  // Node advertises the timeout and the most requests itself, and holds the connection for the buffer on top.
  const hintMs = Math.min(settings.keepAliveHintMs, settings.keepAliveMs);
  const server = http.createServer({
    keepAliveTimeout: hintMs,
    keepAliveTimeoutBuffer: settings.keepAliveMs - hintMs,
    maxHeaderSize: settings.headerLimitBytes,
    headersTimeout: settings.headersTimeoutMs,
    requestTimeout: settings.requestTimeoutMs,
    connectionsCheckingInterval: settings.timeoutCheckMs,
    noDelay: true,
    // Refused where all refusals are written: Node's own has an empty body.
    requireHostHeader: false,
  });
  // So has its refusal of expectations that it does not know; nobody has to refuse those.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  server.maxRequestsPerSocket = settings.maxRequestsPerConnection;
  const served = new WeakMap<Socket, number>();
  server.on("request", (request, response) => {
    const count = (served.get(request.socket) ?? 0) + 1;
    served.set(request.socket, count);
    // Ends the wait for a first request; from here on the keep-alive timeout counts.
    if (count === 1) request.socket.setTimeout(0);
    // Node's own limit answers the next request with 503 and leaves the socket open.
    if (count >= settings.maxRequestsPerConnection || isClosing()) response.shouldKeepAlive = false;
    handler(request, response);
  });
  return server;
}

function createHttp2(
  settings: ApiSettings,
  handler: RequestListener,
  sessions: Set<ServerHttp2Session>,
  isClosing: () => boolean,
) {
  const server = http2.createServer(
    // The protocol's own bound resets the stream without a word, so it lies above the one that is answered with 431.
    {
      settings: { maxHeaderListSize: 4 * settings.headerLimitBytes, maxConcurrentStreams: MAX_STREAMS },
      // A client that opens streams only to reset them is cut off after this many, and this many a second from then on.
      streamResetBurst: 4 * MAX_STREAMS,
      streamResetRate: 50,
      maxSessionRejectedStreams: MAX_STREAMS,
      maxSessionInvalidFrames: 100,
      maxSessionMemory: 4,
    },
    // Fastify reads what both protocols have in common.
    handler as unknown as Parameters<typeof http2.createServer>[1],
  );
  server.on("session", (session) => {
    sessions.add(session);
    let open = 0;
    let served = 0;
    session.on("stream", (stream) => {
      open++;
      served++;
      stream.once("close", () => open--);
      if (served >= settings.maxRequestsPerConnection || isClosing()) session.close();
    });
    session.setTimeout(settings.keepAliveMs, () => {
      if (open === 0) session.close();
    });
    session.once("close", () => sessions.delete(session));
  });
  // A broken session concerns its client alone.
  server.on("sessionError", () => {});
  return server;
}

/** Takes over the connections of a server: returns how it would serve one. */
function takeConnections(server: Server | http2.Http2Server): (socket: Socket) => void {
  const listeners = server.listeners("connection") as ((this: unknown, socket: Socket) => void)[];
  server.removeAllListeners("connection");
  return (socket) => {
    for (const listener of listeners) listener.call(server, socket);
  };
}

/** Reads the first bytes of a connection and hands it to the protocol they begin. */
function decide(
  socket: Socket,
  settings: ApiSettings,
  undecided: Set<Socket>,
  serveHttp1: (socket: Socket) => void,
  serveHttp2: (socket: Socket) => void,
): void {
  // Held here while undecided: putting bytes back makes the socket readable again at once.
  let held: Buffer | undefined;
  const release = () => {
    undecided.delete(socket);
    socket
      .off("readable", read)
      .off("end", abandon)
      .off("close", release)
      .off("error", abandon)
      .off("timeout", abandon);
    socket.setTimeout(0);
  };
  const abandon = () => {
    release();
    socket.destroy();
  };
  const read = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    const seen = held === undefined ? chunk : Buffer.concat([held, chunk]);
    const length = Math.min(seen.length, PREFACE.length);
    const isHttp2 = seen.subarray(0, length).equals(PREFACE.subarray(0, length));
    if (isHttp2 && length < PREFACE.length) {
      held = seen;
      socket.setTimeout(settings.headersTimeoutMs);
      return;
    }
    release();
    socket.unshift(seen);
    if (!isHttp2) return serveHttp1(socket);
    // HTTP/1.1 callers may end their side and still wait for the answer; an HTTP/2 session that lost its peer would never end.
    socket.allowHalfOpen = false;
    serveHttp2(socket);
  };
  undecided.add(socket);
  socket.on("readable", read).on("end", abandon).on("close", release).on("error", abandon).on("timeout", abandon);
  socket.setTimeout(settings.keepAliveMs);
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
