import { isIPv4, isIPv6 } from "node:net";

/** Remembered addresses with a colon; the memory is cleared when it is full. */
const REMEMBERED = 10_000;
/** Longer than any address, with zone and port: what a header names beyond that is not kept. */
const LONGEST = 64;
/** An address as some proxies forward it, with the port of its connection. */
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;

/** The prefixes of an IPv4 address that is mapped into IPv6, and of one from a translator (RFC 6052). */
const MAPPED = [0, 0, 0, 0, 0, 0xffff].join(":");
const TRANSLATED = [0x64, 0xff9b, 0, 0, 0, 0].join(":");

const known = new Map<string, string>();

/** An address without the port and zone that proxies may forward with it. Anything that is no address is returned as it is. */
export function withoutPort(address: string): string {
  const [, v6, v4] = WITH_PORT.exec(address) ?? [];
  return (v6 ?? v4 ?? address).split("%", 1)[0]!;
}

/**
 * The part of the address space that one client owns: an IPv4 address (also if mapped or translated into IPv6) or a /64 network of IPv6,
 * however they are written. Empty if the address is unknown, as it is once a connection was reset.
 */
export function networkOf(address: string | undefined): string {
  if (address === undefined) return "";
  if (address.length > LONGEST) return address.slice(0, LONGEST);
  if (!address.includes(":")) return address;
  let network = known.get(address);
  if (network === undefined) {
    network = readNetwork(withoutPort(address));
    if (known.size >= REMEMBERED) known.clear();
    known.set(address, network);
  }
  return network;
}

function readNetwork(address: string): string {
  if (isIPv4(address) || !isIPv6(address)) return address;
  const groups = groupsOf(address);
  const prefix = groups.slice(0, 6).join(":");
  if (prefix === MAPPED || prefix === TRANSLATED)
    return [groups[6]! >> 8, groups[6]! & 0xff, groups[7]! >> 8, groups[7]! & 0xff].join(".");
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(":")}::/64`;
}

/** The eight numbers of an IPv6 address. */
function groupsOf(address: string): number[] {
  const [head, tail] = address.split("::") as [string, string?];
  const [before, after] = [numbersOf(head), numbersOf(tail ?? "")];
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array.from({ length: zeros }, () => 0), ...after];
}

function numbersOf(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (!group.includes(".")) return [Number.parseInt(group, 16)];
    const [a, b, c, d] = group.split(".").map(Number) as [number, number, number, number];
    return [(a << 8) | b, (c << 8) | d];
  });
}
