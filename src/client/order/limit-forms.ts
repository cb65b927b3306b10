import { checkRouteLimits } from "../verify/route/announced-route.ts";
import { refuseUnknownKeys } from "./known-keys.ts";
import { LIMIT_KEYS, ROUTE_KEYS, type TradeLimits } from "./limits.ts";

/** The limits that are one number, or one text in base units. */
const SINGLE_KEYS = Object.keys(LIMIT_KEYS).filter(
  (name) => !Object.hasOwn(ROUTE_KEYS, name) && !["decimals", "tipAccounts", "middleMints"].includes(name),
) as readonly (keyof TradeLimits)[];

/** A mint has one byte for them. */
const MOST_DECIMALS = 255;

/**
 * Checks the limits among some options: a value that limits nothing must not be taken for a limit.
 * @throws TypeError if a number or a list is not one
 */
export function checkLimitForms(limits: TradeLimits): void {
  const { decimals, tipAccounts, middleMints, maxPriceImpact, maxSlippage } = limits;
  if (decimals !== undefined && (typeof decimals !== "object" || decimals === null)) {
    throw new TypeError("decimals is an object, such as { output: 6 }.");
  }
  const where = 'decimals, which are those of "input" and "output" here; by mint they belong into connect';
  refuseUnknownKeys(decimals, { input: true, output: true }, where);
  checkRouteLimits(limits);
  if (tipAccounts !== "any") checkAddresses("tipAccounts", tipAccounts, ', or "any"');
  checkAddresses("middleMints", middleMints, "");
  for (const name of SINGLE_KEYS) checkSingle(name, limits[name]);
  if (maxSlippage !== undefined && !(maxSlippage >= 0 && maxSlippage < 1)) {
    throw new TypeError("maxSlippage is a fraction, 0 ≤ maxSlippage < 1: 0.03 is 3 %.");
  }
  if (maxPriceImpact !== undefined && maxPriceImpact > 1) {
    throw new TypeError(`maxPriceImpact is a fraction: 0.05 is 5 %, not ${maxPriceImpact}.`);
  }
  for (const [name, value] of Object.entries(decimals ?? {})) {
    checkSingle(`decimals.${name}`, value);
    const isByte = value === undefined || (Number.isInteger(value) && value >= 0 && value <= MOST_DECIMALS);
    if (!isByte) throw new TypeError(`decimals.${name} is a whole number from 0 to ${MOST_DECIMALS}, not ${value}.`);
  }
}

function checkSingle(name: string, value: unknown): void {
  const isText = name.endsWith("Raw");
  const fits = isText ? typeof value === "string" : typeof value === "number" && !Number.isNaN(value);
  if (value === undefined || fits) return;
  throw new TypeError(`${name} is a ${isText ? "decimal string" : "number"}, not ${String(value)}.`);
}

function checkAddresses(name: string, list: unknown, or: string): void {
  if (list === undefined || (Array.isArray(list) && list.every((one) => typeof one === "string"))) return;
  throw new TypeError(`${name} is a list of addresses${or}.`);
}
