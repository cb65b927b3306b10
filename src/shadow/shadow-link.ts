import { connect, type Socket } from "node:net";
import { Channel } from "./channel.ts";
import type { Numbered, ShadowAnswer, ShadowOrder } from "./protocol.ts";

interface ShadowLinkOptions {
  /** The socket of the shadow process. */
  readonly path: string;
  /** Called each time the process is reached, which knows nothing then. */
  readonly onOpen?: () => void;
}

const RECONNECT_MS = 100;
/** Far above the longest check: loading every program takes a second. */
const TIMEOUT_MS = 15_000;

interface Waiting {
  readonly resolve: (answer: ShadowAnswer | undefined) => void;
  readonly timer: NodeJS.Timeout;
}

/** The way to the shadow process. It comes back by itself; what is pending when it breaks stays without an answer. */
export class ShadowLink {
  readonly #options: ShadowLinkOptions;
  readonly #waiting = new Map<number, Waiting>();
  #channel: Channel | undefined;
  #socket: Socket | undefined;
  #retry: NodeJS.Timeout | undefined;
  #lastId = 0;
  #isClosed = false;

  constructor(options: ShadowLinkOptions) {
    this.#options = options;
    this.#open();
  }

  get isOpen(): boolean {
    return this.#channel !== undefined;
  }

  /** The answer; undefined if the process cannot be reached or ends before it answers. */
  send(body: ShadowOrder): Promise<ShadowAnswer | undefined> {
    const channel = this.#channel;
    if (channel === undefined) return Promise.resolve(undefined);
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      // A process that hangs is left behind: the next connection finds it ended, or another in its place.
      const timer = setTimeout(() => this.#socket?.destroy(), TIMEOUT_MS);
      timer.unref();
      this.#waiting.set(id, { resolve, timer });
      channel.send({ id, body } satisfies Numbered<ShadowOrder>);
    });
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#socket?.destroy();
  }

  #open(): void {
    const socket = connect(this.#options.path);
    socket.unref();
    this.#socket = socket;
    const channel = new Channel(socket, (value) => this.#settle(value as Numbered<ShadowAnswer>));
    socket.once("connect", () => {
      this.#channel = channel;
      this.#options.onOpen?.();
    });
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      this.#channel = undefined;
      for (const { resolve, timer } of this.#waiting.values()) {
        clearTimeout(timer);
        resolve(undefined);
      }
      this.#waiting.clear();
      if (this.#isClosed) return;
      this.#retry = setTimeout(() => this.#open(), RECONNECT_MS);
      this.#retry.unref();
    });
  }

  #settle({ id, body }: Numbered<ShadowAnswer>): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    waiting.resolve(body);
  }
}
