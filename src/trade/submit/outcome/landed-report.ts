import type { TransactionRecord } from "../../../chain/port.ts";
import type { Address } from "../../../primitives/address.ts";
import { unitLimitOf } from "../../../solana/message/message-budget.ts";
import { wireLayout } from "../../../solana/message.ts";
import type { SealedTrade } from "../../build/token/sealed-trade.ts";
import type { ExactAmounts, RouteLeg } from "../../trade.ts";
import type { Outcome } from "./outcome.ts";

/** What a landed transaction showed of the quote and the limit that it was built with. */
export interface LandedReport {
  readonly signature: string;
  readonly markets: readonly Address[];
  /** True if it moved exactly what was quoted, remainders included. False if it failed. */
  readonly isAsQuoted: boolean;
  /** Accounts that its build took for missing: they exist now. None if it failed. */
  readonly opened: readonly Address[];
  /** Compute units it used, and those it asked for; undefined if its record does not say, or says what cannot be. */
  readonly units: { readonly used: number; readonly limit: number } | undefined;
}

/** Holds a landed transaction against its build. */
export function reportLanded(
  sealed: SealedTrade,
  { signature, transaction }: { readonly signature: string; readonly transaction: Uint8Array },
  { computeUnitsConsumed }: TransactionRecord,
  outcome: Outcome,
): LandedReport {
  const limit = unitLimitOf(wireLayout(transaction).message);
  const used = computeUnitsConsumed === undefined ? undefined : Number(computeUnitsConsumed);
  return {
    signature,
    markets: [...new Set(sealed.route.map(({ market }) => market))],
    isAsQuoted: outcome.kind === "landed" && isAsQuoted(sealed, outcome.result),
    opened: outcome.kind === "landed" ? sealed.creates.map(({ address }) => address) : [],
    // Nodes need not agree on this figure: one that made it up could raise the limits of later trades, and what they pay.
    units: used === undefined || limit === undefined || used > limit ? undefined : { used, limit },
  };
}

/** True if a trade moved what the legs of its route add up to. */
function isAsQuoted(
  { route, inMint, outMint }: SealedTrade,
  { inAmount, outAmount, remainders }: ExactAmounts,
): boolean {
  const gained = gainsOf(route);
  return (
    gained.get(inMint) === -inAmount &&
    gained.get(outMint) === outAmount &&
    (remainders ?? []).every(({ mint, amount }) => gained.get(mint) === amount)
  );
}

/** What the legs of a route give of each mint, less what they take. Base units. */
function gainsOf(route: readonly RouteLeg[]): ReadonlyMap<Address, bigint> {
  const gained = new Map<Address, bigint>();
  for (const { inMint, outMint, inAmount, outAmount } of route) {
    gained.set(inMint, (gained.get(inMint) ?? 0n) - inAmount);
    gained.set(outMint, (gained.get(outMint) ?? 0n) + outAmount);
  }
  return gained;
}
