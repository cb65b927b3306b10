/** Amounts of one row of the page's table, as shown. */
interface ShownAmounts {
  readonly estimated: string;
  readonly real: string;
}

/** The rows of the table of amounts by their names. */
export function amountsOf(rows: readonly (readonly string[])[]): ReadonlyMap<string, ShownAmounts> {
  return new Map(rows.map(([name, estimated, real]) => [name!, { estimated: estimated!, real: real! }]));
}

/** Base units of an amount as shown, such as "1 234.5 SOL" with narrow spaces between groups. */
export function rawOf(shown: string, decimals: number): bigint {
  const digits = /^[\d\u202f]+(\.\d+)?(?= )/.exec(shown)?.[0].replaceAll("\u202f", "");
  if (digits === undefined) throw new Error(`${shown} is not an amount`);
  const [whole, fraction = ""] = digits.split(".");
  return BigInt(whole! + fraction.padEnd(decimals, "0"));
}
