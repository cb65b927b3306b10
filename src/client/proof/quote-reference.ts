import { toWholeUnits } from "../../primitives/amount.ts";
import type { PriceAsk, PriceReference } from "./reference.ts";

/** What of a client a reference uses: another Tradewire's quotes. */
interface Quoter {
  readonly apiKey: string | undefined;
  register(options: { readonly label: string; readonly signal?: AbortSignal | undefined }): Promise<unknown>;
  quote(
    order: {
      readonly inputMint: string;
      readonly outputMint: string;
      readonly amount: number;
      readonly swapMode: "exactIn" | "exactOut";
      readonly slippage: number;
    },
    control: { readonly signal?: AbortSignal | undefined },
  ): Promise<{
    readonly estimates?: { readonly inputAmountRaw: string; readonly outputAmountRaw: string } | undefined;
  }>;
}

/** A quote counts in doubles: it may be for an amount that differs in the last digits. */
const MOST_DIFFERENCE = 1e-9;

/** A reference that asks another Tradewire for a quote. Registers the wallet there on first use if there is no key. */
export function quoteReference(other: Quoter): PriceReference {
  let registered: Promise<unknown> | undefined;
  return async (ask: PriceAsk, signal?: AbortSignal) => {
    if (other.apiKey === undefined) {
      registered ??= other.register({ label: "price reference", signal });
      await registered.catch((error) => {
        registered = undefined;
        throw error;
      });
    }
    if (ask.decimals === undefined) {
      throw new Error("is asked in whole units, which needs the token's decimals: pass decimals, or a node");
    }
    const { inputMint, outputMint, swapMode } = ask;
    const amount = toWholeUnits(BigInt(ask.amountRaw), ask.decimals);
    const { estimates } = await other.quote({ inputMint, outputMint, swapMode, amount, slippage: 0 }, { signal });
    if (estimates === undefined) throw new Error("gave no estimates");
    const { inputAmountRaw, outputAmountRaw } = estimates;
    const [quoted, answer] =
      swapMode === "exactIn" ? [inputAmountRaw, outputAmountRaw] : [outputAmountRaw, inputAmountRaw];
    if (Math.abs(Number(quoted) / Number(ask.amountRaw) - 1) > MOST_DIFFERENCE) {
      throw new Error(`quoted ${quoted} base units instead of ${ask.amountRaw}: the token's decimals may be wrong`);
    }
    return answer;
  };
}
