/**
 * Checks an order's amounts: exactly one must be given. Text is read only as base units: the service may read another form
 * of a number otherwise than this library.
 * @throws TypeError
 */
export function checkAmounts(what: string, amounts: Readonly<Record<string, number | string | undefined>>): void {
  const given = Object.entries(amounts).filter(([, amount]) => amount !== undefined);
  if (given.length !== 1) {
    throw new TypeError(`${what} needs exactly one of ${Object.keys(amounts).join(", ")}.`);
  }
  const [name, amount] = given[0]!;
  const isRaw = name.endsWith("Raw");
  if (isRaw ? typeof amount === "string" && /^[1-9]\d{0,19}$/.test(amount) : typeof amount === "number") return;
  throw new TypeError(`${name} is ${isRaw ? 'base units as a decimal string, such as "1500000"' : "a number"}.`);
}
