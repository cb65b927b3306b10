import type { Address } from "../../primitives/address.ts";
import { pooledBytes } from "../../primitives/bytes.ts";
import type { Instruction } from "../instruction.ts";
import type { AccountTable } from "./account-table.ts";
import { lengthSize } from "./compact-length.ts";

/** The parts of a message without lookup tables. */
interface Plan {
  readonly payer: Address;
  readonly instructions: readonly Instruction[];
  /** 32 bytes. */
  readonly blockhash: Uint8Array;
}

const SIGNER = 1;
const WRITABLE = 2;
/** The use is the first of its account. */
const FIRST = 4;
/** Accounts of a message at most. */
const MOST_ACCOUNTS = 256;

/** The accounts of the message that is being filled in, by place. Serves every template; none waits. */
const current = new Array<Address | undefined>(MOST_ACCOUNTS).fill(undefined);

/**
 * A message laid out once, with the accounts that differ between messages of its kind left open: those of the wallet, and those
 * that depend on the price. A message is filled in only if compiling it would give the same layout.
 */
export class MessageTemplate {
  readonly #bytes: Uint8Array;
  readonly #blockhashAt: number;
  /** By instruction. */
  readonly #programs: readonly Address[];
  readonly #programPlaces: Uint16Array;
  readonly #accountCounts: Uint16Array;
  readonly #dataLengths: Uint16Array;
  readonly #dataAt: Uint16Array;
  /** By use, one instruction after another: the account's place in order of first use, and its rights here. */
  readonly #places: Uint16Array;
  readonly #rights: Uint8Array;
  /** By place; undefined if it differs between messages. */
  readonly #addresses: readonly (Address | undefined)[];
  readonly #addressAt: Uint16Array;
  /** Places of the accounts that differ, the payer's first. */
  readonly #open: readonly number[];

  /**
   * @param message compiled of the plan, without lookup tables
   * @param table holds the accounts of the plan
   * @param earlier of the same layout: accounts that differ from its own are open
   */
  constructor({ payer, instructions }: Plan, message: Uint8Array, table: AccountTable, earlier?: MessageTemplate) {
    const statics = 4 + lengthSize(table.size);
    this.#bytes = message.slice();
    this.#blockhashAt = statics + 32 * table.size;
    this.#programs = instructions.map(({ program }) => program);
    this.#programPlaces = Uint16Array.from(instructions, (_, index) => table.placeOfProgram(index));
    this.#accountCounts = Uint16Array.from(instructions, ({ accounts }) => accounts.length);
    this.#dataLengths = Uint16Array.from(instructions, ({ data }) => data.length);
    let at = this.#blockhashAt + 32 + lengthSize(instructions.length);
    this.#dataAt = Uint16Array.from(instructions, ({ accounts, data }) => {
      const start = at + 1 + lengthSize(accounts.length) + accounts.length + lengthSize(data.length);
      at = start + data.length;
      return start;
    });
    const metas = instructions.flatMap(({ accounts }) => accounts);
    this.#places = Uint16Array.from(metas, (_, use) => table.placeOfUse(use));
    const seen = new Set([0]);
    this.#rights = Uint8Array.from(metas, ({ signer, writable }, use) => {
      const isFirst = !seen.has(this.#places[use]!);
      seen.add(this.#places[use]!);
      return (signer ? SIGNER : 0) | (writable ? WRITABLE : 0) | (isFirst ? FIRST : 0);
    });
    const places = Array.from({ length: table.size }, (_, place) => place);
    this.#addressAt = Uint16Array.from(places, (place) => statics + 32 * table.positionOf(place));
    this.#addresses = places.map((place) => {
      const address = table.addressAt(place);
      const isOpen = address === payer || (earlier !== undefined && earlier.#addresses[place] !== address);
      return isOpen ? undefined : address;
    });
    this.#open = places.filter((place) => this.#addresses[place] === undefined);
  }

  /** True if a message of the plan has the layout of this one, whatever its accounts are. */
  fits({ instructions }: Plan, table: AccountTable): boolean {
    if (table.size !== this.#addresses.length || !this.#hasShapeOf(instructions)) return false;
    if (this.#programPlaces.some((place, index) => table.placeOfProgram(index) !== place)) return false;
    let use = 0;
    for (const { accounts } of instructions) {
      for (const { signer, writable } of accounts) {
        const right = (signer ? SIGNER : 0) | (writable ? WRITABLE : 0);
        if ((this.#rights[use]! & (SIGNER | WRITABLE)) !== right) return false;
        if (this.#places[use] !== table.placeOfUse(use)) return false;
        use += 1;
      }
    }
    return true;
  }

  /** The message of the plan; undefined if it has another layout, or an account of its own in a place that is not open. */
  fill({ payer, instructions, blockhash }: Plan): Uint8Array | undefined {
    if (!this.#hasShapeOf(instructions)) return undefined;
    current[0] = payer;
    if (!this.#takeAccounts(instructions) || !this.#hasNoneTwice()) return undefined;
    const out = pooledBytes(this.#bytes.length);
    out.set(this.#bytes);
    for (const place of this.#open) out.set(current[place]!.bytes, this.#addressAt[place]!);
    out.set(blockhash, this.#blockhashAt);
    for (let index = 0; index < instructions.length; index++) out.set(instructions[index]!.data, this.#dataAt[index]!);
    return out;
  }

  #hasShapeOf(instructions: readonly Instruction[]): boolean {
    const programs = this.#programs;
    if (instructions.length !== programs.length) return false;
    for (let index = 0; index < instructions.length; index++) {
      const { program, accounts, data } = instructions[index]!;
      if (program !== programs[index] || accounts.length !== this.#accountCounts[index]) return false;
      if (data.length !== this.#dataLengths[index]) return false;
    }
    return true;
  }

  /** Takes the accounts into their places. False if one is another than the place's own, or has other rights. */
  #takeAccounts(instructions: readonly Instruction[]): boolean {
    const addresses = this.#addresses;
    const places = this.#places;
    const rights = this.#rights;
    let use = 0;
    for (let index = 0; index < instructions.length; index++) {
      const { accounts } = instructions[index]!;
      for (let at = 0; at < accounts.length; at++) {
        const { address, signer, writable } = accounts[at]!;
        const right = rights[use]!;
        const place = places[use++]!;
        if ((right & SIGNER) !== (signer ? SIGNER : 0) || (right & WRITABLE) !== (writable ? WRITABLE : 0))
          return false;
        const own = addresses[place];
        if (own !== undefined) {
          if (own !== address) return false;
        } else if ((right & FIRST) !== 0) current[place] = address;
        else if (current[place] !== address) return false;
      }
    }
    return true;
  }

  /** True if no open account is that of another place: compiled, both would be one. */
  #hasNoneTwice(): boolean {
    const addresses = this.#addresses;
    const open = this.#open;
    for (let index = 0; index < open.length; index++) {
      const address = current[open[index]!];
      for (let place = 0; place < addresses.length; place++) if (addresses[place] === address) return false;
      for (let other = 0; other < index; other++) if (current[open[other]!] === address) return false;
    }
    return true;
  }
}

/** Larger messages fit into no transaction, and are not made again. */
const MOST_BYTES = 1_232;
/** Kinds whose templates are kept: about a kilobyte each. */
const MOST_KINDS = 4_096;
/** Layouts of one kind: with and without an account to create, buys and sells. */
const MOST_LAYOUTS = 6;

/** Templates by kind: messages of one market are alike. */
export class MessageTemplates {
  readonly #byKind = new Map<Address, MessageTemplate[]>();

  /** The message of the plan, if messages of its kind and layout have been seen. */
  fill(kind: Address, plan: Plan): Uint8Array | undefined {
    const known = this.#byKind.get(kind);
    if (known === undefined) return undefined;
    for (let index = 0; index < known.length; index++) {
      const message = known[index]!.fill(plan);
      if (message !== undefined) return message;
    }
    return undefined;
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
    let known = this.#byKind.get(kind);
    if (known === undefined) {
      if (this.#byKind.size >= MOST_KINDS) this.#byKind.delete(this.#byKind.keys().next().value!);
      known = [];
      this.#byKind.set(kind, known);
    }
    const index = known.findIndex((template) => template.fits(plan, table));
    const template = new MessageTemplate(plan, message, table, known[index]);
    if (index >= 0) known[index] = template;
    else {
      if (known.length === MOST_LAYOUTS) known.shift();
      known.push(template);
    }
  }
}
