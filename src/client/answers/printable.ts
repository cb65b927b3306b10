/** Text of the service without control characters, which could write to a terminal, and without those that reorder text. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ");
}
