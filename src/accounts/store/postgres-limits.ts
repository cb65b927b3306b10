/** How long PostgreSQL may take, in milliseconds, and with how many connections. */
export interface PostgresLimits {
  readonly connections: number;
  /** For a connection to be made, or to become free. */
  readonly connectMs: number;
  readonly statementMs: number;
}
