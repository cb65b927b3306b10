import { SOL_MINT } from "../../solana/programs.ts";
import { TradeError, unsigned } from "../trade-error.ts";
import type { TradeExpectation } from "../verify/trade-expectation.ts";
import { answerUnlessAborted } from "./pause.ts";

/** What a reference is asked: the other side's amount for an exact amount of one side. */
export interface PriceAsk {
  readonly inputMint: string;
  readonly outputMint: string;
  readonly swapMode: "exactIn" | "exactOut";
  /** Base units of the exact side. */
  readonly amountRaw: string;
  /** Decimals of the exact side's mint, if the client knows them. */
  readonly decimals: number | undefined;
}

/** A second opinion on price: base units of the output (exactIn) or of the input (exactOut), as a bigint or decimal string. */
export type PriceReference = (ask: PriceAsk, signal?: AbortSignal) => Promise<bigint | string> | bigint | string;

/** A reference, and how far a trade may be worse than it. */
export interface ReferenceOptions {
  /** A function, or the URL of another Tradewire. */
  readonly source: PriceReference | string;
  /** The other Tradewire's API key. Without one, the wallet registers there on first use. */
  readonly apiKey?: string | undefined;
  /** As a fraction; default 0.01, which is 1 %. */
  readonly tolerance?: number | undefined;
}

export const DEFAULT_TOLERANCE = 0.01;
const REFERENCE_KEYS = ["source", "apiKey", "tolerance"];

/** The options of a reference in any of its forms. @throws TypeError for a malformed one */
export function referenceOptions(given: PriceReference | string | ReferenceOptions): ReferenceOptions {
  const options = typeof given === "object" ? given : { source: given };
  const unknown = Object.keys(options).find((key) => !REFERENCE_KEYS.includes(key));
  if (unknown !== undefined) throw new TypeError(`Unknown key "${unknown}" in reference.`);
  const { source, tolerance = DEFAULT_TOLERANCE } = options;
  if (typeof source !== "string" && typeof source !== "function") {
    throw new TypeError("reference is a function, the URL of another Tradewire, or { source, apiKey, tolerance }.");
  }
  if (!(tolerance >= 0 && tolerance < 1)) throw new TypeError("tolerance is a fraction: 0 ≤ tolerance < 1");
  return options;
}

/**
 * Compares the price that the transaction is built for with the reference's.
 *
 * @param estimated the service's estimate of the side that is not exact, base units
 * @throws TradeError PRICE_CONTRADICTED if it is worse by more than the tolerance, REFERENCE_UNAVAILABLE without a price
 */
export async function checkReference(
  ask: PriceReference,
  tolerance: number,
  { mode, inMint, outMint, amount, decimals }: TradeExpectation,
  estimated: bigint,
  signal: AbortSignal,
): Promise<void> {
  const isExactIn = mode === "exactIn";
  const known = isExactIn ? decimals?.input : decimals?.output;
  const answer = await priceOf(
    ask,
    {
      inputMint: inMint.toString(),
      outputMint: outMint.toString(),
      swapMode: mode,
      amountRaw: amount.toString(),
      decimals: (isExactIn ? inMint : outMint) === SOL_MINT ? 9 : known,
    },
    signal,
  );
  const worse = isExactIn ? 1 - Number(estimated) / Number(answer) : Number(estimated) / Number(answer) - 1;
  if (worse <= tolerance) return;
  const [verb, side] = isExactIn ? ["yields", "output"] : ["takes", "input"];
  throw unsigned(
    "PRICE_CONTRADICTED",
    `The trade ${verb} ${estimated} base units of the ${side}, but your reference says ${answer}: the price is worse by ${(worse * 100).toFixed(2)} %, more than ${(tolerance * 100).toFixed(2)} %`,
  );
}

async function priceOf(ask: PriceReference, about: PriceAsk, signal: AbortSignal): Promise<bigint> {
  let answer: unknown;
  try {
    answer = await answerUnlessAborted<unknown>(signal, ask(about, signal));
  } catch (cause) {
    if (signal.aborted) throw new TradeError("ABORTED", "The caller aborted the call.", { cause });
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw unavailable(`failed: ${reason}`, cause);
  }
  if (typeof answer === "bigint" && answer > 0n) return answer;
  if (typeof answer === "string" && /^\d{1,20}$/.test(answer) && BigInt(answer) > 0n) return BigInt(answer);
  throw unavailable("gave no price in base units", undefined);
}

function unavailable(reason: string, cause: unknown): TradeError {
  return unsigned("REFERENCE_UNAVAILABLE", `The reference ${reason}`, {
    retryable: true,
    cause,
  });
}
