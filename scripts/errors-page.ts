import { ERRORS } from "../src/errors/error-codes.ts";

const HEAD = `# Errors

<!-- Written by \`npm run generate\` from the table in src/errors/error-codes.ts. -->

Every failure has one of these codes, on every wire. REST responds with \`{"success":false,"requestId":…,"error":{"code","message","retryable",…}}\` and the
HTTP status; typed clients get the Connect code (gRPC: the status of the same name) with a \`tradewire.v1.ErrorDetail\` that holds the same fields.
Programs should rely on \`code\`; \`message\` is for people and may change.

- \`retryable\`: the same call, unchanged, may succeed later; wait \`retryAfterMs\` (REST: also \`Retry-After\`, in seconds) if it is given.
- \`safeToRebuild\`: present on every failed submit. **true**: that transaction can no longer land, so build again if you still want the trade.
  **false**: it may be in flight or may still be sent; submit the same bytes again, or look the trade up by its signature, before you build another.
  With \`TX_EXPIRED\` or \`OUTCOME_UNKNOWN\`, **false** means that no node could rule out that it landed: check the wallet before you build another.
  It is true for every transaction that landed and failed (\`details.signature\` and \`details.slot\` locate it), whatever its code, and for \`TX_EXPIRED\` if the
  wallet's history lacks the message under any signature (\`details.scope\` is \`message\`, else \`submitted\`), and for \`CONFLICT_ERROR\`: what the transaction
  trades is then the trade of another build, and this build's order is still untraded. Otherwise it is false. A refusal that lacks it, because the head of
  the request could not be read, means false.
- \`details.finalized\`: of a transaction that landed and failed. **false**: its block is confirmed, with the votes of two thirds of the stake. Only a network
  that restarts from an older block undoes one; the transaction may then land in another block. To rule that out too, submit the same bytes again, or look
  the trade up, until it is **true**. That takes some seconds.
- \`field\`: the request field at fault, under its REST name.
- \`violations\`: every request field at fault, each with its message; the first of them is \`field\`.
- \`doc_url\`: where the code is explained, relative to the address of the service.
- \`details\`: further facts, by name. They never reveal anything about nodes, databases or files of the service.

On the typed wires a refusal has the form and the status of its protocol, even if it comes before the call. There, a content type that the path does not
read gets \`VALIDATION_ERROR\` with HTTP 415 in place of 400, as Connect and gRPC prescribe, in REST's form, because the request has none of theirs.

A submit that the chain has not decided within 25 seconds is not an error: it returns 200 with \`"status":"pending"\`, or with \`"processed"\` if
the transaction is in a block that may still be dropped, or in which it may have failed. Submit the same bytes again until it is neither.
`;

/** The page \`docs/errors.md\`, from the one table of codes. */
export function errorsPage(): string {
  const lines = Object.entries(ERRORS).map(
    ([code, { http, rpc, retryable, meaning, advice }]) =>
      `| \`${code}\` | ${http} | \`${rpc}\` | ${retryable ? "yes" : "no"} | ${meaning} | ${advice} |`,
  );
  return [
    HEAD,
    "| code | HTTP | Connect | retryable | what it means | what to do |",
    "|---|---|---|---|---|---|",
    ...lines,
    "",
  ].join("\n");
}
