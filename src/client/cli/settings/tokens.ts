import { Address } from "../../../primitives/address.ts";
import { USDC_MINT } from "../../../solana/programs.ts";
import { UsageError } from "../command.ts";

/** Well-known mints of mainnet by symbol, with their decimals. The configuration's `[tokens]` adds others. */
const WELL_KNOWN: Readonly<Record<string, readonly [mint: string, decimals: number]>> = {
  USDC: [USDC_MINT.toString(), 6],
  USDT: ["Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB", 6],
  BONK: ["DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263", 5],
  JUP: ["JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN", 6],
  JitoSOL: ["J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn", 9],
  mSOL: ["mSoLzYCxHdYgdzU16g5QSh3i5K3z3KZK7ytfqcJm7So", 9],
  RAY: ["4k3Dyjzvzp8eMZWUXbBCjEvwSkkk59S5iCNLY3QrkX6R", 6],
  WIF: ["EKpQGSJtjMFqKZ9KQanSqYXRcF8fBopzLHYxdM65zcjm", 6],
};

/** A token as a person names it. */
export interface NamedToken {
  /** The mint, or SOL. */
  readonly mint: string;
  /** How to show it. */
  readonly symbol: string;
}

/**
 * The token of an address or a symbol, in any case.
 * @param own symbols of the configuration
 * @throws UsageError if the symbol is unknown, or stands for several mints
 */
export function findToken(text: string, own: Readonly<Record<string, string>>): NamedToken {
  const known = [...Object.entries(own), ...Object.entries(WELL_KNOWN).map(([name, [mint]]) => [name, mint] as const)];
  if (text.toUpperCase() === "SOL") return { mint: "SOL", symbol: "SOL" };
  if (Address.parse(text) !== undefined) {
    // A symbol may name this mint only if it belongs to no other mint: otherwise it would show the mint as something else.
    const named = known.find(([name, mint]) => mint === text && isOnly(name, mint, known));
    return { mint: text, symbol: named?.[0] ?? `${text.slice(0, 4)}…${text.slice(-4)}` };
  }
  const found = known.filter(([name]) => name.toUpperCase() === text.toUpperCase());
  const mints = new Set(found.map(([, mint]) => mint));
  const [first] = found;
  if (first === undefined) {
    throw new UsageError(`"${text}" is neither a mint nor a known symbol. Add it to [tokens] of the configuration.`);
  }
  if (mints.size > 1)
    throw new UsageError(`${text} stands for several mints: ${[...mints].join(", ")}. Give the mint.`);
  if (Address.parse(first[1]) === undefined) throw new UsageError(`The configuration's ${first[0]} is not a mint.`);
  return { mint: first[1], symbol: first[0] };
}

/** True if no other mint has the symbol, in any case. SOL is that of lamports. */
function isOnly(name: string, mint: string, known: readonly (readonly [name: string, mint: string])[]): boolean {
  const symbol = name.toUpperCase();
  return symbol !== "SOL" && known.every(([other, its]) => other.toUpperCase() !== symbol || its === mint);
}

/** Decimals of the well-known mints, which do not change. */
export const KNOWN_TOKEN_DECIMALS: Readonly<Record<string, number>> = Object.fromEntries(Object.values(WELL_KNOWN));
