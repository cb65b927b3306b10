import type { IncomingHttpHeaders } from "node:http2";

/**
 * Joins the copies of a header that an HTTP/2 request has more than once, as `joinDuplicateHeaders` does on HTTP/1.1. Of headers
 * such as `authorization` Node keeps the first copy: a proxy in front may have judged the request by another.
 *
 * @param headers are changed
 * @param rawHeaders names and values in turn
 */
export function joinCopies(headers: IncomingHttpHeaders, rawHeaders: readonly string[]): void {
  if (Object.keys(headers).length * 2 === rawHeaders.length) return;
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
