import { isIPv6 } from "node:net";

/** Remembered IPv6 addresses; the memory is cleared when it is full. */
const REMEMBERED = 10_000;

const known = new Map<string, string>();

/**
 * The part of the address space that one client owns: an IPv4 address (also if mapped into IPv6) or a /64 network of IPv6.
 * Empty if the address is unknown, as it is once a connection was reset.
 */
export function networkOf(address: string | undefined): string {
  if (address === undefined) return "";
  if (!address.includes(":")) return address;
  let network = known.get(address);
  if (network === undefined) {
    network = readNetwork(address);
    if (known.size >= REMEMBERED) known.clear();
    known.set(address, network);
  }
  return network;
}

function readNetwork(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head, tail] = address.split("%", 1)[0]!.split("::") as [string, string?];
  const groups = head === "" ? [] : head.split(":");
  const rest = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : 8 - groups.length - rest.length;
  const all = [...groups, ...Array.from({ length: zeros }, () => "0"), ...rest];
  return `${all.slice(0, 4).join(":")}::/64`;
}
