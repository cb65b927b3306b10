import { validateHeaderName, validateHeaderValue } from "node:http";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Now } from "../../../primitives/clock.ts";
import { background } from "../../../primitives/turns/background.ts";
import { BadHttpAnswer, type HttpAnswer } from "./answer-reader.ts";
import { HttpConnection, type HttpOrigin } from "./http-connection.ts";
import { TlsSessions } from "./tls-sessions.ts";

interface PostOptions {
  /** Longest wait for the whole answer, from now. Milliseconds. */
  readonly timeoutMs: number;
  /** Largest body that is read. Bytes. */
  readonly maxBytes: number;
  /** Whether the answer may be large: it may come compressed, and is read in a turn of the loop of its own. */
  readonly isLarge: boolean;
}

interface TextAnswer {
  readonly status: number;
  /** Undefined if it is larger than allowed. */
  readonly text: string | undefined;
}

interface Idle {
  readonly connection: HttpConnection;
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** Idle connections kept for a moment, and how long that is. Milliseconds. */
const MAX_IDLE = 64;
const IDLE_MS = 4_000;
/** Those kept for longer: the searches for a new token take 17 at once, and some nodes count the connections of an address. */
const MAX_RESTING = 24;
/** How long, if the server does not say how long it keeps them, and at most. Milliseconds. */
const REST_MS = 30_000;
const MAX_REST_MS = 60_000;
/** A connection is given up this long before the server would. Milliseconds. */
const IDLE_MARGIN_MS = 1_000;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const unzip = promisify(gunzip);

/**
 * Posts JSON to one URL over HTTP/1.1 connections that stay open. It does what calls to nodes need and no more, for a tenth of
 * the processor time of `fetch`: no redirects, no cookies, no proxies. A request whose connection turns out to have been closed
 * meanwhile is made once more on another one: every call to a node may be repeated.
 */
export class HttpClient {
  readonly #origin: HttpOrigin;
  readonly #now: Now;
  /** Everything before the length, and what follows it with and without an offer to compress. */
  readonly #head: string;
  /** The one used last is at the end. */
  readonly #idle: Idle[] = [];
  #sweep: NodeJS.Timeout | undefined;

  /** @throws TypeError if a header cannot be sent, or the URL's credentials cannot be decoded */
  constructor(url: URL, headers: Readonly<Record<string, string>>, now: Now) {
    this.#now = now;
    const isTls = url.protocol === "https:";
    // IPv6 addresses stand in brackets in URLs only.
    const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
    const tls = isTls ? new TlsSessions() : undefined;
    this.#origin = { host, port: Number(url.port) || (isTls ? 443 : 80), tls };
    let head = `POST ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n`;
    for (const [name, value] of Object.entries({ ...headers, ...credentialsOf(url) })) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
      head += `${name}: ${value}\r\n`;
    }
    this.#head = `${head}content-type: application/json\r\naccept: application/json\r\nuser-agent: tradewire\r\n`;
  }

  /** @throws Error of the connection, TimeoutError, BadHttpAnswer */
  async post(body: string, options: PostOptions): Promise<TextAnswer> {
    const length = Buffer.byteLength(body);
    const coding = options.isLarge ? "accept-encoding: gzip\r\n" : "";
    const request = `${this.#head}${coding}content-length: ${length}\r\n\r\n${body}`;
    // One byte a character: written without encoding it.
    const answer = await this.#exchange(request, length === body.length ? "latin1" : "utf8", options);
    if (REDIRECTS.has(answer.status)) throw new Error("unexpected redirect");
    return { status: answer.status, text: await textOf(answer, options.maxBytes) };
  }

  #exchange(
    request: string,
    encoding: "latin1" | "utf8",
    { timeoutMs, maxBytes, isLarge }: PostOptions,
  ): Promise<HttpAnswer> {
    const reading = { maxBytes, isPaced: isLarge };
    return new Promise((resolve, reject) => {
      let connection = this.#take() ?? this.#open();
      const sending = connection.send(request, encoding, reading);
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        reject(timeoutError());
        connection.destroy();
        this.#distrustRested();
      }, timeoutMs);
      const succeed = (answer: HttpAnswer): void => {
        clearTimeout(timer);
        if (answer.isReusable) this.#keep(connection, answer.keepAliveMs);
        resolve(answer);
      };
      const fail = (error: Error): void => {
        clearTimeout(timer);
        reject(error);
      };
      sending.then(succeed, (error: Error) => {
        if (isLate || !connection.isStale) fail(error);
        else {
          connection = this.#open();
          connection.send(request, encoding, reading).then(succeed, fail);
        }
      });
    });
  }

  #open(): HttpConnection {
    return new HttpConnection(this.#origin, (gone) => {
      const at = this.#idle.findIndex(({ connection }) => connection === gone);
      if (at >= 0) this.#idle.splice(at, 1);
    });
  }

  #take(): HttpConnection | undefined {
    const last = this.#idle.pop();
    if (last === undefined) return undefined;
    if (last.untilMs > this.#now()) return last.connection;
    last.connection.destroy();
    return this.#take();
  }

  #keep(connection: HttpConnection, keepAliveMs = REST_MS + IDLE_MARGIN_MS): void {
    const idleMs = Math.min(MAX_REST_MS, keepAliveMs - IDLE_MARGIN_MS);
    if (connection.isGone || idleMs <= 0 || this.#idle.length >= MAX_IDLE) {
      connection.destroy();
      return;
    }
    connection.rest();
    const sinceMs = this.#now();
    this.#idle.push({ connection, sinceMs, untilMs: sinceMs + idleMs });
    this.#sweep ??= setTimeout(() => this.#closeOld(), IDLE_MS).unref();
  }

  /** Closes those whose time is over, and of those that have rested all but the ones used last. */
  #closeOld(): void {
    const nowMs = this.#now();
    const mostRested = this.#idle.length - MAX_RESTING;
    const old = this.#idle.filter(
      ({ sinceMs, untilMs }, at) => untilMs <= nowMs || (at < mostRested && sinceMs + IDLE_MS <= nowMs),
    );
    for (const { connection } of old) connection.destroy();
    this.#sweep = this.#idle.length === 0 ? undefined : setTimeout(() => this.#closeOld(), IDLE_MS).unref();
  }

  /** A call got no answer: something on the way may have silently dropped the connections that were idle since. */
  #distrustRested(): void {
    const usedSinceMs = this.#now() - IDLE_MS;
    const rested = this.#idle.filter(({ sinceMs }) => sinceMs <= usedSinceMs);
    for (const { connection } of rested) connection.destroy();
  }
}

function credentialsOf({ username, password, host }: URL): Record<string, string> {
  if (username === "" && password === "") return {};
  let text: string;
  try {
    text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  } catch {
    throw new TypeError(`The credentials in the URL of ${host} hold a % that is not written as %25.`);
  }
  return { authorization: `Basic ${Buffer.from(text).toString("base64")}` };
}

async function textOf({ body, encoding }: HttpAnswer, maxBytes: number): Promise<string | undefined> {
  if (body === undefined) return undefined;
  if (encoding === undefined) return decode(body);
  if (encoding !== "gzip" && encoding !== "x-gzip") throw new BadHttpAnswer("an unknown content coding");
  try {
    const plain = await unzip(body, { maxOutputLength: maxBytes });
    // The threads that unzip end together too.
    await background.next();
    return decode(plain);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") return undefined;
    throw new BadHttpAnswer("a body that is not gzip");
  }
}

function decode(bytes: Uint8Array): string {
  return Buffer.prototype.utf8Slice.call(bytes, 0, bytes.length);
}

function timeoutError(): Error {
  const error = new Error("the call took too long");
  error.name = "TimeoutError";
  return error;
}
