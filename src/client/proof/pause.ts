import { TradeError } from "../trade-error.ts";

/** Waits. @throws TradeError ABORTED once the signal aborts */
export function rest(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(aborted());
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Waits for an answer however long it takes. @throws TradeError ABORTED once the signal aborts */
export async function answerUnlessAborted<T>(signal: AbortSignal, answer: T | Promise<T>): Promise<T> {
  const answered = new AbortController();
  const stopped = new Promise<never>((_, reject) => {
    const stop = () => reject(aborted());
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true, signal: answered.signal });
  });
  try {
    return await Promise.race([stopped, answer]);
  } finally {
    answered.abort();
  }
}

const aborted = (): TradeError => new TradeError("ABORTED", "The caller aborted the call.");
