/** The text for each error code that a connection can fail with. */
const BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refused the connection",
  ECONNRESET: "reset the connection",
  EPIPE: "reset the connection",
  ENOTFOUND: "cannot be found: its name does not resolve",
  EAI_AGAIN: "cannot be found: the name server does not answer",
  EHOSTUNREACH: "cannot be reached: no route to the host",
  ENETUNREACH: "cannot be reached: no route to the network",
  ETIMEDOUT: "does not accept connections: timed out",
  ERR_STREAM_PREMATURE_CLOSE: "closed the connection",
  BAD_HTTP: "did not answer in HTTP/1.1",
};

const TLS_CODE = /^(?:CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|EPROTO)/;

/**
 * Describes how a call failed in transit, for the log: refused, unresolved, TLS, redirected, late. Never contains more of the URL than its
 * host.
 *
 * @param error what the call threw
 * @param timeoutMs how long the call was allowed to take
 */
export function describeConnectionFailure(error: unknown, timeoutMs: number): string {
  if (isNamed(error, "TimeoutError")) return `did not answer within ${timeoutMs} ms`;
  for (const cause of causesOf(error)) {
    const code = codeOf(cause);
    if (code === undefined) continue;
    if (TLS_CODE.test(code)) return `failed the TLS handshake (${code})`;
    return `${BY_CODE[code] ?? "failed the connection"} (${code})`;
  }
  if (causesOf(error).some((cause) => /redirect/i.test(messageOf(cause)))) return "redirected the call";
  return "failed the connection";
}

/** The error and what caused it, outermost first; of several attempts at a connection the first. */
function causesOf(error: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  for (let one = error; one !== undefined && one !== null && causes.length < 8; ) {
    causes.push(one);
    one = one instanceof AggregateError && codeOf(one) === undefined ? one.errors[0] : (one as Error).cause;
  }
  return causes;
}

function codeOf(error: unknown): string | undefined {
  const code = (error as NodeJS.ErrnoException).code;
  return typeof code === "string" ? code : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "";
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}
