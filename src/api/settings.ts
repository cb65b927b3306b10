/** The settings of the API. */
export interface ApiSettings {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** A certificate and its key as PEM text; with them the port speaks TLS only. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** The public URL of the service, without a trailing slash; written into the OpenAPI document. Known once it listens. */
  readonly publicUrl: () => string;
  /** How long an idle connection is held. Milliseconds. */
  readonly keepAliveMs: number;
  /** The shorter time that is advertised, so that a client that honours it closes first and never meets a reset. */
  readonly keepAliveHintMs: number;
  readonly maxRequestsPerConnection: number;
  readonly bodyLimitBytes: number;
  readonly headerLimitBytes: number;
  /** Time within which the headers of a request must be complete. */
  readonly headersTimeoutMs: number;
  /** Time within which a request must be complete. */
  readonly requestTimeoutMs: number;
  /** How often both timeouts are checked. */
  readonly timeoutCheckMs: number;
  /** On close, time for requests in flight to end. */
  readonly drainMs: number;
  /** Maximum number of open connections. */
  readonly maxConnections: number;
  /** Maximum number of connections from one address; 0 for any number. Not applied behind trusted proxies, which share theirs. */
  readonly maxConnectionsPerAddress: number;
  /** Maximum number of open streams per API key, and per address for streams that need no key; 0 for any number. */
  readonly maxStreamsPerKey: number;
  /** Maximum number of open HTTP/2 streams of all connections; one address gets half. 0 for any number. */
  readonly maxStreams: number;
  /** Maximum number of bytes that wait for clients to read them; one connection gets half. 0 for any number. */
  readonly maxWaitingBytes: number;
  /** How long a client may read nothing while something waits for it. */
  readonly stallTimeoutMs: number;
  /** Web origins whose pages may call the API; without any, CORS is off. */
  readonly corsOrigins: readonly string[];
  /** Number of reverse proxies in front whose X-Forwarded-For is trusted. */
  readonly trustedProxies: number;
  /** Their addresses and networks in CIDR notation; none: any of a private network. What other peers forward is ignored. */
  readonly proxyAddresses: readonly string[];
  readonly limits: LimitSettings;
  readonly admission: AdmissionSettings;
}

/** Calls a second per token bucket; 0 for no limit. */
export interface LimitSettings {
  /** Per API key. */
  readonly build: number;
  readonly submit: number;
  readonly read: number;
  /** Balances and lists of trades. */
  readonly query: number;
  /** Per address, with any key. */
  readonly addressBuild: number;
  readonly addressSubmit: number;
  readonly addressRead: number;
  readonly addressQuery: number;
  /** Per address, calls that need no key. Registration writes to the database and has a limit of its own. */
  readonly addressOpen: number;
  readonly addressRegister: number;
  /** Per address, documents and pages. */
  readonly addressPage: number;
  /** Per address, calls without a valid key. */
  readonly addressAuth: number;
  /** Size of a burst, in seconds of calls at the limit. */
  readonly burstSeconds: number;
}

/** How much work is admitted at once. */
export interface AdmissionSettings {
  readonly buildsAtOnce: number;
  readonly submitsAtOnce: number;
  /** Time slice of builds in each turn of the event loop. */
  readonly buildTurnMs: number;
  /** Longest wait of a build for its turn; builds that would wait longer are refused. */
  readonly buildWaitMs: number;
}

/** Receives what clients must not see. A pino logger fits. */
export interface ApiLogger {
  debug?(facts: object, message: string): void;
  info?(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
