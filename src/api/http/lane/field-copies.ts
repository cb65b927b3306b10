import type { IncomingHttpHeaders } from "node:http2";

/** Names of more headers than these are not compared with one another: that would take too long. */
const FEW_HEADERS = 32;

/**
 * Joins the copies of a header that an HTTP/2 request has more than once, as `joinDuplicateHeaders` does on HTTP/1.1. Of headers
 * such as `authorization` Node keeps the first copy: a proxy in front may have judged the request by another.
 *
 * @param headers are changed
 * @param rawHeaders names and values in turn
 */
export function joinCopies(headers: IncomingHttpHeaders, rawHeaders: readonly string[]): void {
  if (!hasCopies(headers, rawHeaders)) return;
  const copies = new Map<string, string[]>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    const values = copies.get(name);
    if (values === undefined) copies.set(name, [rawHeaders[i + 1]!]);
    else values.push(rawHeaders[i + 1]!);
  }
  for (const [name, values] of copies) {
    if (values.length > 1 && headers[name] === values[0]) headers[name] = values.join(", ");
  }
}

/** Compares the names, which are in lower case: to list those of Node's object of them takes longer, and memory. */
function hasCopies(headers: IncomingHttpHeaders, rawHeaders: readonly string[]): boolean {
  const { length } = rawHeaders;
  if (length > 2 * FEW_HEADERS) return Object.keys(headers).length * 2 !== length;
  for (let i = 2; i < length; i += 2) {
    const name = rawHeaders[i];
    for (let before = 0; before < i; before += 2) if (rawHeaders[before] === name) return true;
  }
  return false;
}
