import type { Address } from "../../primitives/address.ts";
import { AddressTable, type Tabled } from "../../primitives/addresses/address-table.ts";
import { pooledBytes } from "../../primitives/bytes.ts";
import type { FilledInstruction, Instruction } from "../instruction.ts";
import type { AccountTable } from "./account-table.ts";
import { type FirstBytes, MessageLayout } from "./message-layout.ts";

/** The parts of a message without lookup tables. */
interface Plan {
  readonly payer: Address;
  readonly instructions: readonly Instruction[];
  /** 32 bytes. */
  readonly blockhash: Uint8Array;
  /** By `messageForm`; absent if nothing is known of it. */
  readonly form?: number | undefined;
}

/**
 * What tells apart most messages of a market before they are composed: in a sale accounts have other places than in a purchase, and an
 * account that is opened takes an instruction of its own. Only templates of a message's own form are tried, and read ahead.
 */
export function messageForm(sells: boolean, opens: boolean): number {
  return (sells ? 2 : 0) + (opens ? 1 : 0);
}

/** Bytes. */
const CACHE_LINE = 64;
/** Larger messages fit into no transaction, and are not made again. */
const MOST_BYTES = 1_232;
/** Kinds whose templates are kept: about a kilobyte each. */
const MOST_KINDS = 4_096;
/** Layouts that are shared: each venue has a few. */
const MOST_SHARED = 1_024;
/** Layouts of one kind: with and without an account to create, buys and sells. */
const MOST_LAYOUTS = 6;
/** Messages filled in of one template. Prices move on to other arrays of ticks or bins: the next template knows those. */
const MOST_FILLED = 1_024;

/**
 * A message laid out once. Another is filled in only if compiling it would give the same layout, and the same bytes but for the accounts,
 * amounts and data that its instructions bring.
 */
class MessageTemplate implements Tabled, FirstBytes {
  readonly table: object;
  /** Shared with those of other markets, so that it is in the processor's caches. */
  readonly layout: MessageLayout;
  readonly form: number;
  /** The next of the kind: a list would be one more thing to read. */
  next: MessageTemplate | undefined;
  readonly #bytes: Uint8Array;
  /** What decides its fixed accounts, then its open accounts that all messages had so far: those are neither compared nor written. */
  readonly #known: unknown[];
  #filled = 0;
  readonly firsts0: number;
  readonly firsts1: number;
  readonly firsts2: number;
  readonly firsts3: number;

  /** @param message compiled of the plan, without lookup tables */
  constructor(table: object, layout: MessageLayout, { payer, instructions, form = 0 }: Plan, message: Uint8Array) {
    this.table = table;
    this.layout = layout;
    this.form = form;
    this.next = undefined;
    this.#bytes = message.slice();
    this.#known = layout.knownBy(payer, instructions as readonly FilledInstruction[]);
    // In this object, since another would be one more thing to read.
    const firsts = layout.firstBytes(message);
    this.firsts0 = firsts.firsts0;
    this.firsts1 = firsts.firsts1;
    this.firsts2 = firsts.firsts2;
    this.firsts3 = firsts.firsts3;
  }

  /** Reads one byte of each line of the processor's caches. @returns their sum */
  readAhead(): number {
    const bytes = this.#bytes;
    let sum = this.#known[0] === this.layout ? 1 : 0;
    for (let at = 0; at < bytes.length; at += CACHE_LINE) sum += bytes[at]!;
    return sum;
  }

  /**
   * The message of the plan; undefined if compiling it would give another layout, or other fixed accounts, or if it is time to compile one.
   *
   * @param before see `pooledBytes`
   */
  fill({ payer, instructions, blockhash }: Plan, before: number): Uint8Array | undefined {
    const { layout } = this;
    const bytes = this.#bytes;
    const known = this.#known;
    if (!layout.take(payer, instructions, bytes, known, this) || this.#filled++ === MOST_FILLED) return undefined;
    const out = pooledBytes(bytes.length, before);
    out.set(bytes);
    layout.write(out, instructions, blockhash, known);
    return out;
  }
}

/** Templates by kind: messages of one market are alike. */
class MessageTemplates {
  /** The first template of each kind, the one seen longest ago. */
  readonly #byKind = new AddressTable<MessageTemplate>("templates");
  readonly #layouts = new Map<string, MessageLayout>();

  /**
   * The message of the plan, if messages of its kind and layout have been seen.
   *
   * @param before see `pooledBytes`
   */
  fill(kind: Address, plan: Plan, before: number): Uint8Array | undefined {
    for (let template = this.first(kind, plan.form); template !== undefined; template = template.next) {
      if (template.form !== (plan.form ?? 0)) continue;
      const message = template.fill(plan, before);
      if (message !== undefined) return message;
    }
    return undefined;
  }

  /** The template of a kind and form seen first. */
  first(kind: Address, form = 0): MessageTemplate | undefined {
    let template = this.#byKind.get(kind);
    while (template !== undefined && template.form !== form) template = template.next;
    return template;
  }

  /**
   * Keeps the layout of a message that no template gave.
   *
   * @param message without lookup tables
   * @param table holds its accounts
   */
  learn(kind: Address, plan: Plan, message: Uint8Array, table: AccountTable): void {
    if (message.length > MOST_BYTES) return;
    const layout = this.#layoutOf(plan.instructions, table);
    if (layout === undefined) return;
    const first = this.#byKind.get(kind);
    if (first === undefined && this.#byKind.size >= MOST_KINDS) this.#byKind.delete(this.#byKind.keys().next().value!);
    const known: MessageTemplate[] = [];
    for (let template = first; template !== undefined; template = template.next)
      if (template.layout !== layout || template.form !== (plan.form ?? 0)) known.push(template);
    const kept = known.slice(known.length < MOST_LAYOUTS ? 0 : 1);
    kept.push(new MessageTemplate(this.#byKind, layout, plan, message));
    for (const [at, template] of kept.entries()) template.next = kept[at + 1];
    this.#byKind.set(kind, kept[0]!);
  }

  /** Drops the templates of a kind, and what they know its messages by: a market would stay in memory, with all that is kept for it. */
  forget(kind: Address): void {
    this.#byKind.delete(kind);
  }

  #layoutOf(instructions: readonly Instruction[], table: AccountTable): MessageLayout | undefined {
    const layout = MessageLayout.of(instructions, table);
    if (layout === undefined) return undefined;
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
