/** More of a message would fill a log, and nobody reads it. Characters. */
const MOST = 4_000;

/**
 * Text of the service, cut to what can be read, without control characters, which could write to a terminal, and without those
 * that reorder text or show nothing.
 */
export function printable(text: string): string {
  const short = text.length > MOST ? `${text.slice(0, MOST)}…` : text;
  return short.replace(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]+/gu, " ");
}
