import type { TransactionRecord } from "../../../chain/port.ts";
import type { ErrorCode } from "../../../errors/error-codes.ts";
import type { Address } from "../../../primitives/address.ts";
import { unitLimitOf } from "../../../solana/message/message-budget.ts";
import { programsOf } from "../../../solana/message/message-programs.ts";
import { wireLayout } from "../../../solana/message.ts";
import type { Venue } from "../../../venues/venue.ts";
import type { SealedTrade } from "../../build/token/sealed-trade.ts";
import type { ExactAmounts, RouteLeg } from "../../trade.ts";
import type { Outcome } from "./outcome.ts";
import { failedProgram, isCloseFailure } from "./program-failure.ts";

/** How a landed transaction compares with the quote and the limits that it was built with. */
export interface LandedReport {
  readonly signature: string;
  readonly markets: readonly Address[];
  /** Ids of the venues of its route. */
  readonly venues: readonly string[];
  /** Why it failed, and the venue whose instruction failed; undefined if it did not fail. */
  readonly failure: { readonly code: ErrorCode; readonly venue: string | undefined } | undefined;
  /** True if it moved exactly what was quoted, remainders included. False if it failed. */
  readonly isAsQuoted: boolean;
  /** The token account that it could not close, because something had arrived in it. Absent: that is not why it failed. */
  readonly unclosed?: Address | undefined;
  /** Compute units it used, and those it asked for; undefined if its record lacks them or states impossible ones. */
  readonly units: { readonly used: number; readonly limit: number } | undefined;
}

/** Compares a landed transaction with its build. */
export function reportLanded(
  sealed: SealedTrade,
  { signature, transaction }: { readonly signature: string; readonly transaction: Uint8Array },
  { computeUnitsConsumed, error }: TransactionRecord,
  outcome: Outcome,
  venues: readonly Pick<Venue, "id" | "programs">[],
): LandedReport {
  const { message } = wireLayout(transaction);
  const limit = unitLimitOf(message);
  // The programs are needed only to attribute a failure.
  const programs = error === null ? [] : programsOf(message);
  const used = computeUnitsConsumed === undefined ? undefined : Number(computeUnitsConsumed);
  return {
    signature,
    markets: [...new Set(sealed.route.map(({ market }) => market))],
    venues: [...new Set(sealed.route.map(({ venue }) => venue))],
    failure:
      outcome.kind === "landed"
        ? undefined
        : { code: outcome.code, venue: failedVenue(sealed, programs, error, venues) },
    isAsQuoted: outcome.kind === "landed" && isAsQuoted(sealed, outcome.result),
    unclosed: isCloseFailure(error, programs) ? sealed.closes : undefined,
    // Nodes need not agree on this figure: a node that invents one could raise the limits, and so the fees, of later trades.
    units: used === undefined || limit === undefined || used > limit ? undefined : { used, limit },
  };
}

/** The venue of the route whose instruction failed; undefined if another one did, such as the guard of the total. */
function failedVenue(
  { route }: SealedTrade,
  programs: readonly Address[],
  error: unknown,
  venues: readonly Pick<Venue, "id" | "programs">[],
): string | undefined {
  const program = failedProgram(error, programs);
  const isOfRoute = (id: string) => route.some(({ venue }) => venue === id);
  return venues.find((venue) => isOfRoute(venue.id) && venue.programs.some((own) => own === program))?.id;
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

/** Net output of a route's legs by mint: what they give less what they take. Base units. */
function gainsOf(route: readonly RouteLeg[]): ReadonlyMap<Address, bigint> {
  const gained = new Map<Address, bigint>();
  for (const { inMint, outMint, inAmount, outAmount } of route) {
    gained.set(inMint, (gained.get(inMint) ?? 0n) - inAmount);
    gained.set(outMint, (gained.get(outMint) ?? 0n) + outAmount);
  }
  return gained;
}
