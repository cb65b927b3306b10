import { connect, type Socket } from "node:net";
import { background } from "../../../primitives/turns/background.ts";
import { AnswerReader, type HttpAnswer } from "./answer-reader.ts";
import type { TlsSessions } from "./tls-sessions.ts";

/** Where a server is. */
export interface HttpOrigin {
  readonly host: string;
  readonly port: number;
  /** Undefined: connections are not encrypted. */
  readonly tls: TlsSessions | undefined;
}

/** Buffer for reads. */
const READ = Buffer.allocUnsafeSlow(65_536);

/** A pending request, which ends by one of two calls. */
export interface HttpExchange {
  /** Largest body that is read. Bytes. */
  readonly maxBytes: number;
  /** Whether the answer is read in turns of the loop shared with other answers: many come at once, and none is urgent. */
  readonly isPaced: boolean;
  /** Receives the answer. If the answer allows it, the connection may already carry another request. */
  onAnswer(answer: HttpAnswer): void;
  /** Receives an error of the connection, or a BadHttpAnswer. The connection is already closed. */
  onFailure(error: Error): void;
}

/** The server ended the connection before it had answered. */
class ConnectionClosed extends Error {
  override readonly name = "ConnectionClosed";
  readonly code = "ERR_STREAM_PREMATURE_CLOSE";
}

/** One connection that carries one request at a time. */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #onGone: (connection: HttpConnection) => void;
  #exchange: HttpExchange | undefined;
  /** Reader of the next answer; holds the part received so far. */
  #reader: AnswerReader | undefined;
  #isGone = false;
  #hasAnswered = false;
  #hasBytes = false;
  /** Received parts of an answer that waits for its turn. */
  #held: Buffer[] = [];
  #heldBytes = 0;

  /** @param onGone called once it accepts no further request */
  constructor({ host, port, tls }: HttpOrigin, onGone: (connection: HttpConnection) => void) {
    this.#onGone = onGone;
    const at = { host, port, onread: { buffer: READ, callback: (length: number) => this.#receive(length) } };
    this.#socket = tls === undefined ? connect(at) : tls.connect(at);
    this.#socket.setNoDelay(true);
    this.#socket.on("end", () => this.#receiveEnd());
    this.#socket.on("error", (error) => this.#receiveFailure(error));
    this.#socket.on("close", () => this.#receiveFailure(new ConnectionClosed("the connection was closed")));
  }

  /** True once it accepts no further request; the last answer may still be valid. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** True for a request that may be repeated: it was sent on a reused connection, which ended before any answer. */
  get isStale(): boolean {
    return this.#isGone && this.#hasAnswered && !this.#hasBytes;
  }

  /** Sends a whole request. */
  send(request: string, encoding: "latin1" | "utf8", exchange: HttpExchange): void {
    this.#exchange = exchange;
    this.#reader = new AnswerReader(exchange.maxBytes);
    this.#hasBytes = false;
    this.#socket.write(request, encoding);
    this.#socket.ref();
  }

  /** Lets the process end although the connection is open. */
  rest(): void {
    this.#socket.unref();
  }

  destroy(): void {
    this.#held = [];
    this.#leave();
    this.#socket.destroy();
  }

  /** Handles the bytes read; the next read of any connection overwrites this memory. @returns true to read on */
  #receive(length: number): boolean {
    const bytes = Buffer.allocUnsafe(length);
    READ.copy(bytes, 0, 0, length);
    if (this.#exchange?.isPaced === true) this.#hold(bytes, this.#exchange);
    else this.#take(bytes);
    return true;
  }

  /** Keeps the bytes for a turn of their own, unless they exceed what the answer may hold. */
  #hold(bytes: Buffer, { maxBytes }: HttpExchange): void {
    this.#hasBytes = true;
    this.#heldBytes += bytes.length;
    if (this.#held.push(bytes) === 1) background.run(this.#takeHeld);
    if (this.#heldBytes > maxBytes) this.#takeHeld();
  }

  readonly #takeHeld = (): void => {
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    for (const bytes of held) this.#take(bytes);
  };

  #take(bytes: Buffer): void {
    const exchange = this.#exchange;
    // Bytes without a request: do not trust the connection with the next one.
    if (exchange === undefined) {
      this.destroy();
      return;
    }
    this.#hasBytes = true;
    let answer: HttpAnswer | undefined;
    try {
      answer = this.#reader!.take(bytes);
    } catch (error) {
      this.#fail(error as Error);
      return;
    }
    if (answer !== undefined) this.#finish(exchange, answer);
  }

  #receiveEnd(): void {
    this.#takeHeld();
    const answer = this.#exchange === undefined ? undefined : this.#reader!.end();
    if (answer !== undefined) this.#finish(this.#exchange!, answer);
    else this.#fail(new ConnectionClosed("the connection was closed"));
  }

  /** Bytes received before it count. */
  #receiveFailure(error: Error): void {
    this.#takeHeld();
    this.#fail(error);
  }

  #finish(exchange: HttpExchange, answer: HttpAnswer): void {
    this.#exchange = this.#reader = undefined;
    this.#hasAnswered = true;
    if (!answer.isReusable) this.destroy();
    exchange.onAnswer(answer);
  }

  #fail(error: Error): void {
    const exchange = this.#exchange;
    this.#exchange = this.#reader = undefined;
    this.destroy();
    exchange?.onFailure(error);
  }

  #leave(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#onGone(this);
  }
}
