import type { Account } from "./account.ts";

/** True if both are equal in everything but the slot they were read at, or both are missing. */
export function hasSameContent(a: Account | null, b: Account | null): boolean {
  if (a === null || b === null || a === b) return a === b;
  return (
    a.lamports === b.lamports &&
    a.owner === b.owner &&
    a.executable === b.executable &&
    Buffer.compare(a.data, b.data) === 0
  );
}
