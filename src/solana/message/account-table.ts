import type { Address } from "../../primitives/address.ts";
import { type Instruction, ownAccountsOf, patternAccountsOf, rightsAt, SIGNS, WRITES } from "../instruction.ts";

const INVOKED = 4;
/** Loaded through a lookup table, so not among the message's static accounts. */
const LOOKED_UP = 8;

/** Enough for a transaction of the largest size. */
const USUAL = 256;

/**
 * The accounts of one message in order of first use, the programs last, with the rights each needs. One table serves all
 * messages, one after another: nothing of it outlives a compilation.
 */
export class AccountTable {
  /** Accounts by place; those from `count` on are of earlier messages. */
  readonly #addresses: Address[] = [];
  #rights = new Uint8Array(USUAL);
  /** Places of the accounts that the instructions name, one instruction after another. */
  #uses = new Uint16Array(4 * USUAL);
  /** Place of each instruction's program, and how many accounts it names. */
  #programs = new Uint16Array(USUAL);
  #named = new Uint16Array(USUAL);
  /** Index of each place in the message. */
  #positions = new Uint16Array(USUAL);
  #count = 0;
  /** Static accounts: writable signers, read-only signers, writable, read-only. */
  readonly counts: [number, number, number, number] = [0, 0, 0, 0];
  #statics = 0;

  /** Takes the accounts of a message. A linear search: for the few dozen of a transaction it beats any map. */
  fill(payer: Address, instructions: readonly Instruction[]): this {
    this.#count = 0;
    this.#use(payer, SIGNS | WRITES);
    if (instructions.length > this.#programs.length) {
      this.#programs = enlarged(this.#programs, instructions.length);
      this.#named = enlarged(this.#named, instructions.length);
    }
    let uses = 0;
    for (let index = 0; index < instructions.length; index++) {
      const instruction = instructions[index]!;
      const named = patternAccountsOf(instruction);
      const own = ownAccountsOf(instruction);
      const count = named.length;
      this.#named[index] = count;
      if (uses + count > this.#uses.length) this.#uses = enlarged(this.#uses, uses + count);
      for (let at = 0; at < count; at++) {
        const account = named[at]!;
        const address = typeof account === "number" ? own[account]! : account;
        this.#uses[uses++] = this.#use(address, rightsAt(instruction, at));
      }
    }
    for (let index = 0; index < instructions.length; index++)
      this.#programs[index] = this.#use(instructions[index]!.program, INVOKED);
    return this;
  }

  /** Adds rights to an account and returns its place. */
  #use(address: Address, right: number): number {
    const addresses = this.#addresses;
    const count = this.#count;
    for (let place = 0; place < count; place++) {
      if (addresses[place] !== address) continue;
      this.#rights[place]! |= right;
      return place;
    }
    if (count === this.#rights.length) {
      const larger = new Uint8Array(2 * count);
      larger.set(this.#rights);
      this.#rights = larger;
      this.#positions = enlarged(this.#positions, 2 * count);
    }
    addresses[count] = address;
    this.#rights[count] = right;
    this.#count = count + 1;
    return count;
  }

  /** Accounts and programs in all. */
  get size(): number {
    return this.#count;
  }

  /** How many accounts an instruction names. */
  namedBy(instruction: number): number {
    return this.#named[instruction]!;
  }

  /** Place of the account named by the `use`-th of all uses. */
  placeOfUse(use: number): number {
    return this.#uses[use]!;
  }

  placeOfProgram(instruction: number): number {
    return this.#programs[instruction]!;
  }

  /** Index in the message of the account at a place. */
  positionOf(place: number): number {
    return this.#positions[place]!;
  }

  /**
   * Leaves an account to a lookup table, unless it signs, is invoked or is left to one already.
   *
   * @returns its place and whether it is writable; undefined if the message does not use it, or not through a table
   */
  lookUp(address: Address): { readonly place: number; readonly writable: boolean } | undefined {
    for (let place = 0; place < this.#count; place++) {
      if (this.#addresses[place] !== address) continue;
      const right = this.#rights[place]!;
      if ((right & (SIGNS | INVOKED | LOOKED_UP)) !== 0) return undefined;
      this.#rights[place] = right | LOOKED_UP;
      return { place, writable: (right & WRITES) !== 0 };
    }
    return undefined;
  }

  /** Numbers the static accounts in the order of the format. @returns how many there are */
  arrange(): number {
    let statics = 0;
    for (let group = 0; group < 4; group++) {
      const wanted = (group < 2 ? SIGNS : 0) | (group % 2 === 0 ? WRITES : 0);
      const from = statics;
      for (let place = 0; place < this.#count; place++) {
        if ((this.#rights[place]! & (SIGNS | WRITES | LOOKED_UP)) === wanted) this.#positions[place] = statics++;
      }
      this.counts[group] = statics - from;
    }
    this.#statics = statics;
    return statics;
  }

  /** Numbers a looked-up account. */
  number(place: number, position: number): void {
    this.#positions[place] = position;
  }

  /** Writes the static accounts, in order, and returns where the next byte goes. */
  writeStatics(out: Uint8Array, at: number): number {
    for (let place = 0; place < this.#count; place++) {
      if ((this.#rights[place]! & LOOKED_UP) === 0)
        this.#addresses[place]!.write(out, at + 32 * this.#positions[place]!);
    }
    return at + 32 * this.#statics;
  }

  /** Index in the message of the account named by the `use`-th of all uses. */
  indexOfUse(use: number): number {
    return this.#positions[this.#uses[use]!]!;
  }

  /** Index in the message of the program of an instruction. */
  indexOfProgram(instruction: number): number {
    return this.#positions[this.#programs[instruction]!]!;
  }
}

function enlarged(array: Uint16Array<ArrayBuffer>, least: number): Uint16Array<ArrayBuffer> {
  const larger = new Uint16Array(2 * least);
  larger.set(array);
  return larger;
}
