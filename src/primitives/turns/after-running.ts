/** Parts that a wait is counted in. */
const PARTS = 10;

/**
 * Calls back once the process has run for this many milliseconds. A turn of the loop counts for a tenth of them at most, because what
 * the caller waits for may have arrived in a long turn without being read.
 *
 * @returns how to stop
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
