// The slippage of an order: typed, or chosen by how far its price has moved.

import { autoSlippage, DEFAULT_MAX_SLIPPAGE } from "/assets/modules/client/trading/auto-slippage.js";
import { percent } from "../shared/amounts.js";
import { byId } from "../shared/page.js";

/** Age at which a choice is made again while its order is on show, and beyond which nothing is built with it. Milliseconds. */
export const RENEW_MS = 30_000;
const STALE_MS = 90_000;

const keyOf = ({ inputMint, outputMint, amount, swapMode }) =>
  JSON.stringify([inputMint, outputMint, amount, swapMode]);

export class SlippageField {
  /** What was chosen, and for which order; undefined if nothing is. */
  #chosen;
  #changed;

  /** @param changed called once another slippage is wanted */
  constructor(changed) {
    this.#changed = changed;
    byId("slippage").addEventListener("input", changed);
    byId("slippage-auto").addEventListener("change", () => {
      byId("slippage").readOnly = this.isAuto;
      this.#set(undefined);
      if (this.isAuto) byId("slippage").value = "";
      changed();
    });
  }

  /** True if the number comes from how the price moves. */
  get isAuto() {
    return byId("slippage-auto").checked;
  }

  /** The slippage to send with an order, which is the number shown. @throws Error saying what is missing */
  of(order) {
    if (this.isAuto) {
      if (this.#chosen?.key !== keyOf(order)) throw new Error("The slippage of this order is not chosen yet.");
      if (Date.now() - this.#chosen.atMs > STALE_MS) {
        this.#changed();
        throw new Error("The automatic slippage was chosen too long ago: it is chosen again.");
      }
      return this.#chosen.slippage;
    }
    const slippage = Number(byId("slippage").value.trim().replace(",", ".") || Number.NaN) / 100;
    if (!(slippage >= 0 && slippage < 1)) throw new Error("Slippage is a percentage from 0 to below 100: 1 is 1 %.");
    return slippage;
  }

  /** The slippage to ask for prices with: as long as none is chosen, the most that could be. @throws Error like `of` */
  whileAsking(order) {
    if (!this.isAuto) return this.of(order);
    return this.#chosen?.key === keyOf(order) ? this.#chosen.slippage : DEFAULT_MAX_SLIPPAGE;
  }

  /** An automatic slippage is chosen again for the next order. */
  forget() {
    if (!this.isAuto) return;
    byId("slippage").value = "";
    this.#set(undefined);
  }

  /**
   * Chooses the slippage of an order by what a quote says of its price, and again once the choice has aged.
   *
   * @returns whether another one was chosen, so that the quote is not for it
   * @throws TradeError if too little is known of the price: a number is wanted then
   */
  choose(order, priceMovement) {
    const key = keyOf(order);
    const isSame = this.#chosen?.key === key;
    if (!this.isAuto || (isSame && Date.now() - this.#chosen.atMs < RENEW_MS)) return false;
    const before = isSame ? this.#chosen.slippage : undefined;
    try {
      const basis = autoSlippage(priceMovement, DEFAULT_MAX_SLIPPAGE);
      byId("slippage").value = String(Number((basis.slippage * 100).toFixed(2)));
      this.#set({ key, slippage: basis.slippage, atMs: Date.now() }, basis);
      return basis.slippage !== before;
    } catch (error) {
      // A number chosen before is not the caller's own.
      this.forget();
      byId("slippage-auto").checked = false;
      byId("slippage").readOnly = false;
      throw error;
    }
  }

  /** Takes a choice, and shows what it rests on; without one, shows nothing. */
  #set(chosen, basis) {
    this.#chosen = chosen;
    byId("slippage-basis").hidden = basis === undefined;
    byId("slippage-basis").textContent = basis === undefined ? "" : inWords(basis);
  }
}

/** A choice in words. The figures are the service's. */
function inWords({ slippage, movement, quantile, samples, windowSeconds, spanSeconds, maxSlippage, isCapped }) {
  const window = windowSeconds < 90 ? `${Math.round(windowSeconds)} s` : `${Math.round(windowSeconds / 60)} min`;
  const observed = `within ${Math.round(spanSeconds)} s the price fell by at most ${percent(movement)} in ${percent(quantile)} of ${samples} samples over ${window}`;
  const cap = isCapped ? `, more than the cap of ${percent(maxSlippage)}` : `; the cap is ${percent(maxSlippage)}`;
  return `Auto chose ${percent(slippage)}: the service says that ${observed}${cap}.`;
}
