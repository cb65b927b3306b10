import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A service that answers whatever it is asked of a trade with the outcome of another one. */
export interface ForeignOutcome {
  readonly url: string;
  /** Bytes that it wrote of answers without end. */
  readonly written: number;
  close(): void;
}

const TRADE = { signature: "3".repeat(87), status: "finalized", slot: 7, platform: "pump_fun", witnesses: 3 };

/**
 * Under `/endless` its answers have no end; under `/slow` they take for ever, a byte at a time, and under `/slow-head` so do their
 * heads. Under `/failed` an answer has an outcome and says that it is none, under `/empty` it has none, and under `/steering` it is a
 * refusal with characters for a terminal. Under `/garbled` a message of a stream is none, under `/quiet` a
 * stream goes on with nothing but signs of life, under `/cut` a stream stops inside one, and under `/early` before its trade is final.
 */
export async function startForeignOutcome(): Promise<ForeignOutcome> {
  let written = 0;
  const part = "x".repeat(1 << 16);
  const pour = (response: ServerResponse) => {
    while (!response.destroyed) {
      written += part.length;
      if (!response.write(part)) break;
    }
    response.once("drain", () => pour(response));
  };
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    const url = request.url!;
    if (url.startsWith("/endless")) {
      response.writeHead(200).write('{"success":true,"data":{"note":"');
      pour(response);
    } else if (url.startsWith("/slow-head")) {
      const socket = response.socket!;
      socket.write("HTTP/1.1 200 OK\r\nx-note: ");
      const drip = setInterval(() => socket.write("x"), 20);
      socket.once("close", () => clearInterval(drip)).on("error", () => clearInterval(drip));
    } else if (url.startsWith("/slow")) {
      response.writeHead(200);
      const drip = setInterval(() => response.write(" "), 20);
      response.once("close", () => clearInterval(drip));
    } else if (url.startsWith("/failed")) {
      response.end(JSON.stringify({ success: false, data: TRADE }));
    } else if (url.startsWith("/steering")) {
      const error = {
        code: "NO\u001b[2J",
        message: `no\u001b]52;c;QUJD\u0007\u202e${"x".repeat(9_000)}`,
        retryable: false,
      };
      response.writeHead(422).end(JSON.stringify({ success: false, error }));
    } else if (url.startsWith("/empty")) {
      response.end('{"success":true,"data":null}');
    } else if (url.startsWith("/garbled")) {
      response.end('event: update\ndata: {"signature":\n\nevent: end\ndata: {}\n\n');
    } else if (url.startsWith("/quiet")) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`event: update\ndata: ${JSON.stringify({ ...TRADE, events: [] })}\n\n`);
      const signs = setInterval(() => response.write(": alive\n\n"), 20);
      response.once("close", () => clearInterval(signs));
    } else if (url.startsWith("/cut")) {
      response.write("event: upd", () => response.socket?.end());
    } else if (url.endsWith("/events")) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const trade = { ...TRADE, ...(url.startsWith("/early") ? { status: "pending" } : {}), events: [] };
      response.end(`event: update\ndata: ${JSON.stringify(trade)}\n\nevent: end\ndata: {}\n\n`);
    } else response.writeHead(200).end(JSON.stringify({ success: true, data: TRADE }));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get written() {
      return written;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
