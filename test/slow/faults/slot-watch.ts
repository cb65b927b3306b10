import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";

/** Writes down when the chain came to each slot, by its own word. For chains that do not fork: every slot has a block. */
export class SlotWatch {
  readonly #socket: WebSocket;
  readonly #heightBelowSlot: number;
  readonly #atMs = new Map<number, number>();
  #newest = 0;

  private constructor(socket: WebSocket, heightBelowSlot: number) {
    this.#socket = socket;
    this.#heightBelowSlot = heightBelowSlot;
    socket.on("message", (data) => {
      const { method, params } = JSON.parse(String(data)) as { method?: string; params: { result: { slot: number } } };
      if (method !== "slotNotification") return;
      this.#newest = params.result.slot;
      this.#atMs.set(this.#newest, Date.now());
    });
  }

  static async start({ rpcUrl, wsUrl }: Sandbox): Promise<SlotWatch> {
    const response = await fetch(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getEpochInfo", params: [{ commitment: "processed" }] }),
    });
    const { result } = (await response.json()) as { result: { absoluteSlot: number; blockHeight: number } };
    const socket = new WebSocket(wsUrl);
    const watch = new SlotWatch(socket, result.absoluteSlot - result.blockHeight);
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "slotSubscribe", params: [] }));
    return watch;
  }

  /** When the chain was past the height (epoch milliseconds): from then on nothing of that last valid height can land. */
  async endOf(lastValidBlockHeight: number): Promise<number> {
    const slot = lastValidBlockHeight + 1 + this.#heightBelowSlot;
    while (this.#newest < slot) await sleep(20);
    return this.#atMs.get(slot)!;
  }

  close(): void {
    this.#socket.terminate();
  }
}
