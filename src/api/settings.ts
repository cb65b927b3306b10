/** What the edge needs to know of its surroundings. */
export interface ApiSettings {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** A certificate and its key as PEM text; with them the port speaks TLS only. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** How callers reach this service, without a trailing slash; written into the OpenAPI document. */
  readonly publicUrl: string;
  /** How long an idle connection is held. */
  readonly keepAliveMs: number;
  /** What is advertised instead, so that a client which honours the hint closes first and never meets a reset. */
  readonly keepAliveHintMs: number;
  readonly maxRequestsPerConnection: number;
  readonly bodyLimitBytes: number;
  readonly headerLimitBytes: number;
  /** A request whose head is not complete after this long is refused. */
  readonly headersTimeoutMs: number;
  /** A request whose body is not complete after this long is refused. */
  readonly requestTimeoutMs: number;
  /** How often both are checked. */
  readonly timeoutCheckMs: number;
  /** On close, how long requests under way may take to end. */
  readonly drainMs: number;
}

/** The figures of the contract. */
export const DEFAULT_API_SETTINGS: ApiSettings = {
  host: "127.0.0.1",
  port: 8080,
  tls: undefined,
  publicUrl: "http://127.0.0.1:8080",
  keepAliveMs: 70_000,
  keepAliveHintMs: 65_000,
  maxRequestsPerConnection: 10_000,
  bodyLimitBytes: 16 * 1024,
  headerLimitBytes: 8 * 1024,
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
  timeoutCheckMs: 1_000,
  drainMs: 30_000,
};

/** Where the edge reports what callers must not see. A pino logger is one. */
export interface ApiLogger {
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
