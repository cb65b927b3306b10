import { Address } from "../../primitives/address.ts";
import { parseAmount, toWholeUnits } from "../../primitives/amount.ts";
import { NATIVE_PSEUDO_MINT, SOL_MINT } from "../../solana/programs.ts";
import { printable } from "../answers/printable.ts";
import { decimalsOf, type TradeLimits } from "../order/limits.ts";
import { TradeError } from "../trade-error.ts";

/** The fields of a build response that the expectation depends on. Generated build responses have this shape. */
export interface BuildAnswer {
  readonly inputMint: string;
  readonly outputMint: string;
  readonly platform: string;
  readonly priorityCost: number;
  readonly estimates?:
    | {
        readonly inputAmount: number;
        readonly outputAmount: number;
        readonly priceImpact: number;
        readonly inputAmountRaw: string;
        readonly outputAmountRaw: string;
      }
    | undefined;
  readonly costs?:
    | {
        readonly tip: string;
        readonly rentReturned: string;
        readonly baseFee?: string;
        readonly priorityFee?: string;
        readonly rentPaid?: string;
      }
    | undefined;
  /** How the quote is backed, by the service's word. */
  readonly proof?: { readonly checked: boolean } | undefined;
  readonly route: readonly {
    readonly venue: string;
    readonly market: string;
    readonly inputMint: string;
    readonly outputMint: string;
    readonly inputAmountRaw: string;
    readonly outputAmountRaw: string;
    /** Number of the parallel path, from 0; absent: 0. */
    readonly path?: number | undefined;
    /** Numbers of the arrays of ticks or bins that the swap names. Hints: each address is derived from its number. */
    readonly arrayNumbers?: readonly number[] | undefined;
  }[];
}

/** What the service expects the trade to move, in base units, and the decimals that the client knows. */
export interface Estimate {
  readonly inAmount: bigint;
  readonly outAmount: bigint;
  readonly inDecimals: number | undefined;
  readonly outDecimals: number | undefined;
}

const MOST_DECIMALS = 20;
/** Far above the network's 5,000 lamports a signature, and far below a harmful amount. */
const MOST_BASE_FEE = 100_000n;

/**
 * The estimate of a response, each amount the same in both of its forms.
 * @throws TradeError UNEXPECTED_TRANSACTION
 */
export function readEstimate(
  { estimates }: BuildAnswer,
  inMint: Address,
  outMint: Address,
  { decimals }: TradeLimits,
): Estimate {
  if (estimates === undefined) throw unexpected("the response has no estimates");
  const { priceImpact } = estimates;
  if (!(priceImpact >= 0 && priceImpact <= 1)) throw unexpected(`a price impact of ${priceImpact} is impossible`);
  const inDecimals = decimalsOf(inMint, decimals?.input);
  const outDecimals = decimalsOf(outMint, decimals?.output);
  return {
    inAmount: readBoth(estimates.inputAmount, estimates.inputAmountRaw, inDecimals),
    outAmount: readBoth(estimates.outputAmount, estimates.outputAmountRaw, outDecimals),
    inDecimals,
    outDecimals,
  };
}

/** Base units of an amount in both forms, which must agree: at the known decimals, or else at any. */
function readBoth(wholeUnits: number, text: string, known: number | undefined): bigint {
  const raw = rawAmount(text);
  const agrees = (decimals: number) =>
    toWholeUnits(raw, decimals) === wholeUnits || parseAmount(wholeUnits, decimals) === raw;
  const scales = known === undefined ? Array.from({ length: MOST_DECIMALS + 1 }, (_, index) => index) : [known];
  if (raw === 0n) throw unexpected("the response estimates an amount of nothing");
  if (scales.some(agrees)) return raw;
  throw unexpected(`the response shows ${wholeUnits} for ${raw} base units, which is another amount`);
}

/** What a response says the trade costs besides its amounts. Lamports; undefined if it does not say. */
export interface AnnouncedCosts {
  readonly priority: bigint | undefined;
  readonly priorityFee: bigint | undefined;
  readonly tip: bigint;
  readonly rentPaid: bigint | undefined;
  readonly rentReturned: bigint;
}

/** The costs of a response. @throws TradeError UNEXPECTED_TRANSACTION */
export function readCosts({ costs, priorityCost }: BuildAnswer): AnnouncedCosts {
  const optional = (text: string | undefined) => (text === undefined ? undefined : rawAmount(text));
  if (!(priorityCost >= 0 && priorityCost < 1e9)) throw unexpected("the response's cost of priority is not an amount");
  if ((optional(costs?.baseFee) ?? 0n) > MOST_BASE_FEE) throw unexpected("the response's base fee is too high");
  return {
    priority: BigInt(Math.round(priorityCost * 1e9)),
    priorityFee: optional(costs?.priorityFee),
    tip: rawAmount(costs?.tip ?? "0"),
    rentPaid: optional(costs?.rentPaid),
    rentReturned: rawAmount(costs?.rentReturned ?? "0"),
  };
}

/** The mint that an order or a response names; `SOL` and the pseudo-mint are wrapped SOL. @throws TypeError */
export function mintOf(text: string): Address {
  if (text === "SOL") return SOL_MINT;
  const mint = addressOf(text);
  return mint === NATIVE_PSEUDO_MINT ? SOL_MINT : mint;
}

/** @throws TypeError unless the text is an address */
export function addressOf(text: string): Address {
  const address = Address.parse(text);
  if (address === undefined) throw new TypeError(`not an address: ${text}`);
  return address;
}

/** The mint that a response names. @throws TradeError UNEXPECTED_TRANSACTION */
export function answeredMint(text: string): Address {
  return answered(mintOf, text);
}

/** An address that a response names. @throws TradeError UNEXPECTED_TRANSACTION */
export function answeredAddress(text: string): Address {
  return answered(addressOf, text);
}

function answered(read: (text: string) => Address, text: string): Address {
  try {
    return read(text);
  } catch {
    throw unexpected(`the response names ${text}, which is not an address`);
  }
}

/** A whole number of base units. @throws TradeError UNEXPECTED_TRANSACTION */
export function rawAmount(text: string): bigint {
  if (!/^\d{1,20}$/.test(text)) throw unexpected("the response's amounts are not whole base units");
  return BigInt(text);
}

/** The response is not the trade ordered. */
export function unexpected(reason: string): TradeError {
  return new TradeError("UNEXPECTED_TRANSACTION", `Refused to sign: ${printable(reason)}.`);
}
