import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import { answerText } from "./dispatch.ts";
import type { Node } from "./method.ts";
import { serveSocket } from "./socket.ts";

/** Largest request, as nodes have it. */
const MAX_BODY_BYTES = 50 * 1024;
/** Longer than clients keep a connection idle, so that they never send into one that is just closing. */
const KEEP_ALIVE_MS = 65_000;
const PORT_TRIES = 50;

interface RpcServerOptions {
  readonly host: string;
  /** 0: any free port whose next one is free as well. */
  readonly port: number;
}

interface RpcServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves HTTP on a port, and WebSocket both as an upgrade there and on the next port, where web3.js expects it.
 *
 * @throws Error when a port that was asked for, or the next one, is taken
 */
export async function listenRpc(node: Node, { host, port }: RpcServerOptions): Promise<RpcServer> {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_BODY_BYTES });
  const http = createHttpServer(node, sockets);
  const next = createHttpServer(node, sockets);
  const taken = await listenOnPair(http, next, host, port);
  return {
    port: taken,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      await Promise.all([http, next].map(closeServer));
    },
  };
}

function createHttpServer(node: Node, sockets: WebSocketServer): Server {
  const server = createServer((request, response) => serveRequest(node, request, response));
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on("upgrade", (request, socket, head) => {
    socket.on("error", () => socket.destroy());
    sockets.handleUpgrade(request, socket, head, (webSocket) => serveSocket(node, webSocket));
  });
  return server;
}

function serveRequest(node: Node, request: IncomingMessage, response: ServerResponse): void {
  if (request.method === "GET" && request.url === "/health") {
    response.writeHead(200, { "content-type": "text/plain" }).end("ok");
    return;
  }
  if (request.method !== "POST") {
    response
      .writeHead(405, { allow: "POST", "content-type": "text/plain" })
      .end("Used HTTP Method is not allowed. POST is required\n");
    return;
  }
  const parts: Buffer[] = [];
  let length = 0;
  request.on("data", (part: Buffer) => {
    length += part.length;
    if (length <= MAX_BODY_BYTES) parts.push(part);
    else if (!response.headersSent) {
      response.writeHead(413, { connection: "close", "content-type": "text/plain" }).end("Payload Too Large\n");
    }
  });
  request.on("end", () => {
    if (response.headersSent) return;
    const answer = answerText(node, Buffer.concat(parts).toString("utf8")) ?? "";
    node.held.deliver(() => response.writeHead(200, { "content-type": "application/json; charset=utf-8" }).end(answer));
  });
  request.on("error", () => response.destroy());
}

async function listenOnPair(http: Server, next: Server, host: string, port: number): Promise<number> {
  for (let tries = 1; ; tries++) {
    await listen(http, host, port);
    const taken = (http.address() as AddressInfo).port;
    try {
      await listen(next, host, taken + 1);
      return taken;
    } catch (error) {
      await closeServer(http);
      if (port !== 0 || tries === PORT_TRIES) throw error;
    }
  }
}

/** A port past the last one is refused by `listen` itself, by throwing. */
function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
