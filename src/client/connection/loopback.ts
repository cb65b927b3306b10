/**
 * Names that lead to this machine, as the host of a URL spells them: its loopback, and the addresses of all interfaces, which connect
 * there too. A URL writes `127.1` and the like in full.
 */
const LOOPBACK = /^(localhost|127[.\d]+|(0\.){3}0|\[::(1|ffff:(7f..:.+|0:0))?])\.?$/;

/** True if the URL's host is this machine. */
export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK.test(hostname);
}

/** True if both URLs lead to one host and port, by whatever name of this machine. Over HTTP and HTTPS, a host's own ports count as one. */
export function isSameHost(one: URL, other: URL): boolean {
  const name = (url: URL) => `${isLoopback(url) ? "" : url.hostname.replace(/\.$/, "")}:${url.port}`;
  return name(one) === name(other);
}
