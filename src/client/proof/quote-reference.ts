import type { PriceAsk, PriceReference } from "./reference.ts";

/** What of a client a reference uses: another Tradewire's quotes. */
export interface Quoter {
  readonly apiKey: string | undefined;
  register(options: { readonly label: string }): Promise<unknown>;
  quote(
    order: {
      readonly inputMint: string;
      readonly outputMint: string;
      readonly amountRaw: string;
      readonly swapMode: "exactIn" | "exactOut";
      readonly slippage: number;
    },
    control: { readonly signal?: AbortSignal | undefined },
  ): Promise<{
    readonly estimates?: { readonly inputAmountRaw: string; readonly outputAmountRaw: string } | undefined;
  }>;
}

/** A curve may leave a little of an exact input unspent, and rounding may yield more than an exact output. */
const MOST_DIFFERENCE = 1e-3;

/** A reference that asks another Tradewire for a quote. Registers the wallet there on first use if there is no key. */
export function quoteReference(other: Quoter): PriceReference {
  let registered: Promise<unknown> | undefined;
  return async (ask: PriceAsk, signal?: AbortSignal) => {
    if (other.apiKey === undefined) {
      // For all that ask meanwhile: none of their signals ends it.
      registered ??= other.register({ label: "price reference" }).catch((error) => {
        registered = undefined;
        throw error;
      });
      await registered;
    }
    const { inputMint, outputMint, swapMode, amountRaw } = ask;
    const { estimates } = await other.quote({ inputMint, outputMint, swapMode, amountRaw, slippage: 0 }, { signal });
    if (estimates === undefined) throw new Error("gave no estimates");
    const { inputAmountRaw, outputAmountRaw } = estimates;
    const [quoted, answer] =
      swapMode === "exactIn" ? [inputAmountRaw, outputAmountRaw] : [outputAmountRaw, inputAmountRaw];
    if (Math.abs(Number(quoted) / Number(amountRaw) - 1) > MOST_DIFFERENCE) {
      throw new Error(`quoted ${quoted} base units instead of ${amountRaw}`);
    }
    return answer;
  };
}
