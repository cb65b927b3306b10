import { BlockList, isIP } from "node:net";
import { parseAddressRange } from "../../primitives/address-range.ts";
import { withoutPort } from "./network-of.ts";

/** Networks that no caller on the internet has an address of: where proxies stand unless the operator names their addresses. */
const PRIVATE_NETWORKS = [
  "127.0.0.0/8",
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "100.64.0.0/10",
  "169.254.0.0/16",
  "::1/128",
  "fc00::/7",
  "fe80::/10",
];

interface ProxySettings {
  /** Reverse proxies in front, each of which appends to X-Forwarded-For. */
  readonly trustedProxies: number;
  /** Their addresses and networks in CIDR notation; none: any of a private network. */
  readonly proxyAddresses: readonly string[];
}

/** Says which peers may name a caller's address. What a caller who reaches the process directly forwards is ignored. */
export class Proxies {
  readonly #count: number;
  readonly #named: boolean;
  readonly #known = new BlockList();

  constructor({ trustedProxies, proxyAddresses }: ProxySettings) {
    this.#count = trustedProxies;
    this.#named = proxyAddresses.length > 0;
    for (const range of this.#named ? proxyAddresses : PRIVATE_NETWORKS) addRange(this.#known, range);
  }

  /** True if the peer of a connection is a proxy, so that many callers share its address. */
  isProxy(peer: string | undefined): boolean {
    return this.#count > 0 && this.#knows(peer);
  }

  /** True if the address at this place (0: the connection's peer) is trusted to name the one before it. */
  trusts(address: string | undefined, place: number): boolean {
    if (place >= this.#count) return false;
    // Proxies behind the first may have any address unless all are named: a trusted proxy has reported them.
    return place > 0 && !this.#named ? true : this.#knows(address);
  }

  #knows(address: string | undefined): boolean {
    if (address === undefined) return false;
    const bare = withoutPort(address);
    const family = isIP(bare);
    return family !== 0 && this.#known.check(bare, family === 6 ? "ipv6" : "ipv4");
  }
}

/** @throws RangeError if it is neither an address nor a network in CIDR notation */
function addRange(list: BlockList, range: string): void {
  const parsed = parseAddressRange(range);
  if (parsed === undefined) throw new RangeError(`${range} is neither an address nor a network`);
  list.addSubnet(parsed.address, parsed.prefix, parsed.family);
}
