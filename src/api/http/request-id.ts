/**
 * Numbers requests.
 *
 * @param prefix distinguishes the processes, so it must be random enough never to repeat
 */
export function createRequestIds(prefix: string): () => string {
  const beginning = `req_${prefix}_`;
  let count = 0;
  return () => beginning + (count++).toString(36);
}
