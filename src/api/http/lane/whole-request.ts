import type { IncomingHttpHeaders } from "node:http";

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
const HOST = /\r\nhost: ?(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?(?=\r\n|$)/i;
const ANY_HOST = /\r\nhost:/gi;
const END_OF_HEAD = Buffer.from("\r\n\r\n", "latin1");

/** What is known of a request from its bytes alone. */
export class WholeRequest {
  /** Its bytes before the empty line. */
  readonly head: string;
  readonly path: string;
  /** Its header lines, each with the line break before it. */
  readonly lines: string;
  /** The length of its body, as its header says. */
  readonly length: string;
  #headers: IncomingHttpHeaders | undefined;

  constructor(head: string, path: string, lines: string, length: string) {
    this.head = head;
    this.path = path;
    this.lines = lines;
    this.length = length;
  }

  /** Its headers as Node gives them; undefined if a name stands in it twice, which Node has rules for. */
  get headers(): IncomingHttpHeaders | undefined {
    this.#headers ??= headersOf(this.lines);
    return this.#headers;
  }

  /** The body that these bytes end with. */
  bodyIn(bytes: Buffer): Buffer {
    return bytes.subarray(this.head.length + END_OF_HEAD.length);
  }
}

/**
 * Reads bytes that are exactly one complete HTTP/1.1 POST in the form that most clients send, body included.
 *
 * @param maxBytes of the whole request
 * @param last an earlier request of the connection: most have the same head, which is then not read again
 * @returns undefined for anything else: less, more, or a form in which there could be two opinions about where it ends
 */
export function readWholeRequest(bytes: Buffer, maxBytes: number, last?: WholeRequest): WholeRequest | undefined {
  if (bytes.length > maxBytes) return undefined;
  const end = bytes.indexOf(END_OF_HEAD);
  if (end === -1) return undefined;
  const head = bytes.toString("latin1", 0, end);
  const request = last?.head === head ? last : readHead(head);
  const isWhole = request !== undefined && bytes.length === end + END_OF_HEAD.length + Number(request.length);
  return isWhole ? request : undefined;
}

function readHead(head: string): WholeRequest | undefined {
  const [, path, lines] = HEAD.exec(head) ?? [];
  if (path === undefined || lines === undefined || UNUSUAL.test(lines)) return undefined;
  const length = LENGTH.exec(lines)?.[1];
  if (length === undefined) return undefined;
  const isPlain = lines.match(ANY_LENGTH)?.length === 1 && lines.match(ANY_HOST)?.length === 1 && HOST.test(lines);
  return isPlain ? new WholeRequest(head, path, lines, length) : undefined;
}

function headersOf(lines: string): IncomingHttpHeaders | undefined {
  const headers = Object.create(null) as Record<string, string>;
  // A line break comes before the first.
  for (const line of lines.split("\r\n").slice(1)) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    if (name in headers) return undefined;
    headers[name] = line.slice(colon + 1).trim();
  }
  return headers;
}
