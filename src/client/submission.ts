import { TradeError } from "./trade-error.ts";

/** The failure with the signature of the transaction that was submitted. */
export function attachSignature(failure: TradeError, signature: string): TradeError {
  if (failure.signature !== undefined) return failure;
  const { code, message, retryable, safeToRebuild, field, requestId, retryAfterMs } = failure;
  return new TradeError(code, message, {
    retryable,
    safeToRebuild,
    field,
    requestId,
    retryAfterMs,
    signature,
    cause: failure.cause,
  });
}

/** Waits between two submits of the same transaction. @throws TradeError ABORTED once the signal aborts */
export function pause(ms: number, signal: AbortSignal, signature: string): Promise<void> {
  const aborted = () =>
    new TradeError("ABORTED", "Stopped waiting. The transaction may still land: look it up by its signature.", {
      signature,
    });
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(aborted());
      return;
    }
    const stop = () => {
      clearTimeout(timer);
      reject(aborted());
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}
