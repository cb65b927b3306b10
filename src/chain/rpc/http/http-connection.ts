import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { AnswerReader, type HttpAnswer } from "./answer-reader.ts";

/** Where a server is. */
export interface HttpOrigin {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

/** What is read goes here first. */
const READ = Buffer.allocUnsafeSlow(65_536);

/** A request on its way. */
interface Exchange {
  readonly reader: AnswerReader;
  readonly resolve: (answer: HttpAnswer) => void;
  readonly reject: (error: Error) => void;
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
  #exchange: Exchange | undefined;
  #isGone = false;
  #hasAnswered = false;
  #hasBytes = false;

  /** @param onGone called once it carries no further request */
  constructor({ host, port, isTls }: HttpOrigin, onGone: (connection: HttpConnection) => void) {
    this.#onGone = onGone;
    const at = { host, port, onread: { buffer: READ, callback: (length: number) => this.#receive(length) } };
    // A server certificate is issued for a name; an address is never sent as one.
    const servername = isIP(host) === 0 ? { servername: host } : {};
    this.#socket = isTls ? connectTls({ ...at, ...servername, ALPNProtocols: ["http/1.1"] }) : connectPlain(at);
    this.#socket.setNoDelay(true);
    this.#socket.on("end", () => this.#receiveEnd());
    this.#socket.on("error", (error) => this.#fail(error));
    this.#socket.on("close", () => this.#fail(new ConnectionClosed("the connection was closed")));
  }

  /** True of a request that may be made again: it came on a connection used before, which ended before any answer. */
  get isStale(): boolean {
    return this.#isGone && this.#hasAnswered && !this.#hasBytes;
  }

  /** Sends a whole request. @throws Error of the connection, BadHttpAnswer */
  send(request: string, encoding: "latin1" | "utf8", maxBytes: number): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      this.#exchange = { reader: new AnswerReader(maxBytes), resolve, reject };
      this.#hasBytes = false;
      this.#socket.write(request, encoding);
      this.#socket.ref();
    });
  }

  /** Lets the process end although the connection is open. */
  rest(): void {
    this.#socket.unref();
  }

  destroy(): void {
    this.#leave();
    this.#socket.destroy();
  }

  /** Takes what was read, out of memory that the next read of any connection overwrites. @returns true to read on */
  #receive(length: number): boolean {
    this.#take(Buffer.from(READ.subarray(0, length)));
    return true;
  }

  #take(bytes: Buffer): void {
    const exchange = this.#exchange;
    // Nothing was asked: such a connection is not to be trusted with the next request.
    if (exchange === undefined) {
      this.destroy();
      return;
    }
    this.#hasBytes = true;
    try {
      const answer = exchange.reader.take(bytes);
      if (answer !== undefined) this.#finish(exchange, answer);
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #receiveEnd(): void {
    const answer = this.#exchange?.reader.end();
    if (answer !== undefined) this.#finish(this.#exchange!, answer);
    else this.#fail(new ConnectionClosed("the connection was closed"));
  }

  #finish(exchange: Exchange, answer: HttpAnswer): void {
    this.#exchange = undefined;
    this.#hasAnswered = true;
    if (!answer.isReusable) this.destroy();
    exchange.resolve(answer);
  }

  #fail(error: Error): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    this.destroy();
    exchange?.reject(error);
  }

  #leave(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#onGone(this);
  }
}
