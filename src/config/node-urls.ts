/**
 * Which of the nodes is the trusted one: that of the same URL, or the only one at its host, since the setting may leave out
 * the provider's key. @returns its index; undefined if none is it, or several at one host may be
 */
export function trustedNodeAt(urls: readonly string[], trusted: string): number | undefined {
  const same = urls.findIndex((url) => placeOf(url) === placeOf(trusted));
  if (same !== -1) return same;
  const atHost = urls.flatMap((url, index) => (new URL(url).host === new URL(trusted).host ? [index] : []));
  return atHost.length === 1 ? atHost[0] : undefined;
}

/** The host of a node that is listed twice, and would count as two witnesses; undefined if there is none. */
export function nodeListedTwice(urls: readonly string[]): string | undefined {
  const places = urls.map(placeOf);
  const again = places.findIndex((place, index) => places.indexOf(place) < index);
  return again === -1 ? undefined : new URL(urls[again]!).host;
}

/** The parts of a URL that tell nodes, or accounts at one provider, apart: all but the scheme and credentials. */
function placeOf(url: string): string {
  const { host, pathname, search } = new URL(url);
  return `${host}${pathname.replace(/\/+$/, "")}${search}`;
}
