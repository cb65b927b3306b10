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

/** Accounts as an instruction names them: whether the program may change them, and whether they must sign. */
export const readonly = (address: Address): AccountMeta => ({ address, writable: false, signer: false });
export const writable = (address: Address): AccountMeta => ({ address, writable: true, signer: false });
export const readonlySigner = (address: Address): AccountMeta => ({ address, writable: false, signer: true });
export const writableSigner = (address: Address): AccountMeta => ({ address, writable: true, signer: true });
