/**
 * Repeats the work every `periodMs`, never overlapping.
 *
 * @param onFailure called for the first of consecutive failures
 * @returns how to stop
 */
export function repeat(
  work: () => Promise<unknown>,
  periodMs: number,
  onFailure: (error: unknown) => void,
): () => void {
  let isRunning = false;
  let isFailing = false;
  const timer = setInterval(async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await work();
      isFailing = false;
    } catch (error) {
      if (!isFailing) onFailure(error);
      isFailing = true;
    } finally {
      isRunning = false;
    }
  }, periodMs);
  return () => clearInterval(timer);
}
