/** What is known of a request from its bytes alone. */
export interface WholeRequest {
  readonly path: string;
  /** Its header lines, each with the line break before it. */
  readonly lines: string;
  /** The length of its body, as its header says. */
  readonly length: string;
}

/**
 * A line break, a name and a printable value each, 64 at most; what RFC 9112 leaves room for is for a real parser. No text matches it
 * in two ways: what fails does so in one pass.
 */
const HEAD = /^POST (\/[\w./-]*) HTTP\/1\.1((?:\r\n[\w-]+:[\t\x20-\x7e]*){1,64})$/;
/** Headers that change how long a request is, whether an answer may come now, or what becomes of the connection. */
const UNUSUAL =
  /\r\n(?:transfer-encoding|te|trailer|expect|upgrade|origin|http2-settings|proxy-connection|keep-alive|connection(?!: ?keep-alive(?:\r\n|$))):/i;
const LENGTH = /\r\ncontent-length: ?(\d{1,6})(?=\r\n|$)/i;
const ANY_LENGTH = /\r\ncontent-length/gi;
const HOST = /\r\nhost: ?[\w.:[\]-]+(?=\r\n|$)/i;
const ANY_HOST = /\r\nhost:/gi;

/**
 * Reads bytes that are exactly one complete HTTP/1.1 POST in the form that most clients send, body included.
 *
 * @param maxBytes of the whole request
 * @returns undefined for anything else: less, more, or a form in which there could be two opinions about where it ends
 */
export function readWholeRequest(bytes: Buffer, maxBytes: number): WholeRequest | undefined {
  if (bytes.length > maxBytes) return undefined;
  const text = bytes.toString("latin1");
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [, path, lines] = HEAD.exec(text.slice(0, end)) ?? [];
  if (path === undefined || lines === undefined || UNUSUAL.test(lines)) return undefined;
  const length = LENGTH.exec(lines)?.[1];
  if (length === undefined || text.length !== end + 4 + Number(length)) return undefined;
  const isPlain = lines.match(ANY_LENGTH)?.length === 1 && lines.match(ANY_HOST)?.length === 1 && HOST.test(lines);
  return isPlain ? { path, lines, length } : undefined;
}
