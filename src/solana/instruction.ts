import type { Address } from "../primitives/address.ts";

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

/** An instruction as builds write it: its accounts lie in one list and their rights in another, made once, instead of in an object for each. */
export class FlatInstruction implements Instruction {
  readonly program: Address;
  readonly addresses: readonly Address[];
  readonly data: Uint8Array;
  readonly #rights: Uint8Array;

  /** @param rights of each address, by `rightsOf`; further addresses have those of the last */
  constructor(program: Address, addresses: readonly Address[], rights: Uint8Array, data: Uint8Array) {
    this.program = program;
    this.addresses = addresses;
    this.data = data;
    this.#rights = rights;
  }

  /** The rights of the account at a place. */
  rightsAt(place: number): number {
    const rights = this.#rights;
    return rights[place < rights.length ? place : rights.length - 1]!;
  }

  get accounts(): readonly AccountMeta[] {
    return this.addresses.map((address, place) => {
      const rights = this.rightsAt(place);
      return { address, writable: (rights & WRITES) !== 0, signer: (rights & SIGNS) !== 0 };
    });
  }
}

/** How many accounts an instruction names. */
export function accountCountOf(instruction: Instruction): number {
  return instruction instanceof FlatInstruction ? instruction.addresses.length : instruction.accounts.length;
}

/** The account at a place of an instruction. */
export function accountAt(instruction: Instruction, place: number): Address {
  return instruction instanceof FlatInstruction ? instruction.addresses[place]! : instruction.accounts[place]!.address;
}

/** Its rights. */
export function rightsAt(instruction: Instruction, place: number): number {
  if (instruction instanceof FlatInstruction) return instruction.rightsAt(place);
  const { signer, writable } = instruction.accounts[place]!;
  return (signer ? SIGNS : 0) | (writable ? WRITES : 0);
}

/** Accounts as an instruction names them: whether the program may change them, and whether they must sign. */
export const readonly = (address: Address): AccountMeta => ({ address, writable: false, signer: false });
export const writable = (address: Address): AccountMeta => ({ address, writable: true, signer: false });
export const readonlySigner = (address: Address): AccountMeta => ({ address, writable: false, signer: true });
export const writableSigner = (address: Address): AccountMeta => ({ address, writable: true, signer: true });
