import net from "node:net";
import type { Call } from "./load.ts";

/** What came back on a raw connection until it was closed, or until the time was up. */
export interface RawAnswer {
  readonly text: string;
  /** The status of the first answer; 0 when there was none. */
  readonly status: number;
  readonly sentBytes: number;
  readonly durationMs: number;
  readonly closed: boolean;
}

/** Sends bytes, chunk after chunk as fast as the other side takes them, and waits for the end of the connection. */
export function sendRaw(port: number, chunks: Iterable<string | Uint8Array>, timeoutMs = 5_000): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const startMs = performance.now();
    const socket = net.connect(port, "127.0.0.1");
    const iterator = chunks[Symbol.iterator]();
    let text = "";
    let sentBytes = 0;
    let done = false;
    const finish = (closed: boolean) => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      socket.destroy();
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
      resolve({ text, status, sentBytes, durationMs: performance.now() - startMs, closed });
    };
    const timer = setTimeout(() => finish(false), timeoutMs);
    const write = () => {
      while (!done) {
        const { value, done: ended } = iterator.next();
        if (ended) return;
        sentBytes += typeof value === "string" ? Buffer.byteLength(value) : value.length;
        if (!socket.write(value)) {
          socket.once("drain", write);
          return;
        }
      }
    };
    socket.on("connect", write);
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
    });
    socket.on("error", () => {});
    socket.on("close", () => finish(true));
  });
}

/** A request as text. */
export function requestText(path: string, headers: readonly string[], body = ""): string {
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers.map((header) => `${header}\r\n`).join("")}\r\n${body}`;
}

/** A call as the text of its request. */
export function callText({ path, body, key }: Call): string {
  const text = JSON.stringify(body);
  const headers = [
    "Content-Type: application/json",
    `Authorization: Bearer ${key}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
  ];
  return requestText(path, headers, text);
}
