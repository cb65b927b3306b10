/** Parts that a wait is counted in. */
const PARTS = 10;

/**
 * Calls back once the process has run for this many milliseconds: a turn of the loop that takes longer than a tenth of them counts
 * as a tenth, since what is waited for may have come meanwhile without being read. @returns how to stop
 */
export function afterRunning(ms: number, onLate: () => void): () => void {
  let left = PARTS;
  const timer = setInterval(() => {
    if (--left > 0) return;
    clearInterval(timer);
    onLate();
  }, ms / PARTS);
  return () => clearInterval(timer);
}
