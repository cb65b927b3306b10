/** Longer than any field. Errors travel in headers on some wires, whose size clients limit. Characters. */
const LONGEST = 64;

/** A name that a caller has made up, as errors show it: short, never nothing, and a text on every wire, which half of a surrogate pair is not. */
export function shownName(name: string): string {
  if (name === "") return '""';
  const shown = name.length > LONGEST ? `${name.slice(0, LONGEST)}…` : name;
  return shown.toWellFormed();
}
