import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A transaction as its wallet signed it, in base64, and its signature. */
export const SIGNED = Buffer.from([1, ...Array.from({ length: 64 }, (_, index) => index + 1), 7, 7, 7]).toString(
  "base64",
);
export const SIGNATURE = "2Ana1pUpv2ZbMVkwF5FXapYeBEjdxDatLn7nvJkhgTSXbs59SyZSx866bXirPgj8QQVB57uxHJBG1YFvkRbFj4T";

const HURRIES = '{"success":false,"error":{"code":"OVERLOADED","retryable":true,"retryAfterMs":1}}';
const decides = (fields: string) => (response: ServerResponse) => {
  response.writeHead(200).end(`{"success":true,"data":{${fields}}}`);
};

/**
 * Answers to one submit after the other: a proxy's page, in HTML or JSON, a cut answer, ones without content, pauses that are no
 * time, a status that is unknown, and the service's own.
 */
const ANSWERS: readonly ((response: ServerResponse) => void)[] = [
  (response) => response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad Gateway</h1>"),
  (response) => response.writeHead(504, { "content-length": 500 }).write("<h1>Gate", () => response.destroy()),
  (response) =>
    response.writeHead(200, { "content-length": 500 }).write('{"success":true,"da', () => response.destroy()),
  (response) => response.writeHead(200).end('{"success":true,"da'),
  (response) => response.writeHead(200).end("[]"),
  (response) => response.socket!.end("nonsense\r\n\r\n"),
  (response) => response.writeHead(503).end('{"success":false,"error":null}'),
  (response) => response.writeHead(429).end("slow down"),
  (response) => response.writeHead(502).end('{"timestamp":"2026-11-23T18:00:00Z","status":502,"error":"Bad Gateway"}'),
  (response) =>
    response.writeHead(503).end('{"error":{"code":503,"message":"no healthy upstream","status":"UNAVAILABLE"}}'),
  (response) => response.writeHead(504).end('{"error":{"code":"upstream_timeout","message":"upstream timed out"}}'),
  (response) => response.writeHead(503).end(HURRIES),
  ...["-1", '"soon"', "null"].map((asked) => (response: ServerResponse) => {
    response
      .writeHead(503)
      .end(`{"success":false,"error":{"code":"OVERLOADED","retryable":true,"retryAfterMs":${asked}}}`);
  }),
  decides('"status":"pending"'),
  decides('"status":"confirmed","slot":1'),
  decides(`"status":"processed","signature":"${SIGNATURE}","slot":2`),
  decides(""),
  (response) => response.writeHead(200).end('{"success":true,"data":null}'),
  decides(`"status":"settling","signature":"${SIGNATURE}","slot":3`),
  decides(`"status":"confirmed","signature":"${SIGNATURE}","slot":4`),
];

/** A service behind a bad proxy: it decides the last of its submits. */
export interface UndecidedService {
  readonly url: string;
  /** What was submitted. */
  readonly bodies: readonly string[];
  /** What came to the place that the redirects name. */
  readonly strayed: readonly string[];
  /** What was submitted under `/hurried`. */
  readonly hurried: readonly string[];
  /** How many answers there are. */
  readonly answers: number;
  close(): void;
}

/** Paths under `/hurried` ask to come again in a millisecond. Those under `/elsewhere` are nothing of a service: 404, with a page. Those under `/moved/301` and the like are somewhere else. */
export async function startUndecided(): Promise<UndecidedService> {
  const bodies: string[] = [];
  const strayed: string[] = [];
  const hurried: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const moved = /^\/moved\/(\d+)/.exec(request.url!);
    if (moved !== null) response.writeHead(Number(moved[1]), { location: "/stolen" }).end();
    else if (request.url === "/stolen") response.end(`${strayed.push(`${request.method} ${body}`)}`);
    else if (request.url!.startsWith("/elsewhere")) response.writeHead(404).end("<h1>Not Found</h1>");
    else if (request.url!.startsWith("/hurried") && hurried.push(body) > 0) response.writeHead(503).end(HURRIES);
    else ANSWERS[bodies.push(body) - 1]!(response);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    bodies,
    strayed,
    hurried,
    answers: ANSWERS.length,
    close: () => void server.close(),
  };
}
