import { EventEmitter } from "node:events";
import type { Random } from "../../../src/primitives/random.ts";
import { addressOf, dataOf, ownerOf } from "./accounts.ts";
import { Channel } from "./channel.ts";
import type { Block, Value } from "./network.ts";
import type { ForkingNode, NodeEvent } from "./node.ts";

interface Subscription {
  readonly key: number;
  readonly id: number;
  /** The slot of the change that was reported last. */
  notifiedSlot: number;
}

const OPEN = 1;
const CLOSED = 3;
const ENCODING = "base64";
/** Account notices come up to so much after the slot notice of the next slot. Milliseconds. */
const LATE_NOTICE_MS = 120;

/**
 * A WebSocket to a node, in memory. Notices are a node's own: one of each slot as its bank is created, on whatever branch; one of an
 * account whenever its last change, as of the bank that is processed, is another than the one reported last.
 *
 * @see agave rpc/src/rpc_subscriptions.rs `filter_account_result`
 */
export class NodeSocket extends EventEmitter {
  readyState = 0;
  readonly node: ForkingNode;
  readonly #random: Random;
  readonly #down: Channel;
  readonly #late: Channel;
  readonly #subscriptions = new Map<number, Subscription>();
  #hasSlots = false;
  #ids = 0;
  readonly #listen = (event: NodeEvent) => this.#receive(event);

  constructor(node: ForkingNode, random: Random) {
    super();
    this.node = node;
    this.#random = random;
    this.#down = new Channel(random, 5, 30);
    this.#late = new Channel(random, 0, LATE_NOTICE_MS);
    this.#down.send(() => {
      if (this.readyState !== 0) return;
      if (node.isDown) {
        this.emit("error", new Error("refused"));
        this.cut();
        return;
      }
      this.readyState = OPEN;
      node.listeners.add(this.#listen);
      this.emit("open");
    });
  }

  send(text: string): void {
    const { id, method, params } = JSON.parse(text) as { id: number; method: string; params: unknown[] };
    setTimeout(
      () => {
        if (this.readyState !== OPEN) return;
        this.#answer(id, this.#run(method, params));
      },
      5 + (this.#random.u32() % 20),
    );
  }

  ping(): void {}
  pause(): void {}
  resume(): void {}

  terminate(): void {
    this.cut();
  }

  /** Ends the connection: what is under way is lost. */
  cut(): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    this.node.listeners.delete(this.#listen);
    setTimeout(() => this.emit("close"), 1);
  }

  #run(method: string, params: readonly unknown[]): unknown {
    const id = ++this.#ids;
    if (method === "slotSubscribe") this.#hasSlots = true;
    else if (method === "accountSubscribe") {
      const key = addressOf.indexOf(params[0] as string);
      this.#subscriptions.set(id, { key, id, notifiedSlot: changedIn(this.node.head, key) });
    } else if (method === "accountUnsubscribe") this.#subscriptions.delete(params[0] as number);
    return id;
  }

  #receive(event: NodeEvent): void {
    if (event.kind === "created" && this.#hasSlots) {
      const { slot, parent } = event;
      this.#notify("slotNotification", { slot, parent, root: this.node.root.slot }, 0);
    } else if (event.kind === "processed") {
      const { block } = event;
      this.#late.send(() => {
        for (const one of this.#subscriptions.values()) this.#noticeOf(one, block);
      });
    }
  }

  #noticeOf(subscription: Subscription, block: Block): void {
    const { key, id } = subscription;
    const changed = changedIn(block, key);
    if (changed === subscription.notifiedSlot) return;
    subscription.notifiedSlot = changed;
    this.#notify("accountNotification", { context: { slot: block.slot }, value: jsonOf(block.state[key]!) }, id);
  }

  #notify(method: string, result: object, subscription: number): void {
    const text = JSON.stringify({ jsonrpc: "2.0", method, params: { result, subscription } });
    for (let copies = this.#random.chance(0.03) ? 2 : 1; copies > 0; copies--) this.#deliver(text);
  }

  #answer(id: number, result: unknown): void {
    this.#deliver(JSON.stringify({ jsonrpc: "2.0", result, id }));
  }

  #deliver(text: string): void {
    this.#down.send(() => {
      if (this.readyState === OPEN) this.emit("message", Buffer.from(text));
    });
  }
}

/** The slot that last wrote the account, on the branch of a block. */
function changedIn(block: Block, key: number): number {
  let at: Block = block;
  while (at.parent !== undefined && !at.writes.some((write) => write.key === key)) at = at.parent;
  return at.slot;
}

function jsonOf(value: Value): object {
  const data = [value === null ? "" : Buffer.from(dataOf(value)).toString(ENCODING), ENCODING];
  const owner = value === null ? "11111111111111111111111111111111" : ownerOf(value).toString();
  return { lamports: value === null ? 0 : 1, data, owner, executable: false, rentEpoch: 0, space: 8 };
}
