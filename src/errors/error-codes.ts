/** gRPC status names that the table uses. */
export type RpcStatus =
  | "invalid_argument"
  | "unauthenticated"
  | "permission_denied"
  | "not_found"
  | "already_exists"
  | "failed_precondition"
  | "resource_exhausted"
  | "aborted"
  | "deadline_exceeded"
  | "unimplemented"
  | "internal"
  | "unavailable";

/** What a code is on every wire, and what to do about it. */
interface ErrorRow {
  /** HTTP status. */
  readonly http: number;
  /** Connect code; the gRPC status of the same name. */
  readonly rpc: RpcStatus;
  /** True if the same call, unchanged, may succeed later. An error's facts may override it. */
  readonly retryable: boolean;
  /** What happened. */
  readonly meaning: string;
  /** What the caller should do. */
  readonly advice: string;
}

const final = (http: number, rpc: RpcStatus, meaning: string, advice: string): ErrorRow => ({
  http,
  rpc,
  retryable: false,
  meaning,
  advice,
});

const retryable = (http: number, rpc: RpcStatus, meaning: string, advice: string): ErrorRow => ({
  ...final(http, rpc, meaning, advice),
  retryable: true,
});

/** The one table of error codes. `docs/errors.md` is generated from it. */
export const ERRORS = {
  VALIDATION_ERROR: final(
    400,
    "invalid_argument",
    "A field is missing, unknown, duplicated or out of range; `field` names it",
    "Correct the request",
  ),
  MESSAGE_MISMATCH: final(
    400,
    "invalid_argument",
    "The submitted message is not the one that was built",
    "Sign the built bytes without changing them",
  ),
  INVALID_SIGNATURE: final(
    400,
    "invalid_argument",
    "The signature is not the wallet's over this message",
    "Sign with the wallet that the API key belongs to",
  ),
  NOT_FULLY_SIGNED: final(
    400,
    "invalid_argument",
    "A required signature is missing",
    "Sign the transaction, then submit it",
  ),
  INVALID_SUBMISSION_TOKEN: final(
    400,
    "invalid_argument",
    "The token was altered, belongs to another account, or was sealed with unknown keys",
    "Send the token exactly as the build returned it",
  ),
  AUTH_ERROR: final(
    401,
    "unauthenticated",
    "The API key is missing, mistyped, unknown or revoked",
    "Send `Authorization: Bearer <API_KEY>`; register again if the key is lost",
  ),
  WALLET_MISMATCH: final(
    403,
    "permission_denied",
    "The trade was built for a wallet other than the key's",
    "Submit with the key that the trade was built with",
  ),
  NOT_FOUND: final(
    404,
    "not_found",
    "Nothing is at this path, or no key has this id",
    "Check the path or the id; `/docs` lists the paths",
  ),
  TOKEN_NOT_FOUND: final(
    404,
    "not_found",
    "No token mint is at the address",
    "Check the mint; a new one appears within a second or two",
  ),
  TRADE_NOT_FOUND: final(
    404,
    "not_found",
    "No trade of this account is on record with this signature: none was submitted, its record is not written yet, or it ended longer ago than trades are kept (24 hours or more)",
    "Check the signature; look up older trades on the chain. After a submit without an answer, submit the same bytes again before building anew: it may have been sent",
  ),
  METHOD_NOT_ALLOWED: final(
    405,
    "unimplemented",
    "The path does not support this HTTP method; `Allow` lists those it does",
    "Use a method from `Allow`",
  ),
  REQUEST_TIMEOUT: retryable(
    408,
    "deadline_exceeded",
    "The request did not arrive in time and nothing was done; or the deadline of a typed call passed and its work may continue",
    "Send it again",
  ),
  CONFLICT_ERROR: final(
    409,
    "already_exists",
    "The challenge was used before, or the account has as many live keys as it may (`details.maxKeysPerAccount`). Of a submit: another build of the wallet is the same transaction, was submitted first with its own token, and has the trade",
    "Request a new challenge; if there are too many keys, revoke one, or register with `revokeOthers`. After a submit, build again if you meant to trade twice",
  ),
  TX_EXPIRED: final(
    410,
    "failed_precondition",
    "Proven: the transaction is in no block and can no longer land; `details.diagnosis` names the cause or says `unknown`, with `sure`, `evidence`, `remedy` and `others`",
    "Build again if `safeToRebuild` is true. If it is false, no node could show that the message did not land under another signature: check the wallet before building again",
  ),
  OUTCOME_UNKNOWN: final(
    410,
    "failed_precondition",
    "The transaction can no longer land, but whether it has landed can no longer be said: it is too old for the nodes' history",
    "Check the wallet before building again",
  ),
  BODY_TOO_LARGE: final(
    413,
    "resource_exhausted",
    "The body is longer than `BODY_LIMIT_BYTES`",
    "Send less; no trade needs that much",
  ),
  HEADERS_TOO_LARGE: final(
    431,
    "resource_exhausted",
    "The head is longer than `HEADER_LIMIT_BYTES` or has more than 64 headers",
    "Send fewer or shorter headers",
  ),
  NO_ROUTE: final(
    422,
    "failed_precondition",
    "No market can make the trade now, or not in one transaction; `details.tried` says why, `details.transactionBytes`, `limitBytes` and `remedy` describe what does not fit. `details.lowerAmount` and `higherAmount`, of the exact side in base units, are amounts that a market takes, if the trade is too large for some and too small for the others. Or the wallet's own account of the token is frozen, belongs to another wallet, or has a Token-2022 setting that makes the trade fail. Or the wallet itself was assigned to a program, and can pay for nothing",
    "Try later or another amount, or trade through SOL or USDC in two steps; if `details.signature` is set, the transaction landed and traded nothing",
  ),
  INSUFFICIENT_LIQUIDITY: final(422, "failed_precondition", "Every market is too small for the amount", "Trade less"),
  INSUFFICIENT_SOL: final(
    422,
    "failed_precondition",
    "The wallet has too little SOL for the trade with its fees and rent",
    "Add SOL or trade less",
  ),
  INSUFFICIENT_TOKEN_BALANCE: final(
    422,
    "failed_precondition",
    "The wallet holds too few of the input tokens",
    "Trade less",
  ),
  UNSUPPORTED_TOKEN_EXTENSION: final(
    422,
    "failed_precondition",
    "The mint has a Token-2022 extension under which trades are impossible or cannot be exact",
    "Do not trade this mint here",
  ),
  PRICE_IMPACT_TOO_HIGH: final(
    422,
    "failed_precondition",
    "The trade would move the price by more than `maxPriceImpact`",
    "Trade less, or allow more",
  ),
  PRIORITY_COST_TOO_HIGH: final(
    422,
    "failed_precondition",
    "Priority would cost more than `maxPriorityCost`",
    "Choose a lower priority, or allow more",
  ),
  SLIPPAGE_EXCEEDED: final(
    422,
    "aborted",
    "Landed and failed: the price moved beyond `slippage`; only the network fees were paid",
    "Build again, with more slippage if it keeps happening",
  ),
  PROGRAM_ERROR: final(
    422,
    "aborted",
    "Landed and failed: a program rejected it; `details` has its name and error number, `account` if tokens had arrived there that a sale of 100 % was to close, `mint` if the wallet's account of it had been closed; only the network fees were paid",
    "Check `details`, then build again; sell by amount if tokens keep arriving",
  ),
  RATE_LIMIT_EXCEEDED: retryable(
    429,
    "resource_exhausted",
    "The key or the address has used up its limit",
    "Wait as long as `Retry-After` says",
  ),
  INTERNAL_ERROR: final(500, "internal", "A fault of the service", "Report the request id"),
  UPSTREAM_ERROR: retryable(503, "unavailable", "A Solana node or the database failed", "Try again shortly"),
  STATE_STALE: retryable(
    503,
    "unavailable",
    "The newest known state of the chain is too old to build on",
    "Wait as long as `Retry-After` says",
  ),
  VENUE_DEGRADED: retryable(
    503,
    "unavailable",
    "A venue's accounts are not as they should be",
    "Try again shortly; another venue may serve",
  ),
  OVERLOADED: retryable(503, "unavailable", "The service is overloaded", "Wait as long as `Retry-After` says"),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;
