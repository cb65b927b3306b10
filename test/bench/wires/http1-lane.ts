import { connect, type Socket } from "node:net";
import type { WireRequest } from "./wire-requests.ts";

/** A connection that carries calls. */
export interface Lane {
  /** Makes a call. Resolves with the size of the answer's body; undefined if the server was busy. @throws Error for anything else */
  call(request: WireRequest): Promise<number | undefined>;
  /** False once the server, or `close`, has closed it. */
  readonly isOpen: boolean;
  close(): void;
}

/**
 * A keep-alive HTTP/1.1 connection, one call at a time, with as little work as can be: the machine is the server's. A server that
 * closes it after an answer is connected to again.
 */
export class Http1Lane implements Lane {
  readonly #port: number;
  #socket: Socket;
  #pending = "";
  #waiting: PromiseWithResolvers<number | undefined> | undefined;

  constructor(port: number) {
    this.#port = port;
    this.#socket = this.#connect();
  }

  #connect(): Socket {
    const socket = connect(this.#port, "127.0.0.1").setNoDelay(true).setEncoding("latin1");
    const end = (error?: Error) => {
      if (socket === this.#socket)
        this.#waiting?.reject(error ?? new Error("The server closed a connection during a call."));
    };
    socket.on("data", (chunk) => this.#take(chunk as unknown as string));
    socket.on("error", end).on("close", () => end());
    return socket;
  }

  call({ path, headers, body }: WireRequest): Promise<number | undefined> {
    let head = `POST ${path} HTTP/1.1\r\nhost: bench\r\ncontent-length: ${body.length}\r\n`;
    for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
    this.#waiting = Promise.withResolvers();
    this.#socket.write(Buffer.concat([Buffer.from(`${head}\r\n`, "latin1"), body]));
    return this.#waiting.promise;
  }

  get isOpen(): boolean {
    return this.#socket.writable && !this.#socket.readableEnded;
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: string): void {
    this.#pending += chunk;
    const end = this.#pending.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(this.#pending.slice(0, end))?.[1]);
    if (Number.isNaN(length)) throw new Error(`an answer without a length: ${this.#pending}`);
    if (this.#pending.length < end + 4 + length) return;
    const answer = this.#pending;
    this.#pending = "";
    if (/^connection: close$/im.test(answer.slice(0, end).replaceAll("\r", ""))) this.#socket = this.#connect();
    const status = answer.slice(9, 12);
    if (status === "200") this.#waiting!.resolve(length);
    else if (status === "503") this.#waiting!.resolve(undefined);
    else this.#waiting!.reject(new Error(answer));
  }
}
