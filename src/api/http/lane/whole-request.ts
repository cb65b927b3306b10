import type { IncomingHttpHeaders } from "node:http";
import { UsualHeaders, usualNameAt } from "./usual-headers.ts";

/**
 * A start line, and header lines with printable values. What RFC 9112 leaves room for beyond this form is for a real parser. No text
 * matches it in two ways.
 */
const HEAD = /^POST \/[\w./-]* HTTP\/1\.1(?:\r\n[\w-]+:[\t\x20-\x7e]*)+$/;
const METHOD = "POST ";
const VERSION = " HTTP/1.1";
const MAX_FIELDS = 64;
/** The values that these headers may have, behind the colon and a space at most. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
const LENGTH = /^\d{1,6}$/;
const KEEP_ALIVE = /^keep-alive$/i;
/** Headers that change how long a request is, whether an answer may come now, or what becomes of the connection. */
const UNUSUAL: ReadonlySet<string> = new Set([
  "transfer-encoding",
  "te",
  "trailer",
  "expect",
  "upgrade",
  "origin",
  "http2-settings",
  "proxy-connection",
  "keep-alive",
]);
const LINE_BREAK = "\r\n";
const END_OF_HEAD = Buffer.from("\r\n\r\n", "latin1");

/** What is known of a request from its bytes alone. */
export class WholeRequest {
  /** Its bytes before the empty line. */
  readonly head: string;
  readonly path: string;
  /** The length of its body, as its header says. */
  readonly length: string;
  #usual: UsualHeaders | undefined;

  /** @param usual its headers, if all of them are usual ones and none stands there twice */
  constructor(head: string, path: string, length: string, usual: UsualHeaders | undefined) {
    this.head = head;
    this.path = path;
    this.length = length;
    this.#usual = usual;
  }

  /** Its header lines, each with the line break before it. */
  get lines(): string {
    return this.head.slice(this.head.indexOf(LINE_BREAK));
  }

  /** Its headers as Node gives them; undefined if a name stands in it twice, which Node has rules for. */
  get headers(): IncomingHttpHeaders | undefined {
    return this.#usual ?? headersOf(this.lines);
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
 * @returns undefined for anything else: less, more, or a form whose end is ambiguous
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
  if (!HEAD.test(head)) return undefined;
  let from = head.indexOf(LINE_BREAK);
  const path = head.slice(METHOD.length, from - VERSION.length);
  let usual: UsualHeaders | undefined = new UsualHeaders();
  let host: string | undefined;
  let length: string | undefined;
  for (let left = MAX_FIELDS; from !== -1; left--) {
    if (left === 0) return undefined;
    from += LINE_BREAK.length;
    const colon = head.indexOf(":", from);
    const nameAt = from;
    from = head.indexOf(LINE_BREAK, colon);
    const end = from === -1 ? head.length : from;
    const known = usualNameAt(head, nameAt, colon);
    if (known === undefined) {
      if (UNUSUAL.has(head.slice(nameAt, colon).toLowerCase())) return undefined;
      usual = undefined;
      continue;
    }
    const value = valueIn(head, colon + 1, end);
    if (known === "host") {
      // Given twice, it would be ambiguous. So would a length.
      if (host !== undefined || !HOST.test(value) || !isBehindSpace(head, colon, end, value)) return undefined;
      host = value;
    } else if (known === "content-length") {
      if (length !== undefined || !LENGTH.test(value) || !isBehindSpace(head, colon, end, value)) return undefined;
      length = value;
    } else if (known === "connection" && !(KEEP_ALIVE.test(value) && isBehindSpace(head, colon, end, value)))
      return undefined;
    if (usual?.[known] !== undefined) usual = undefined;
    else if (usual !== undefined) usual[known] = value;
  }
  return host === undefined || length === undefined ? undefined : new WholeRequest(head, path, length, usual);
}

/** The printable part of a header's value between two places. */
function valueIn(head: string, from: number, to: number): string {
  let [start, end] = [from, to];
  while (start < end && isBlank(head.charCodeAt(start))) start++;
  while (end > start && isBlank(head.charCodeAt(end - 1))) end--;
  return head.slice(start, end);
}

/** True if nothing but the value stands between a colon and the end of its line, or one space before it. */
function isBehindSpace(head: string, colon: number, end: number, value: string): boolean {
  const before = end - value.length - (colon + 1);
  return before === 0 || (before === 1 && head.startsWith(" ", colon + 1));
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;

function headersOf(lines: string): IncomingHttpHeaders | undefined {
  const headers = Object.create(null) as Record<string, string>;
  for (const line of lines.slice(LINE_BREAK.length).split(LINE_BREAK)) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    if (name in headers) return undefined;
    headers[name] = line.slice(colon + 1).trim();
  }
  return headers;
}
