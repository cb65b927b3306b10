// The price of an order, as the service streams it.

import { pause, readEvents, refusalOf } from "../shared/page.js";

/** Pause before a stream of prices that broke off is opened again. */
const RETRY_MS = 1500;

/**
 * Follows the price of an order until `signal` aborts or the service refuses the order for good.
 *
 * @param seen `quoted(data)` gets each quote; `failed(error)` what the user is shown
 */
export async function followQuotes(order, apiKey, signal, { quoted, failed }) {
  while (!signal.aborted) {
    try {
      const path = `/v1/quotes/stream?${new URLSearchParams(order)}`;
      for await (const { event, data } of readEvents(path, apiKey, signal)) {
        if (event === "error") throw refusalOf(data.error);
        if (event === "quote") quoted(data);
      }
    } catch (error) {
      if (signal.aborted) return;
      failed(error);
      if (error.retryable === false) return;
    }
    await pause(RETRY_MS);
  }
}
