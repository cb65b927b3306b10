import type { Address } from "../primitives/address.ts";
import { TOKEN_PROGRAMS, tokenProgramNumber } from "../solana/token/token-programs.ts";
import type { SwapTerms } from "./venue.ts";

/** Numbers of the accounts that every swap brings, by `ownAccounts`; those of some venues follow. */
export const WALLET = 0;
export const SOURCE = 1;
export const DESTINATION = 2;
export const FURTHER = 3;

/** The wallet and its accounts of both sides. */
export function ownAccounts({ wallet, source, destination }: SwapTerms): readonly Address[] {
  return [wallet, source, destination];
}

/** The same, and further ones. */
export function ownAccountsWith({ wallet, source, destination }: SwapTerms, further: readonly Address[]): Address[] {
  const own = [wallet, source, destination];
  for (let at = 0; at < further.length; at++) own.push(further[at]!);
  return own;
}

/** The numbers of `count` further accounts. */
export const furtherAccounts = (own: number): number[] =>
  Array.from({ length: own - FURTHER }, (_, further) => FURTHER + further);

/**
 * Variants of patterns are sums: the token programs of two mints take the two lowest bits, a venue's further distinctions the next ones.
 */
export const FIRST_OTHER = 4;

/** The part of a variant that says by which programs two mints are. */
export function tokenProgramsVariant(first: Address, second: Address): number {
  return tokenProgramNumber(first) + 2 * tokenProgramNumber(second);
}

/** The token programs that a variant says. */
export function tokenProgramsOf(variant: number): readonly [Address, Address] {
  return [TOKEN_PROGRAMS[variant & 1]!, TOKEN_PROGRAMS[(variant >> 1) & 1]!];
}
