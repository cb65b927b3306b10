/** What the edge needs to know of its surroundings. */
export interface ApiSettings {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** A certificate and its key as PEM text; with them the port speaks TLS only. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** How callers reach this service, without a trailing slash; written into the OpenAPI document. Known once it listens. */
  readonly publicUrl: () => string;
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
  /** Connections held at once; more are refused. */
  readonly maxConnections: number;
  /** Of these, connections from one address; 0: any number. Behind trusted proxies all come from theirs, and none are counted. */
  readonly maxConnectionsPerAddress: number;
  /** Streams of one API key held at once; 0: any number. */
  readonly maxStreamsPerKey: number;
  /** Web origins whose pages may call; none: CORS is off. */
  readonly corsOrigins: readonly string[];
  /** Reverse proxies in front whose X-Forwarded-For is believed. */
  readonly trustedProxies: number;
  readonly limits: LimitSettings;
  readonly admission: AdmissionSettings;
}

/** Calls a second per token bucket; 0: no limit. */
export interface LimitSettings {
  /** Per API key. */
  readonly build: number;
  readonly submit: number;
  readonly read: number;
  /** Per address, whatever the key. */
  readonly addressBuild: number;
  readonly addressSubmit: number;
  readonly addressRead: number;
  /** Per address, calls that need no key; those that register, which write to the database, have their own. */
  readonly addressOpen: number;
  readonly addressRegister: number;
  /** Per address, calls that bring no key, or none that is known. */
  readonly addressAuth: number;
  /** How many seconds' worth of calls may come at once. */
  readonly burstSeconds: number;
}

export interface AdmissionSettings {
  readonly buildsAtOnce: number;
  readonly submitsAtOnce: number;
  /** How long builds run in one turn before everything else gets its own. */
  readonly buildTurnMs: number;
  /** How long a build may wait for its turn; those that would wait longer are refused. */
  readonly buildWaitMs: number;
}

/** Where the edge reports what callers must not see. A pino logger is one. */
export interface ApiLogger {
  debug?(facts: object, message: string): void;
  info?(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
