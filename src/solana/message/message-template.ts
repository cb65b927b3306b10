import type { Address } from "../../primitives/address.ts";
import { AddressTable, type Tabled } from "../../primitives/addresses/address-table.ts";
import { pooledBytes } from "../../primitives/bytes.ts";
import type { Instruction } from "../instruction.ts";
import type { AccountTable } from "./account-table.ts";
import { MessageLayout } from "./message-layout.ts";

/** The parts of a message without lookup tables. */
interface Plan {
  readonly payer: Address;
  readonly instructions: readonly Instruction[];
  /** 32 bytes. */
  readonly blockhash: Uint8Array;
}

/** Bytes. */
const CACHE_LINE = 64;
/** Accounts of a message at most. */
const MOST_ACCOUNTS = 256;

/** The accounts of the message that is being filled in, by place. Serves every template; none waits. */
const current = new Array<Address | undefined>(MOST_ACCOUNTS).fill(undefined);

/**
 * A message laid out once, with the accounts that differ between messages of its kind left open: those of the wallet, and those
 * that depend on the price. A message is filled in only if compiling it would give the same layout.
 */
class MessageTemplate {
  /** Shared with those of other markets, so that it is in the processor's caches. */
  readonly layout: MessageLayout;
  readonly #bytes: Uint8Array;
  /** By place; undefined if it differs between messages. */
  readonly #addresses: readonly (Address | undefined)[];

  /**
   * @param message compiled of the plan, without lookup tables
   * @param table holds the accounts of the plan
   * @param earlier of the same layout: accounts that differ from its own are open
   */
  constructor(
    layout: MessageLayout,
    payer: Address,
    message: Uint8Array,
    table: AccountTable,
    earlier?: MessageTemplate,
  ) {
    this.layout = layout;
    this.#bytes = message.slice();
    this.#addresses = Array.from({ length: table.size }, (_, place) => {
      const address = table.addressAt(place);
      const isOpen = address === payer || (earlier !== undefined && earlier.#addresses[place] !== address);
      return isOpen ? undefined : address;
    });
  }

  /** Reads one byte of each line of the processor's caches. @returns their sum */
  readAhead(): number {
    const bytes = this.#bytes;
    let sum = this.#addresses.length;
    for (let at = 0; at < bytes.length; at += CACHE_LINE) sum += bytes[at]!;
    return sum;
  }

  /**
   * The message of the plan; undefined if it has another layout, or an account of its own in a place that is not open.
   *
   * @param before see `pooledBytes`
   */
  fill({ payer, instructions, blockhash }: Plan, before: number): Uint8Array | undefined {
    const { layout } = this;
    if (!layout.hasShapeOf(instructions)) return undefined;
    const addresses = this.#addresses;
    current[0] = payer;
    if (!layout.takeAccounts(instructions, addresses, current) || !this.#hasNoneTwice()) return undefined;
    const out = pooledBytes(this.#bytes.length, before);
    out.set(this.#bytes);
    const { addressAt, dataAt } = layout;
    for (let place = 0; place < addresses.length; place++)
      if (addresses[place] === undefined) out.set(current[place]!.bytes, addressAt[place]!);
    out.set(blockhash, layout.blockhashAt);
    for (let index = 0; index < instructions.length; index++) out.set(instructions[index]!.data, dataAt[index]!);
    return out;
  }

  /** True if no open account is that of another place: compiled, both would be one. */
  #hasNoneTwice(): boolean {
    const addresses = this.#addresses;
    for (let open = 0; open < addresses.length; open++) {
      if (addresses[open] !== undefined) continue;
      const address = current[open];
      for (let place = 0; place < addresses.length; place++) {
        const other = addresses[place];
        if (other === address || (other === undefined && place < open && current[place] === address)) return false;
      }
    }
    return true;
  }
}

/** Larger messages fit into no transaction, and are not made again. */
const MOST_BYTES = 1_232;
/** Kinds whose templates are kept: about a kilobyte each. */
const MOST_KINDS = 4_096;
/** Layouts that are shared: each venue has a few. */
const MOST_SHARED = 1_024;
/** Layouts of one kind: with and without an account to create, buys and sells. */
const MOST_LAYOUTS = 6;

/** The templates of messages that are likely alike. */
interface Kind extends Tabled {
  readonly templates: MessageTemplate[];
}

/** Templates by kind: messages of one market are alike. */
class MessageTemplates {
  readonly #byKind = new AddressTable<Kind>("templates");
  readonly #layouts = new Map<string, MessageLayout>();

  /**
   * The message of the plan, if messages of its kind and layout have been seen.
   *
   * @param before see `pooledBytes`
   */
  fill(kind: Address, plan: Plan, before: number): Uint8Array | undefined {
    const known = this.#byKind.get(kind)?.templates;
    if (known === undefined) return undefined;
    for (let index = 0; index < known.length; index++) {
      const message = known[index]!.fill(plan, before);
      if (message !== undefined) return message;
    }
    return undefined;
  }

  /** Reads the template seen first. @returns a number that depends on it */
  readAhead(kind: Address): number {
    return this.#byKind.get(kind)?.templates[0]?.readAhead() ?? 0;
  }

  /**
   * Keeps the layout of a message that no template gave.
   *
   * @param message without lookup tables
   * @param table holds its accounts
   */
  learn(kind: Address, plan: Plan, message: Uint8Array, table: AccountTable): void {
    // A program that pays would have another place with each payer.
    if (message.length > MOST_BYTES || plan.instructions.some(({ program }) => program === plan.payer)) return;
    let entry = this.#byKind.get(kind);
    if (entry === undefined) {
      if (this.#byKind.size >= MOST_KINDS) this.#byKind.delete(this.#byKind.keys().next().value!);
      entry = { table: this.#byKind, templates: [] };
      this.#byKind.set(kind, entry);
    }
    const known = entry.templates;
    const index = known.findIndex(({ layout }) => layout.fits(plan.instructions, table));
    const layout = known[index]?.layout ?? this.#layoutOf(plan, table);
    const template = new MessageTemplate(layout, plan.payer, message, table, known[index]);
    if (index >= 0) known[index] = template;
    else {
      if (known.length === MOST_LAYOUTS) known.shift();
      known.push(template);
    }
  }

  #layoutOf({ instructions }: Plan, table: AccountTable): MessageLayout {
    const layout = new MessageLayout(instructions, table);
    const { key } = layout;
    const shared = this.#layouts.get(key);
    if (shared !== undefined) return shared;
    if (this.#layouts.size >= MOST_SHARED) this.#layouts.clear();
    this.#layouts.set(key, layout);
    return layout;
  }
}

/** Serves every compilation; none waits. */
export const messageTemplates = new MessageTemplates();
