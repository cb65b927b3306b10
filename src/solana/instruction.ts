import type { Address } from "../primitives/address.ts";
import { writeU64 } from "../primitives/bytes.ts";

/** An account of an instruction, and the rights it requests. */
export interface AccountMeta {
  readonly address: Address;
  readonly writable: boolean;
  readonly signer: boolean;
}

/** One call of a program: its accounts in the order the program expects them, and its argument bytes. */
export interface Instruction {
  readonly program: Address;
  readonly accounts: readonly AccountMeta[];
  readonly data: Uint8Array;
}

/** Rights of an account, added. */
export const SIGNS = 1;
export const WRITES = 2;
const RIGHTS: Readonly<Record<string, number>> = { r: 0, w: WRITES, R: SIGNS, W: SIGNS | WRITES };

/**
 * The rights of an instruction's accounts, one letter each: `r` is read, `w` is written to, capitals also sign. Spaces are left out.
 *
 * @throws RangeError for another letter
 */
export function rightsOf(letters: string): Uint8Array {
  const rights = Array.from(letters.replaceAll(" ", ""), (letter) => RIGHTS[letter]);
  if (rights.includes(undefined)) throw new RangeError(`unknown rights: ${letters}`);
  return Uint8Array.from(rights as number[]);
}

/** An account that a pattern names: the address, or the number of one that each instruction brings. */
export type PatternAccount = Address | number;

interface PatternParts<Fixed> {
  readonly program: Address;
  /** By `rightsOf`; further accounts have those of the last. */
  readonly rights: string;
  /**
   * The accounts in the program's order. A pure function: an instruction's accounts are decided by these three and by its own accounts.
   *
   * @param own how many accounts each instruction brings
   */
  readonly accounts: (fixed: Fixed, variant: number, own: number) => readonly PatternAccount[];
  /** The data, with zeroes for what instructions write into it: a pure function of one of a few variants. */
  readonly data: (variant: number) => Uint8Array;
  /** Where the amounts stand in the data, of 64 bits each, and how many they are. Absent: there are none. */
  readonly amountsAt?: number;
  readonly amounts?: 1 | 2;
  /** Writes what else an instruction has of its own into data that begins at `at`: to places that its variant decides. */
  readonly writeMore?: (out: Uint8Array, at: number, instruction: FilledInstruction<Fixed>) => void;
}

/**
 * What instructions of one kind have in common, so that a message is laid out once for all of them.
 *
 * `Fixed` is what names the accounts that no wallet and no price decides, a market for example. It never changes: accounts of the same
 * object and variant are the same.
 */
export class InstructionPattern<Fixed = unknown> {
  /** Different for each pattern. */
  readonly id: number;
  readonly program: Address;
  readonly amountsAt: number;
  readonly amounts: number;
  readonly writeMore: PatternParts<Fixed>["writeMore"];
  readonly #rights: Uint8Array;
  readonly #parts: PatternParts<Fixed>;
  /** By variant. */
  readonly #data = new Map<number, Uint8Array>();
  static #count = 0;

  constructor(parts: PatternParts<Fixed>) {
    this.id = InstructionPattern.#count++;
    this.program = parts.program;
    this.amountsAt = parts.amountsAt ?? 0;
    this.amounts = parts.amounts ?? 0;
    this.writeMore = parts.writeMore;
    this.#rights = rightsOf(parts.rights);
    this.#parts = parts;
  }

  /** The accounts in order, with numbers for those that an instruction brings. */
  accounts(fixed: Fixed, variant: number, own: number): readonly PatternAccount[] {
    return this.#parts.accounts(fixed, variant, own);
  }

  /** The data with zeroes for what instructions write into it. Never written to. */
  data(variant: number): Uint8Array {
    let data = this.#data.get(variant);
    if (data === undefined) {
      data = this.#parts.data(variant);
      this.#data.set(variant, data);
    }
    return data;
  }

  /** The rights of the account at a place. */
  rightsAt(place: number): number {
    const rights = this.#rights;
    return rights[place < rights.length ? place : rights.length - 1]!;
  }
}

/** An instruction as builds make it: what differs from others of its pattern. Its accounts and data are written out when they are read. */
export class FilledInstruction<Fixed = unknown> implements Instruction {
  readonly program: Address;
  readonly pattern: InstructionPattern<Fixed>;
  readonly fixed: Fixed;
  readonly variant: number;
  /** Its own accounts, by the numbers that the pattern has for them; those that it does not name are for its data. */
  readonly own: readonly Address[];
  readonly first: bigint;
  readonly second: bigint;
  /** ASCII, for its data. */
  readonly text: string;

  constructor(
    pattern: InstructionPattern<Fixed>,
    fixed: Fixed,
    variant: number,
    own: readonly Address[],
    first = 0n,
    second = 0n,
    text = "",
  ) {
    this.program = pattern.program;
    this.pattern = pattern;
    this.fixed = fixed;
    this.variant = variant;
    this.own = own;
    this.first = first;
    this.second = second;
    this.text = text;
  }

  /** The accounts with numbers for its own. */
  get named(): readonly PatternAccount[] {
    return this.pattern.accounts(this.fixed, this.variant, this.own.length);
  }

  get accounts(): readonly AccountMeta[] {
    return addressesOf(this).map((address, place) => {
      const rights = this.pattern.rightsAt(place);
      return { address, writable: (rights & WRITES) !== 0, signer: (rights & SIGNS) !== 0 };
    });
  }

  get data(): Uint8Array {
    const data = this.pattern.data(this.variant).slice();
    this.writeOwnData(data, 0);
    return data;
  }

  /** Writes what it has of its own into data of its pattern and variant that begins at `at`. */
  writeOwnData(out: Uint8Array, at: number): void {
    const { amounts, amountsAt, writeMore } = this.pattern;
    if (amounts > 0) writeU64(out, at + amountsAt, this.first);
    if (amounts > 1) writeU64(out, at + amountsAt + 8, this.second);
    writeMore?.(out, at, this);
  }
}

/** The accounts of an instruction, in order. */
export function addressesOf(instruction: Instruction): readonly Address[] {
  if (!(instruction instanceof FilledInstruction)) return instruction.accounts.map(({ address }) => address);
  const { own } = instruction;
  return instruction.named.map((account) => (typeof account === "number" ? own[account]! : account));
}

/** The same without a list of its own: the accounts in order, with numbers for those among `own`. */
export function patternAccountsOf(instruction: Instruction): readonly PatternAccount[] {
  return instruction instanceof FilledInstruction ? instruction.named : addressesOf(instruction);
}

/** Those that `patternAccountsOf` has numbers for. */
export function ownAccountsOf(instruction: Instruction): readonly Address[] {
  return instruction instanceof FilledInstruction ? instruction.own : NONE;
}

const NONE: readonly Address[] = [];

/** Writes the data of an instruction, and returns where the next byte goes. */
export function writeData(instruction: Instruction, out: Uint8Array, at: number): number {
  const isFilled = instruction instanceof FilledInstruction;
  const data = isFilled ? instruction.pattern.data(instruction.variant) : instruction.data;
  out.set(data, at);
  if (isFilled) instruction.writeOwnData(out, at);
  return at + data.length;
}

/** How many bytes the data of an instruction has. */
export function dataLengthOf(instruction: Instruction): number {
  if (!(instruction instanceof FilledInstruction)) return instruction.data.length;
  return instruction.pattern.data(instruction.variant).length;
}

/** The rights of the account at a place of an instruction. */
export function rightsAt(instruction: Instruction, place: number): number {
  if (instruction instanceof FilledInstruction) return instruction.pattern.rightsAt(place);
  const { signer, writable } = instruction.accounts[place]!;
  return (signer ? SIGNS : 0) | (writable ? WRITES : 0);
}

/** Accounts as an instruction names them: whether the program may change them, and whether they must sign. */
export const readonly = (address: Address): AccountMeta => ({ address, writable: false, signer: false });
export const writable = (address: Address): AccountMeta => ({ address, writable: true, signer: false });
export const readonlySigner = (address: Address): AccountMeta => ({ address, writable: false, signer: true });
export const writableSigner = (address: Address): AccountMeta => ({ address, writable: true, signer: true });
