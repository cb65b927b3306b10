/**
 * Numbers requests.
 *
 * @param prefix distinguishes the processes, so it must be random enough never to repeat
 */
export function createRequestIds(prefix: string): () => string {
  let count = 0;
  return () => `req_${prefix}_${(count++).toString(36)}`;
}
