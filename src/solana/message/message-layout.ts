import type { Address } from "../../primitives/address.ts";
import { viewOfBuffer } from "../../primitives/bytes.ts";
import { FilledInstruction, type Instruction, type InstructionPattern } from "../instruction.ts";
import type { AccountTable } from "./account-table.ts";
import { lengthSize } from "./compact-length.ts";

/** Accounts of a message at most. */
const MOST_ACCOUNTS = 256;
/** In the place of a number, for what is not there. */
const NONE = 255;

/** Which first bytes addresses have, without their highest bit: one bit for each, in four numbers. Most other addresses have another. */
export interface FirstBytes {
  readonly firsts0: number;
  readonly firsts1: number;
  readonly firsts2: number;
  readonly firsts3: number;
}

/** The open accounts of the message that is being filled in. Serves every layout; none waits. */
const taken = new Array<Address | undefined>(MOST_ACCOUNTS).fill(undefined);

/**
 * How a message without lookup tables is laid out, whatever the fixed accounts of its instructions are: the messages of a venue share a
 * few of these. Open accounts are the payer, which is the first, and those that instructions bring, in order of first use. The order of
 * accounts in a message, and the rights of each, follow from the patterns, and from which of the open accounts are the same.
 */
export class MessageLayout {
  /** Equal for equal layouts. */
  readonly key: string;
  readonly #blockhashAt: number;
  /** By instruction. */
  readonly #patterns: readonly InstructionPattern[];
  readonly #variants: Uint16Array;
  readonly #ownCounts: Uint8Array;
  /** Its place among those that have fixed accounts; `NONE` if it has none. */
  readonly #fixedPlaces: Uint8Array;
  readonly #fixedCount: number;
  readonly #dataAt: Uint16Array;
  /** By own account of the instructions, one instruction after another: which of the open accounts it is; `NONE` if it is in data alone. */
  readonly #opens: Uint8Array;
  /** Where each open account is written, and where the fixed ones are. */
  readonly #openAt: Uint16Array;
  readonly #fixedAt: Uint16Array;

  /**
   * The layout of a message; undefined if an account is open in one place and fixed in another, or if not all instructions have patterns.
   *
   * @param table holds the accounts of the instructions
   */
  static of(instructions: readonly Instruction[], table: AccountTable): MessageLayout | undefined {
    const filled = instructions.filter((instruction) => instruction instanceof FilledInstruction);
    if (filled.length !== instructions.length) return undefined;
    const open: number[] = [0];
    const opens: number[] = [];
    const fixed = new Set<number>();
    let use = 0;
    for (const [index, instruction] of filled.entries()) {
      const { named, own } = instruction;
      const places = new Array<number | undefined>(own.length).fill(undefined);
      for (const account of named) {
        const place = table.placeOfUse(use++);
        if (typeof account === "number") places[account] = place;
        else fixed.add(place);
      }
      for (const place of places) {
        if (place !== undefined && !open.includes(place)) open.push(place);
        opens.push(place === undefined ? NONE : open.indexOf(place));
      }
      fixed.add(table.placeOfProgram(index));
    }
    return open.some((place) => fixed.has(place))
      ? undefined
      : new MessageLayout(filled, table, { open, opens, fixed });
  }

  private constructor(
    instructions: readonly FilledInstruction[],
    table: AccountTable,
    {
      open,
      opens,
      fixed,
    }: { readonly open: readonly number[]; readonly opens: readonly number[]; readonly fixed: ReadonlySet<number> },
  ) {
    const statics = 4 + lengthSize(table.size);
    const byteOf = (place: number) => statics + 32 * table.positionOf(place);
    this.#blockhashAt = statics + 32 * table.size;
    this.#patterns = instructions.map(({ pattern }) => pattern);
    this.#variants = Uint16Array.from(instructions, ({ variant }) => variant);
    this.#ownCounts = Uint8Array.from(instructions, ({ own }) => own.length);
    let fixedCount = 0;
    this.#fixedPlaces = Uint8Array.from(instructions, (one) => (one.fixed === undefined ? NONE : fixedCount++));
    this.#fixedCount = fixedCount;
    let at = this.#blockhashAt + 32 + lengthSize(instructions.length);
    const lengths = instructions.map(({ data }) => data.length);
    this.#dataAt = Uint16Array.from(lengths, (length, index) => {
      const count = table.namedBy(index);
      const start = at + 1 + lengthSize(count) + count + lengthSize(length);
      at = start + length;
      return start;
    });
    this.#opens = Uint8Array.from(opens);
    this.#openAt = Uint16Array.from(open, byteOf);
    this.#fixedAt = Uint16Array.from(fixed, byteOf);
    const patterns = this.#patterns.map(({ id }) => id);
    const numbers = [this.#variants, this.#ownCounts, this.#fixedPlaces, this.#dataAt, this.#opens, this.#openAt];
    this.key = [patterns, ...numbers, this.#fixedAt].join(" ");
  }

  /** The first bytes of a message's fixed accounts. */
  firstBytes(message: Uint8Array): FirstBytes {
    const bits = [0, 0, 0, 0];
    for (const at of this.#fixedAt) {
      const first = message[at]!;
      bits[(first >>> 5) & 3]! |= 1 << (first & 31);
    }
    return { firsts0: bits[0]!, firsts1: bits[1]!, firsts2: bits[2]!, firsts3: bits[3]! };
  }

  /** What a message is known by: what decides the fixed accounts of its instructions, of those that have any, then its open accounts. */
  knownBy(payer: Address, instructions: readonly FilledInstruction[]): unknown[] {
    const open: Address[] = [payer];
    let use = 0;
    for (const { own } of instructions) {
      for (const address of own) {
        const place = this.#opens[use++]!;
        if (place !== NONE) open[place] = address;
      }
    }
    return [...instructions.flatMap(({ fixed }) => (fixed === undefined ? [] : [fixed])), ...open];
  }

  /**
   * Writes what was taken, and what else the instructions bring, into a copy of the message.
   *
   * @param known what that message is known by. An open account that is another one now is taken out: each message has its own, most likely,
   * and to look at the earlier one would cost more than to write
   */
  write(out: Uint8Array, instructions: readonly Instruction[], blockhash: Uint8Array, known: unknown[]): void {
    const at = this.#openAt;
    const first = this.#fixedCount;
    const view = viewOfBuffer(out);
    const start = out.byteOffset;
    for (let open = 0; open < at.length; open++) {
      const address = taken[open]!;
      if (known[first + open] === address) continue;
      known[first + open] = undefined;
      address.writeTo(view, start + at[open]!);
    }
    out.set(blockhash, this.#blockhashAt);
    for (let index = 0; index < instructions.length; index++)
      (instructions[index] as FilledInstruction).writeOwnData(out, this.#dataAt[index]!);
  }

  /**
   * Takes the open accounts, for `write`. False if compiling the instructions would lay them out in another way, or if their fixed parts are
   * others.
   *
   * @param message of this layout
   * @param known what it is known by
   * @param firsts by `firstBytes`
   */
  take(
    payer: Address,
    instructions: readonly Instruction[],
    message: Uint8Array,
    known: readonly unknown[],
    firsts: FirstBytes,
  ): boolean {
    const patterns = this.#patterns;
    if (instructions.length !== patterns.length) return false;
    const places = this.#fixedPlaces;
    const opens = this.#opens;
    taken[0] = payer;
    let use = 0;
    let count = 1;
    for (let index = 0; index < patterns.length; index++) {
      // Another kind of instruction has no pattern.
      const instruction = instructions[index] as FilledInstruction;
      if (instruction.pattern !== patterns[index]) return false;
      const place = places[index]!;
      if (instruction.fixed !== (place === NONE ? undefined : known[place])) return false;
      const { own } = instruction;
      if (instruction.variant !== this.#variants[index] || own.length !== this.#ownCounts[index]) return false;
      for (let at = 0; at < own.length; at++) {
        const open = opens[use++]!;
        if (open === count) taken[count++] = own[at];
        else if (open !== NONE && taken[open] !== own[at]) return false;
      }
    }
    return this.#areApart(message, known, firsts);
  }

  /** True if no open account is that of another place: compiled, both would be one. */
  #areApart(message: Uint8Array, known: readonly unknown[], firsts: FirstBytes): boolean {
    const firstKnown = this.#fixedCount;
    const { length } = this.#openAt;
    for (let open = 0; open < length; open++) {
      const address = taken[open]!;
      for (let other = 0; other < open; other++) if (taken[other] === address) return false;
      // One of the message itself is.
      if (known[firstKnown + open] === address) continue;
      if (mayContain(firsts, address.first) && this.#isFixed(message, address)) return false;
    }
    return true;
  }

  /** True if the address is one of the message's fixed accounts. */
  #isFixed(message: Uint8Array, address: Address): boolean {
    const at = this.#fixedAt;
    const { first } = address;
    for (let fixed = 0; fixed < at.length; fixed++)
      if (message[at[fixed]!] === first && address.isAt(message, at[fixed]!)) return true;
    return false;
  }
}

function mayContain({ firsts0, firsts1, firsts2, firsts3 }: FirstBytes, first: number): boolean {
  const quarter = (first >>> 5) & 3;
  const bits = quarter === 0 ? firsts0 : quarter === 1 ? firsts1 : quarter === 2 ? firsts2 : firsts3;
  return ((bits >>> (first & 31)) & 1) === 1;
}
