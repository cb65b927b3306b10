import type { Address } from "../../../primitives/address.ts";
import { ASSOCIATED_TOKEN_PROGRAM } from "../../../solana/programs.ts";

/** A seed: text, fixed bytes, an address, the account at that position of the same instruction, or a mint of the trade. */
export type Seed = string | Uint8Array | Address | number | { readonly mint: "in" | "out" };

/** What an account of a swap must be. */
type AccountRule =
  /** The wallet itself, as the authority that signs. */
  | { readonly kind: "wallet" }
  /** The wallet's account of the input mint, or of the output mint. */
  | { readonly kind: "source" | "destination" }
  | { readonly kind: "inMint" | "outMint" }
  /** One of the two mints; two such places hold both mints. */
  | { readonly kind: "eitherMint" }
  /** One of the two token programs. */
  | { readonly kind: "tokenProgram" }
  | { readonly kind: "fixed"; readonly address: Address }
  /** The market the service announced. */
  | { readonly kind: "market" }
  /** An omitted optional account: the venue's program stands in for it. */
  | { readonly kind: "none" }
  | DerivedRule
  /** One of a row of accounts, each derived from a number. */
  | LadderRule
  /** An account that only the venue's program can check. It is never one of the wallet's. */
  | { readonly kind: "venue" };

interface DerivedRule {
  readonly kind: "derived";
  readonly program: Address;
  readonly seeds: readonly Seed[];
  /** True if the account is optional: the venue's program stands in for it. */
  readonly orNone: boolean;
}

/** An account whose address follows from a price: one of many at even distances, such as the arrays of ticks of a pool. */
export interface LadderRule {
  readonly kind: "ladder";
  readonly program: Address;
  /** The number of a rung is the last seed. */
  readonly seeds: readonly Seed[];
  readonly encoding: "i32be" | "i64le" | "text";
  /** Distance between neighbouring rungs, and the number of the outermost one on either side. */
  readonly step: number;
  readonly limit: number;
  /** Prices grow by one of these factors per number; the search begins where the trade's own price lies. */
  readonly bases: readonly number[];
  /** How many steps lie between neighbours that are in use, commonest first; which of these it is, the market decides. */
  readonly strides: readonly number[];
  /** Numbers per rung unit: bins per array; 1 where the number itself is the tick. */
  readonly perRung: number;
  /** The account holding the mint that is priced; absent: the lesser of the two mints. */
  readonly pricedMint: number | undefined;
}

/** One place in an instruction's account list. */
export interface AccountPlace {
  readonly name: string;
  /** Whether the instruction needs to write it. */
  readonly writable: boolean;
  readonly rule: AccountRule;
}

/** One form of one venue's swap instruction, as data. */
export interface SwapTable {
  readonly venue: string;
  readonly program: Address;
  readonly name: string;
  readonly discriminator: Uint8Array;
  readonly dataLength: number;
  /** Offsets of the maximum input and the minimum output in the data: unsigned 64-bit little-endian. */
  readonly inAt: number;
  readonly outAt: number;
  /** Which of the two is exact; the other is the bound. */
  readonly exact: "in" | "out";
  /** Bytes that must have these values; they also distinguish forms of one instruction. */
  readonly flags: readonly { readonly at: number; readonly is: readonly number[] }[];
  /** Ranges that must be zero: price limits, shares, lists. */
  readonly zeros: readonly { readonly at: number; readonly length: number }[];
  readonly accounts: readonly AccountPlace[];
  /** What may follow: one of these lists. Most instructions have only the empty one. */
  readonly tails: readonly (readonly AccountPlace[])[];
  /** After the tail, accounts of this kind. */
  readonly repeated?: { readonly place: AccountPlace; readonly least: number; readonly most: number };
  /** True if the program compares the bound with an output that its vaults may still round down. */
  readonly rounds?: true;
  /** True if the program compares, or may compare, its bound with what leaves the market, before a fee that a Token-2022 mint may take. */
  readonly grossBound?: true;
  /**
   * True if the program cuts an exact output down to what its curve has left: another market that counts on it could take what is
   * missing from the wallet.
   */
  readonly cuts?: true;
  /** True if lamports move, and the wallet's wrapped-SOL address is only listed. */
  readonly nativeSol: boolean;
  /** Where the market stands if it derives from its mint, so that no place has the announced one for a rule. */
  readonly marketAt?: number;
  /** The side that is SOL if the instruction names no mint of that side. */
  readonly solSide?: "in" | "out";
}

/** An instruction that makes a market ready for a swap, as data. */
export type PreparationTable = Pick<SwapTable, "venue" | "program" | "name" | "discriminator" | "accounts">;

/** A place whose account the program may only read; problems use `name`. */
export const readOnly = (name: string, rule: AccountRule): AccountPlace => ({ name, writable: false, rule });
/** A place whose account the program may change. */
export const written = (name: string, rule: AccountRule): AccountPlace => ({ name, writable: true, rule });

/** Always this account. */
export const fixed = (address: Address): AccountRule => ({ kind: "fixed", address });
export const venueAccount: AccountRule = { kind: "venue" };
export const none: AccountRule = { kind: "none" };

/** A derived address; numbers among the seeds are positions in the same instruction. */
export const derivedFrom = (program: Address, ...seeds: readonly Seed[]): DerivedRule => ({
  kind: "derived",
  program,
  seeds,
  orNone: false,
});

/** Seeds of instructions that do not name the mints they trade. */
export const ofInMint: Seed = { mint: "in" };
export const ofOutMint: Seed = { mint: "out" };

/** The associated token account of three other places: owner, mint and token program. */
export const tokenAccountOf = (owner: Seed, mint: Seed, tokenProgram: Seed): DerivedRule =>
  derivedFrom(ASSOCIATED_TOKEN_PROGRAM, owner, tokenProgram, mint);

/** The account that signs a program's events. */
export const eventAuthority = (program: Address): AccountPlace =>
  readOnly("the event authority", derivedFrom(program, "__event_authority"));

export const wallet = readOnly("the signing wallet", { kind: "wallet" });
export const writtenWallet = written("the signing wallet", { kind: "wallet" });
export const source = written("the paying account", { kind: "source" });
export const destination = written("the receiving account", { kind: "destination" });
export const inMint = readOnly("the input mint", { kind: "inMint" });
export const outMint = readOnly("the output mint", { kind: "outMint" });
export const eitherMint = readOnly("a traded mint", { kind: "eitherMint" });
export const tokenProgram = readOnly("a token program", { kind: "tokenProgram" });
export const market = written("the market", { kind: "market" });
