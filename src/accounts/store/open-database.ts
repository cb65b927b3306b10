import type { Database } from "./schema.ts";

/** An open database with its schema, of either kind. */
export interface OpenDatabase {
  readonly db: Database;
  /** Runs one statement, by itself. @returns its rows */
  query(sql: string, parameters: readonly unknown[]): Promise<readonly unknown[]>;
  /** Runs one statement that returns no rows, by itself. @returns how many it has written */
  write(sql: string, parameters: readonly unknown[]): Promise<number>;
  /** True of an error that a faulty statement causes. */
  isFault(error: unknown): boolean;
}
