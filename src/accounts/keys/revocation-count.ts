import type { RandomBytes } from "../../primitives/random.ts";
import type { Database } from "../store/schema.ts";

/** Size of the number drawn for a revocation: as many bytes as a buffer reads at once. */
const COUNT_BYTES = 6;

/**
 * Has every process look again at the keys that it or its streams use. A number drawn, not the next one: a database that takes over
 * without the last revocation would give the next one a number that processes have seen.
 *
 * @param isDeletion true if keys were deleted that were not revoked: the number is then odd, see `mayHaveDeleted`
 */
export const countRevocation = (db: Database, randomBytes: RandomBytes, { isDeletion = false } = {}) =>
  db
    .updateTable("revocation_count")
    .set({ count: 2 * Math.floor(randomBytes(COUNT_BYTES).readUIntBE(0, COUNT_BYTES) / 2) + (isDeletion ? 1 : 0) })
    .execute();

/** False if the count was set by a revocation; versions before this one drew any number. */
export const mayHaveDeleted = (count: number): boolean => count % 2 === 1;
