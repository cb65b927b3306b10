import { parseRelays, type RelayConfig } from "../chain/landing/relay-config.ts";
import { Address } from "../primitives/address.ts";
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

/** Mints that trades may pass through: SOL and USDC if absent. Each further one is a search per traded mint. */
export function hubMints(about: string): Setting<readonly Address[]> {
  return {
    about,
    unit: "base58, comma between",
    bound: `up to ${MOST_HUBS} different mints, or none`,
    fallback: undefined,
    parse: (written) => {
      const mints = written === "none" ? [] : parseList(written, Address.parse);
      return mints === undefined || mints.length > MOST_HUBS || new Set(mints).size < mints.length ? undefined : mints;
    },
  };
}

const MOST_HUBS = 4;

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
