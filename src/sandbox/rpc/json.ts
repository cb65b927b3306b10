declare global {
  interface JSON {
    /** A value that `stringify` writes as exactly this text. @see ECMAScript "JSON.parse source text access" */
    rawJSON(text: string): object;
  }
}

/** JSON in which every `bigint` is a plain integer, exact at any size, as nodes write 64-bit values. */
export function stringifyExact(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === "bigint" ? JSON.rawJSON(member.toString()) : member,
  );
}
