import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

export type FakeCall = (
  request: { readonly id: unknown; readonly params: unknown[] },
  response: ServerResponse,
) => void;

/** A JSON-RPC node of which every byte is the test's, for what a true node would not do. */
export interface FakeNode {
  readonly url: string;
  readonly wsUrl: string;
  /** Methods called over HTTP, in order. */
  readonly calls: string[];
  /** Kinds subscribed to and not unsubscribed, over all connections that are up. */
  subscribed(): string[];
  /** While set, further subscriptions are refused, as by a node that has too many. */
  isFull: boolean;
  /** Number of WebSocket connections made so far. */
  connections(): number;
  notify(kind: string, result: unknown): void;
  dropSockets(): void;
  close(): Promise<void>;
}

/** Answers a call with a result. */
export function answer(result: unknown): FakeCall {
  return ({ id }, response) => response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
}

/** Answers a call with a JSON-RPC error. */
export function fail(code: number, message: string): FakeCall {
  return ({ id }, response) => response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }));
}

export async function startFakeNode(methods: Readonly<Record<string, FakeCall>>): Promise<FakeNode> {
  const calls: string[] = [];
  const subscriptions = new Map<
    number,
    { readonly kind: string; readonly params: string; readonly socket: WebSocket }
  >();
  let connections = 0;
  let lastId = 0;

  /** As nodes do: equal subscriptions of one connection share a number, and end together. */
  const idOfEqual = (asked: { readonly kind: string; readonly params: string; readonly socket: WebSocket }) =>
    [...subscriptions].find(
      ([, one]) => one.kind === asked.kind && one.params === asked.params && one.socket === asked.socket,
    )?.[0];

  const server = createServer(async (request: IncomingMessage, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { id, method, params } = JSON.parse(body);
    calls.push(method);
    (methods[method] ?? fail(-32601, "Method not found"))({ id, params }, response);
  });
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => {
    connections += 1;
    socket.on("message", (data) => {
      const { id, method, params } = JSON.parse(data.toString());
      const answerWith = (result: unknown) => socket.send(JSON.stringify({ jsonrpc: "2.0", id, result }));
      if (method.endsWith("Unsubscribe")) return answerWith(subscriptions.delete(params[0]));
      if (node.isFull) {
        // With a figure that is read as a bigint.
        const error = { code: -32005, message: "Too many subscriptions", data: [1e20] };
        socket.send(JSON.stringify({ jsonrpc: "2.0", id, error }));
        return;
      }
      const asked = { kind: method.replace("Subscribe", ""), params: JSON.stringify(params), socket };
      answerWith(idOfEqual(asked) ?? ++lastId);
      subscriptions.set(idOfEqual(asked) ?? lastId, asked);
    });
    socket.on("close", () => {
      for (const [id, one] of subscriptions) if (one.socket === socket) subscriptions.delete(id);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  const node: FakeNode = {
    isFull: false,
    url: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    calls,
    subscribed: () => [...subscriptions.values()].map(({ kind }) => kind).sort(),
    connections: () => connections,
    notify(kind, result) {
      for (const [subscription, one] of subscriptions) {
        if (one.kind !== kind) continue;
        const method = `${kind}Notification`;
        one.socket.send(JSON.stringify({ jsonrpc: "2.0", method, params: { subscription, result } }));
      }
    },
    dropSockets() {
      for (const socket of sockets.clients) socket.terminate();
    },
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return node;
}
