import { isIP } from "node:net";

/** A network of IP addresses; a single address has the longest prefix. */
export interface AddressRange {
  readonly address: string;
  /** Bits that all its addresses share. */
  readonly prefix: number;
  readonly family: "ipv4" | "ipv6";
}

/** Reads an IP address or a network in CIDR notation; undefined if the text is neither. */
export function parseAddressRange(range: string): AddressRange | undefined {
  const [address, length, ...rest] = range.split("/");
  const version = isIP(address!);
  if (version === 0 || rest.length > 0 || address!.includes("%")) return undefined;
  const bits = version === 6 ? 128 : 32;
  if (length !== undefined && !/^\d{1,3}$/.test(length)) return undefined;
  const prefix = length === undefined ? bits : Number(length);
  return prefix > bits ? undefined : { address: address!, prefix, family: version === 6 ? "ipv6" : "ipv4" };
}
