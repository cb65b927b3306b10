// Amounts as people type and read them, in exact decimals.

/** Base units of a typed amount, truncated; undefined if it is not a positive amount. */
export function toRaw(text, decimals) {
  const parts = /^(\d*)(?:\.(\d*))?$/.exec(text.trim().replace(",", "."));
  if (parts === null || text.trim() === "" || text.trim() === ".") return undefined;
  const raw = BigInt((parts[1] || "0") + (parts[2] ?? "").slice(0, decimals).padEnd(decimals, "0"));
  return raw > 0n ? raw : undefined;
}

/** A base-unit amount in whole units, without needless zeros. */
export function toWhole(raw, decimals) {
  const digits = BigInt(raw)
    .toString()
    .padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

/** Between groups of digits: narrow, and no line breaks there. */
const GROUP_SPACE = "\u202f";

/** The same with grouped digits, for reading. */
export function toWords(raw, decimals) {
  const [whole, fraction] = toWhole(raw, decimals).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, GROUP_SPACE);
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** An amount that a double holds exactly: at most fifteen digits count. Base units. */
export function roundToDouble(raw) {
  const digits = raw.toString().length;
  if (digits <= 15) return raw;
  const unit = 10n ** BigInt(digits - 15);
  return (raw / unit) * unit;
}

/** Decimals of a token from both forms of one of its amounts; undefined if they do not tell. */
export function decimalsFrom(amount, raw) {
  for (let decimals = 0; decimals <= 20; decimals++) {
    if (Math.abs(Number(raw) / 10 ** decimals - amount) <= Math.abs(amount) * 1e-12) return decimals;
  }
  return undefined;
}

/** A fraction in percent. */
export const percent = (fraction) =>
  `${(fraction * 100).toLocaleString("en", { maximumSignificantDigits: fraction < 0.0001 ? 1 : 3 })} %`;

/** Lamports in SOL. */
export const sol = (lamports) => `${toWords(BigInt(lamports), 9)} SOL`;
