import { invalidField, TradewireError } from "../errors/tradewire-error.ts";
import type { Address } from "../primitives/address.ts";
import { parseAmount, parseRawAmount, toWholeUnits } from "../primitives/amount.ts";
import { parseSlippage } from "../primitives/slippage.ts";
import { NATIVE_PSEUDO_MINT, SOL_MINT } from "../solana/programs.ts";
import type { Mint } from "../solana/token/mint.ts";
import type { SwapMode } from "../venues/venue.ts";
import { type RouteBounds, routeBoundsOf } from "./quote/route-bounds.ts";
import type { TradeRequest } from "./trade.ts";

/** A request resolved against the chain: in base units, and of mints that exist. */
export interface Intent {
  readonly inMint: Mint;
  readonly outMint: Mint;
  readonly mode: SwapMode;
  /** Base units of the exact side. */
  readonly amount: bigint;
  readonly slippagePpb: bigint;
  /** The wallet's token account that this trade empties and can close, and the lamports that closing returns. */
  readonly emptied: { readonly address: Address; readonly lamports: bigint } | undefined;
  /** True: use only markets whose quotes were checked on the deployed programs. */
  readonly requireChecked?: boolean;
  /** Which routes it may take; absent: every route. */
  readonly bounds?: RouteBounds;
}

/** A share of the wallet's balance, in base units. */
export type BalanceShare = Pick<Intent, "amount" | "emptied">;

type Asked = Omit<TradeRequest, "principal" | "priority" | "maxPriceImpact" | "maxPriorityCost" | "stages">;

/** The mint a request means: SOL under any of its names is the wrapped-SOL mint. */
export function canonicalMint(mint: Address): Address {
  return mint === NATIVE_PSEUDO_MINT ? SOL_MINT : mint;
}

/**
 * Resolves a request against its two mints; `null` is a mint that does not exist.
 *
 * @param share in place of the request's amount
 * @throws TradewireError TOKEN_NOT_FOUND, UNSUPPORTED_TOKEN_EXTENSION, VALIDATION_ERROR
 */
export function resolveIntent(asked: Asked, inMint: Mint | null, outMint: Mint | null, share?: BalanceShare): Intent {
  if (inMint === null) throw unknownToken("inMint", asked.inMint);
  if (outMint === null) throw unknownToken("outMint", asked.outMint);
  if (inMint.address === outMint.address) {
    throw invalidField("outMint", "Both mints are the same. Trade between two different ones.");
  }
  refuseUnsupported("inMint", inMint);
  refuseUnsupported("outMint", outMint);
  const slippagePpb = parseSlippage(asked.slippage);
  if (slippagePpb === undefined)
    throw invalidField("slippage", "slippage must be a fraction, 0 ≤ slippage < 1: 0.05 is 5 %.");
  const { mode } = asked;
  const bounds = routeBoundsOf(asked);
  const requireChecked = asked.requireChecked === true;
  if (share !== undefined) return { inMint, outMint, mode, slippagePpb, ...share, requireChecked, bounds };
  const exact = mode === "exactIn" ? inMint : outMint;
  const amount =
    asked.amountRaw === undefined ? parseAmount(asked.amount, exact.decimals) : parseRawAmount(asked.amountRaw);
  if (amount === undefined) {
    const least = toWholeUnits(1n, exact.decimals);
    throw invalidField(
      "amount",
      `The amount must be at least ${least}, one base unit, and at most 2^64 - 1 base units.`,
    );
  }
  return { inMint, outMint, mode, amount, slippagePpb, emptied: undefined, requireChecked, bounds };
}

function unknownToken(field: "inMint" | "outMint", address: Address): TradewireError {
  return new TradewireError("TOKEN_NOT_FOUND", `There is no token mint at ${address}.`, { field });
}

function refuseUnsupported(field: "inMint" | "outMint", mint: Mint): void {
  if (mint.unsupported === undefined) return;
  throw new TradewireError(
    "UNSUPPORTED_TOKEN_EXTENSION",
    `${mint.address} cannot be traded here: ${mint.unsupported}.`,
    { field },
  );
}
