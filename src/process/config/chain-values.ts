import { parseRelays, type RelayConfig } from "../../chain/landing/relay-config.ts";
import { Address } from "../../primitives/address.ts";
import { parseList, type Setting } from "./setting.ts";

/** Relays and block engines, as a JSON list. */
export function relays(about: string): Setting<readonly RelayConfig[]> {
  return {
    about,
    unit: "JSON",
    bound: "a list of relays with name, url and levels, as docs/mainnet.md shows",
    fallback: undefined,
    parse: parseRelays,
  };
}

/** Addresses, or the word `none` for an empty list. */
export function addressesOrNone(about: string): Setting<readonly Address[]> {
  return {
    about,
    unit: "base58, comma between",
    bound: "addresses, or none",
    fallback: undefined,
    parse: (written) => (written === "none" ? Object.freeze([]) : parseList(written, Address.parse)),
  };
}
