import { readFileSync } from "node:fs";
import { TradewireError } from "../../src/errors/tradewire-error.ts";
import { Address } from "../../src/primitives/address.ts";
import { writeU64 } from "../../src/primitives/bytes.ts";
import type { Account, AccountView } from "../../src/solana/account.ts";
import type { Instruction } from "../../src/solana/instruction.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import type { Quote } from "../../src/venues/venue.ts";

/** An instruction as the oracles write it: accounts are four times the key's place plus two for writable plus one for signer. */
export interface VectorInstruction {
  readonly data: string;
  readonly accounts: readonly number[];
}

/** An amount asked and what the official SDK answered, null where it refused. */
export type VectorQuote = readonly [amount: string, answer: string | null];

/** Accounts by address, filled by hand. */
export class VectorAccounts implements AccountView {
  readonly #accounts = new Map<Address, Account>();

  get(address: Address): Account | null {
    return this.#accounts.get(address) ?? null;
  }

  put(address: Address, owner: Address, data: Uint8Array): Account {
    const account: Account = { address, owner, data, lamports: 1n, executable: false, slot: 1n };
    this.#accounts.set(address, account);
    return account;
  }

  putMint(address: Address, token2022: boolean, supply: bigint): void {
    const data = new Uint8Array(82);
    writeU64(data, 36, supply);
    data[44] = 6;
    data[45] = 1;
    this.put(address, token2022 ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM, data);
  }

  putVault(address: Address, mint: Address, amount: bigint): void {
    const data = new Uint8Array(165);
    data.set(mint.bytes);
    writeU64(data, 64, amount);
    data[108] = 1;
    this.put(address, TOKEN_PROGRAM, data);
  }
}

/** Reads a file of golden vectors from `test/fixtures`. */
export function readVectors<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8")) as T;
}

/** The data of a fee configuration, of which the vectors hold what is not zero. */
export function fullFeeConfig(base64: string): Uint8Array {
  const data = new Uint8Array(4_097);
  data.set(Buffer.from(base64, "base64"));
  return data;
}

/** One of our instructions in the form of the vectors, with addresses written out. */
export function written({ accounts, data }: Instruction): { data: string; accounts: string[] } {
  return {
    data: Buffer.from(data).toString("hex"),
    accounts: accounts.map(({ address, writable, signer }) => `${address}${writable ? " w" : ""}${signer ? " s" : ""}`),
  };
}

/** One of the official SDK's instructions, likewise. */
export function writtenVector(
  { accounts, data }: VectorInstruction,
  keys: readonly string[],
): { data: string; accounts: string[] } {
  return {
    data,
    accounts: accounts.map((place) => `${keys[place >> 2]}${place & 2 ? " w" : ""}${place & 1 ? " s" : ""}`),
  };
}

/** The quote, or the code it was refused with. */
export function quoteOrCode<F>(quote: () => Quote<F>): Quote<F> | string {
  try {
    return quote();
  } catch (error) {
    if (error instanceof TradewireError) return error.code;
    throw error;
  }
}

export const addressAt = (keys: readonly string[], place: number): Address => Address.of(keys[place]!);
