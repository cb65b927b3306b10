import { ERRORS, type ErrorCode } from "../src/errors/tradewire-error.ts";

/** What happened, and what whoever gets the code does about it. */
type Advice = readonly [meaning: string, remedy: string];

const ADVICE: Readonly<Record<ErrorCode, Advice>> = {
  VALIDATION_ERROR: ["A field is missing, misspelt, doubled or out of range; `field` names it", "Correct the request"],
  MESSAGE_MISMATCH: [
    "What was submitted is not the message that was built",
    "Sign the built bytes and change nothing else",
  ],
  INVALID_SIGNATURE: [
    "The wallet's signature does not fit the message",
    "Sign with the wallet that the API key is bound to",
  ],
  NOT_FULLY_SIGNED: ["The signature is still the empty one", "Sign the transaction, then submit it"],
  INVALID_SUBMISSION_TOKEN: [
    "The token was altered, belongs to another account, or is of other keys",
    "Send the token as it came with the build",
  ],
  AUTH_ERROR: [
    "The API key is missing, mistyped, unknown or revoked",
    "Send `Authorization: Bearer <API_KEY>`; register again where the key is lost",
  ],
  WALLET_MISMATCH: ["The build was made for another wallet than the key's", "Build with the same key that submits"],
  NOT_FOUND: ["There is nothing at this path, or no key of that id", "Look at the path, or at `/docs`"],
  TOKEN_NOT_FOUND: [
    "No token mint is at the address",
    "Look at the mint; one made a moment ago appears within a second or two",
  ],
  TRADE_NOT_FOUND: [
    "This account submitted no trade of that signature in the last 24 hours",
    "Look at the signature; ask the chain about older ones",
  ],
  METHOD_NOT_ALLOWED: ["The path takes other HTTP methods; `Allow` names them", "Use one of those"],
  REQUEST_TIMEOUT: [
    "The request did not arrive whole in time, and nothing was done; or a typed call's own deadline passed, and what it asked for may go on",
    "Send it again",
  ],
  CONFLICT_ERROR: [
    "What is to be made is there already, or the challenge was used",
    "Ask for what is there, or for a new challenge",
  ],
  TX_EXPIRED: ["Proven: the transaction is in no block and can no longer land", "Build again"],
  BODY_TOO_LARGE: ["The body is longer than `BODY_LIMIT_BYTES`", "Send less; no trade needs as much"],
  HEADERS_TOO_LARGE: [
    "The head is longer than `HEADER_LIMIT_BYTES`, or has more than 64 headers",
    "Send fewer or shorter headers",
  ],
  NO_ROUTE: [
    "No market can make the trade now, or none in one transaction; `details.tried` says why, `details.transactionBytes`, `limitBytes` and `remedy` what does not fit",
    "Try later or another amount, or trade by way of SOL or USDC in two steps; a landed one was not traded",
  ],
  INSUFFICIENT_LIQUIDITY: ["Every market is too small for the amount", "Trade less"],
  INSUFFICIENT_SOL: ["The wallet has too little SOL for the trade with its fees and rent", "Add SOL or trade less"],
  INSUFFICIENT_TOKEN_BALANCE: ["The wallet has too few of the tokens that go in", "Trade less"],
  UNSUPPORTED_TOKEN_EXTENSION: [
    "The mint has a Token-2022 extension under which trades cannot be exact or cannot be made",
    "Do not trade this mint here",
  ],
  PRICE_IMPACT_TOO_HIGH: ["The trade would move the price more than `maxPriceImpact`", "Trade less, or allow more"],
  PRIORITY_COST_TOO_HIGH: [
    "Priority would cost more than `maxPriorityCost`",
    "Ask for a lower priority, or allow more",
  ],
  SLIPPAGE_EXCEEDED: [
    "Landed and failed: the price moved beyond `slippage`; only the network fees were paid",
    "Build again, with more slippage if it lasts",
  ],
  PROGRAM_ERROR: [
    "Landed and failed: a program refused it; `details` has its name and number; only the network fees were paid",
    "Look at `details`, then build again",
  ],
  RATE_LIMIT_EXCEEDED: ["The key or the address has used up what it may", "Wait as `Retry-After` says"],
  INTERNAL_ERROR: ["A fault of the service", "Report the request id"],
  UPSTREAM_ERROR: ["A Solana node, or the database, did not do its part", "Try again shortly"],
  STATE_STALE: ["The newest known state of the chain is too old to build on", "Wait as `Retry-After` says"],
  VENUE_DEGRADED: ["A venue's accounts are not as they should be", "Try again shortly; another venue may serve"],
  OVERLOADED: ["The service has more to do than it can", "Wait as `Retry-After` says"],
};

const HEAD = `# Errors

<!-- Written by \`npm run generate\` from the table in src/errors/tradewire-error.ts. -->

Every failure has one of these codes, on every wire. REST answers \`{"success":false,"requestId":…,"error":{"code","message","retryable",…}}\` with the
HTTP status; typed clients get the Connect code (gRPC: the status of the same name) with a \`tradewire.v1.ErrorDetail\` that holds the same fields.
Programs go by \`code\`; \`message\` is for people and may change.

- \`retryable\`: the same call, unchanged, may succeed later. After \`retryAfterMs\` (REST: also \`Retry-After\`, in seconds) where that is given.
- \`safeToRebuild\`: on every failed submit. **true**: nothing of that transaction can land any more, so build anew if you still want the trade.
  **false**: it may be on its way, or may still be sent; submit the same bytes again, or ask for the trade by its signature, before you build another.
  It is true for \`TX_EXPIRED\` and for whatever landed and failed (\`details.signature\` and \`details.slot\` say where), whichever code that has; else false.
- \`field\`: the request field at fault, as REST names it.
- \`details\`: further facts, by name. Nothing of a node, a database or a file of the service is ever in them.

A submit that the chain has not decided within 25 seconds is no error: it answers 200 with \`"status":"pending"\`.
`;

/** The page \`docs/errors.md\`, from the one table of codes. */
export function errorsPage(): string {
  const lines = Object.entries(ERRORS).map(([code, { http, rpc, retryable }]) => {
    const [meaning, remedy] = ADVICE[code as ErrorCode];
    return `| \`${code}\` | ${http} | \`${rpc}\` | ${retryable ? "yes" : "no"} | ${meaning} | ${remedy} |`;
  });
  return [
    HEAD,
    "| code | HTTP | Connect | retryable | what it means | what to do |",
    "|---|---|---|---|---|---|",
    ...lines,
    "",
  ].join("\n");
}
