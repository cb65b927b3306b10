import type { WebSocket } from "ws";
import { eventually } from "../../support/eventually.ts";
import type { RpcAnswer } from "./node-calls.ts";

/** One WebSocket connection: requests with their answers, notices by their subscription's number. */
export class ScriptSocket {
  readonly #socket: WebSocket;
  readonly #answers = new Map<number, (answer: RpcAnswer) => void>();
  readonly #notices: { readonly method: string; readonly id: unknown; readonly result: unknown }[] = [];
  readonly #methods: Set<string>;
  #lastId = 0;

  /** @param methods takes the name of every method asked */
  constructor(socket: WebSocket, methods: Set<string>) {
    this.#methods = methods;
    this.#socket = socket;
    socket.on("message", (data) => {
      const message = JSON.parse(String(data));
      if (typeof message.id === "number") this.#answers.get(message.id)?.(message);
      else
        this.#notices.push({ method: message.method, id: message.params.subscription, result: message.params.result });
    });
  }

  ask(method: string, params: readonly unknown[]): Promise<RpcAnswer> {
    const id = ++this.#lastId;
    this.#methods.add(method);
    return new Promise((resolve) => {
      this.#answers.set(id, resolve);
      this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  noticesOf(id: unknown): readonly unknown[] {
    return this.#notices.filter((notice) => notice.id === id).map(({ result }) => result);
  }

  async collects(method: string, count: number): Promise<void> {
    await eventually(() => {
      if (this.#notices.filter((notice) => notice.method === method).length < count) throw new Error("too few notices");
    });
  }

  async collectsOf(id: unknown, count: number): Promise<void> {
    await eventually(() => {
      if (this.noticesOf(id).length < count) throw new Error("too few notices");
    });
  }
}
