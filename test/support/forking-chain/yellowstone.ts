import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { SLOT_STATUS } from "../../../src/chain/yellowstone/yellowstone-wire.ts";
import type { Random } from "../../../src/primitives/random.ts";
import { ADDRESSES, addressOf, dataOf, ownerOf } from "./accounts.ts";
import { Channel } from "./channel.ts";
import type { ForkingNode, NodeEvent } from "./node.ts";

/** How a server answers when a stream asks for what came before. */
export type Replay = "served" | "empty" | "partly" | "refused";

interface StreamOptions {
  readonly node: ForkingNode;
  readonly random: Random;
  readonly replay: Replay;
  readonly onMessage: (message: Uint8Array) => void;
  readonly onEnd: (reason: string) => void;
}

/** Messages other than a bank's beginning come so much later at most, and overtake each other. */
const LATE_MS = 40;

/** A Yellowstone stream of a node, in memory. */
export class NodeStream {
  readonly #options: StreamOptions;
  readonly #down: Channel;
  readonly #up: Channel;
  #filter = "";
  #accounts = new Set<number>();
  #isOpen = false;
  #isOver = false;
  readonly #listen = (event: NodeEvent) => this.#tell(event);

  constructor(options: StreamOptions) {
    this.#options = options;
    const { random } = options;
    this.#down = new Channel(random, 5, 25);
    this.#up = new Channel(random, 5, 25);
  }

  get node(): ForkingNode {
    return this.#options.node;
  }

  send(message: Uint8Array): void {
    this.#up.send(() => {
      if (!this.#isOver) this.#request(message);
    });
  }

  answer(): void {}
  countWork(): void {}

  close(): void {
    this.#isOver = true;
    this.#options.node.listeners.delete(this.#listen);
  }

  /** Ends the stream: what is under way is lost. */
  cut(reason = "cut"): void {
    if (this.#isOver) return;
    this.close();
    this.#options.onEnd(reason);
  }

  #request(message: Uint8Array): void {
    const { node, replay } = this.#options;
    if (node.isDown) {
      this.cut("refused");
      return;
    }
    const { name, accounts, fromSlot } = requestIn(message);
    this.#filter = name;
    this.#accounts = new Set(accounts.map((text) => addressOf.indexOf(text)));
    if (this.#isOpen) return;
    if (fromSlot !== undefined && replay === "refused") {
      this.cut("gRPC status 3: from_slot is not available");
      return;
    }
    this.#isOpen = true;
    node.listeners.add(this.#listen);
    if (fromSlot === undefined || replay === "empty") return;
    const from = replay === "partly" ? fromSlot + 20 : fromSlot;
    for (const event of node.memory) if (event.kind !== "processed" && event.slot >= from) this.#tell(event, 1);
  }

  #tell(event: NodeEvent, mostLateMs = LATE_MS): void {
    if (event.kind === "processed") return;
    const { random } = this.#options;
    const message = this.#messageOf(event);
    if (message === undefined) return;
    for (let copies = random.chance(0.03) ? 2 : 1; copies > 0; copies--) {
      const isLate = event.kind !== "created" && this.#isAtHead(event.slot) && random.chance(0.3);
      const lateMs = isLate ? random.u32() % mostLateMs : 0;
      const arrive = () => {
        if (!this.#isOver) this.#options.onMessage(message);
      };
      this.#down.send(() => (lateMs === 0 ? arrive() : void setTimeout(arrive, lateMs)));
    }
  }

  /** False of what a node executes of the past in a rush: slots would overtake each other. */
  #isAtHead(slot: number): boolean {
    return slot + 2 >= this.#options.node.network.slot;
  }

  #messageOf(event: NodeEvent): Uint8Array | undefined {
    if (event.kind === "processed") return undefined;
    const { slot } = event;
    if (event.kind === "created")
      return slotUpdate(this.#filter, {
        slot,
        parent: event.parent,
        status: SLOT_STATUS.createdBank,
        bankId: event.bankId,
      });
    if (event.kind !== "write") return slotUpdate(this.#filter, { slot, status: STATUS_OF[event.kind] });
    if (!this.#accounts.has(event.write.key)) return undefined;
    return accountUpdate(this.#filter, event);
  }
}

const STATUS_OF = {
  frozen: SLOT_STATUS.processed,
  confirmed: SLOT_STATUS.confirmed,
  rooted: SLOT_STATUS.finalized,
  dead: SLOT_STATUS.dead,
} as const;

interface SlotFields {
  readonly slot: number;
  readonly status: number;
  readonly parent?: number;
  readonly bankId?: number;
}

export function slotUpdate(filter: string, { slot, parent, status, bankId }: SlotFields): Uint8Array {
  const writer = new BinaryWriter().tag(1, 2).string(filter).tag(3, 2).fork().tag(1, 0).uint64(slot);
  if (parent !== undefined) writer.tag(2, 0).uint64(parent);
  writer.tag(3, 0).int32(status);
  if (bankId !== undefined) writer.tag(5, 0).uint64(bankId);
  return writer.join().finish();
}

function accountUpdate(
  filter: string,
  { slot, write, writeVersion, bankId }: NodeEvent & { readonly kind: "write" },
): Uint8Array {
  const { key, value } = write;
  const writer = new BinaryWriter().tag(1, 2).string(filter).tag(2, 2).fork();
  writer.tag(1, 2).fork().tag(1, 2).bytes(ADDRESSES[key]!.bytes);
  if (value !== null) writer.tag(2, 0).uint64(1);
  // A closed account is the system program's.
  writer.tag(3, 2).bytes(value === null ? new Uint8Array(32) : ownerOf(value).bytes);
  if (value !== null) writer.tag(6, 2).bytes(dataOf(value));
  writer.tag(7, 0).uint64(writeVersion).join();
  return writer.tag(2, 0).uint64(slot).tag(4, 0).uint64(bankId).join().finish();
}

function requestIn(message: Uint8Array): { name: string; accounts: string[]; fromSlot: number | undefined } {
  const reader = new BinaryReader(message);
  const accounts: string[] = [];
  let name = "";
  let fromSlot: number | undefined;
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    if (field === 1 || field === 2) {
      const end = reader.uint32() + reader.pos;
      while (reader.pos < end) {
        const [part, partWire] = reader.tag();
        if (part === 1) name = reader.string();
        else if (field === 1) {
          const filterEnd = reader.uint32() + reader.pos;
          while (reader.pos < filterEnd) {
            reader.tag();
            accounts.push(reader.string());
          }
        } else reader.skip(partWire);
      }
    } else if (field === 11) fromSlot = Number(reader.uint64());
    else reader.skip(wire);
  }
  return { name, accounts, fromSlot };
}
