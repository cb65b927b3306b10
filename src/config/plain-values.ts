import { isIP } from "node:net";
import { parseAddressRange } from "../primitives/address-range.ts";
import type { SettingWithDefault } from "./setting.ts";

/** The highest priority fee that can be set, in micro-lamports per compute unit. */
const MAX_PRICE = 1_000_000_000n;

/** Any text but one in quotes: a file of variables may keep them, and they would be a part of it. */
export function text(about: string, fallback = ""): SettingWithDefault<string> {
  return {
    about,
    unit: "text",
    bound: "not empty, and not in quotes",
    fallback,
    parse: (written) => (/^(["']).*\1$/.test(written) ? undefined : written),
  };
}

/** An address or a name to listen on. An IPv6 address may stand in brackets, as in a URL. */
export function host(about: string, fallback: string): SettingWithDefault<string> {
  return {
    about,
    unit: "host",
    bound: "an IP address or a name of this machine, without a port",
    fallback,
    parse: (written) => {
      const bare = /^\[(.*:.*)\]$/.exec(written)?.[1] ?? written;
      return isIP(bare) !== 0 || /^[\w.-]+$/.test(bare) ? bare : undefined;
    },
  };
}

/** A whole number between two bounds, both included. */
export function integer(
  about: string,
  unit: string,
  fallback: number,
  min: number,
  max: number,
): SettingWithDefault<number> {
  return {
    about,
    unit,
    bound: `a whole number from ${min} to ${max}`,
    fallback: `${fallback}`,
    parse: (written) => {
      const value = /^\d{1,15}$/.test(written) ? Number(written) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    },
  };
}

/** A token bucket's refill rate, in calls per second. */
export function limit(about: string, fallback: number): SettingWithDefault<number> {
  return integer(`${about}; 0: no limit`, "calls per second", fallback, 0, 1_000_000);
}

/** A priority fee in micro-lamports per compute unit. */
export function price(about: string, fallback: bigint): SettingWithDefault<bigint> {
  return {
    about,
    unit: "micro-lamports per compute unit",
    bound: `a whole number from 0 to ${MAX_PRICE}`,
    fallback: `${fallback}`,
    parse: (written) => {
      const value = /^\d{1,15}$/.test(written) ? BigInt(written) : undefined;
      return value !== undefined && value <= MAX_PRICE ? value : undefined;
    },
  };
}

/** IP addresses and networks in CIDR notation, with commas between them. */
export function addresses(about: string): SettingWithDefault<readonly string[]> {
  return {
    about,
    unit: "addresses",
    bound: "IP addresses or networks such as 10.0.0.0/8, with commas between them",
    fallback: "",
    parse(written) {
      const list = written === "" ? [] : written.split(",").map((one) => one.trim());
      return list.every((one) => parseAddressRange(one) !== undefined) ? list : undefined;
    },
  };
}

/** One of several words. */
export function choice<const T extends string>(
  about: string,
  fallback: NoInfer<T>,
  of: readonly T[],
): SettingWithDefault<T> {
  return {
    about,
    unit: "one word",
    bound: `one of ${of.join(", ")}`,
    fallback,
    parse: (written) => of.find((option) => option === written),
  };
}
