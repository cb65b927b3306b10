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
const NOWHERE: Span = { from: 0, to: 0 };
/** The values that these headers may have, behind the colon and a space at most. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
const LENGTH = /^(?:0|[1-9]\d{0,5})$/;
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
const ZERO = 0x30;
const LINE_BREAK = "\r\n";
const HEAD_END = "\r\n\r\n";
const END_OF_HEAD = Buffer.from(HEAD_END, "latin1");

/** The head of a request in plain form. Others may be read as this one if they differ in two values alone, of as many characters. */
interface PlainHead {
  readonly path: string;
  /** The empty line behind it included. */
  readonly bytes: Buffer;
  /** Where the length of the body stands. */
  readonly length: Span;
  /** Where the key stands: a client that trades for many wallets sends another with each request. Empty without one. */
  readonly key: Span;
  /** What stands before, between and behind these. */
  readonly fixed: readonly Span[];
  /** Its headers, if all of them are usual ones and none stands there twice. */
  readonly usual: UsualHeaders | undefined;
}

/** Places of a head. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** What is known of a request from its bytes alone. */
export class WholeRequest {
  /** Of its body, as its header says. Bytes. */
  readonly length: number;
  readonly #head: PlainHead;
  /** Undefined: as in the head that it was read as. */
  readonly #key: string | undefined;

  constructor(head: PlainHead, length: number, key?: string) {
    this.length = length;
    this.#head = head;
    this.#key = key;
  }

  get path(): string {
    return this.#head.path;
  }

  /** Bytes before its body. */
  get headBytes(): number {
    return this.#head.bytes.length;
  }

  /** Its header lines, each with the line break before it. */
  get lines(): string {
    const { bytes } = this.#head;
    return this.#bytes().toString("latin1", bytes.indexOf(LINE_BREAK), bytes.length - END_OF_HEAD.length);
  }

  /** Its headers as Node gives them; undefined if a name stands in it twice, which Node has rules for. */
  get headers(): IncomingHttpHeaders | undefined {
    const { usual } = this.#head;
    if (usual === undefined) return headersOf(this.lines);
    const headers = new UsualHeaders(usual);
    headers["content-length"] = `${this.length}`;
    if (this.#key !== undefined) headers.authorization = this.#key;
    return headers;
  }

  /** Its bytes. */
  withBody(body: Buffer): Buffer {
    return Buffer.concat([this.#bytes(), body]);
  }

  /** Those of its head. */
  #bytes(): Buffer {
    const { bytes, length, key } = this.#head;
    const own = Buffer.from(bytes);
    own.write(`${this.length}`, length.from, "latin1");
    if (this.#key !== undefined) own.write(this.#key, key.from, "latin1");
    return own;
  }

  /** The request that some bytes are, if their head may be read as this one's. */
  readAlike(bytes: Buffer, size: number): WholeRequest | undefined {
    const head = this.#head;
    if (size < head.bytes.length) return undefined;
    for (let at = 0; at < head.fixed.length; at++) if (!isAlike(bytes, head.bytes, head.fixed[at]!)) return undefined;
    const length = lengthIn(bytes, head.length);
    if (length === undefined || size !== head.bytes.length + length) return undefined;
    const { key } = head;
    if (isAlike(bytes, head.bytes, key)) return new WholeRequest(head, length);
    return isValue(bytes, key) ? new WholeRequest(head, length, bytes.toString("latin1", key.from, key.to)) : undefined;
  }
}

function isAlike(bytes: Buffer, others: Buffer, { from, to }: Span): boolean {
  for (let at = from; at < to; at++) if (bytes[at] !== others[at]) return false;
  return true;
}

/** A length of as many digits, none of them before it; undefined if there is none. */
function lengthIn(bytes: Buffer, { from, to }: Span): number | undefined {
  let length = 0;
  for (let at = from; at < to; at++) {
    const digit = bytes[at]! - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    length = length * 10 + digit;
  }
  return bytes[from] === ZERO && to - from > 1 ? undefined : length;
}

/** True of the value of a header, without blanks around it. */
function isValue(bytes: Buffer, { from, to }: Span): boolean {
  for (let at = from; at < to; at++) if (!isPrintable(bytes[at]!)) return false;
  return !isBlank(bytes[from]!) && !isBlank(bytes[to - 1]!);
}

/**
 * Reads bytes that are exactly one complete HTTP/1.1 POST in the form that most clients send, body included.
 *
 * @param bytes as many of them as `size` says; they may be overwritten later
 * @param maxBytes of the whole request
 * @param last an earlier request of the connection: most have the same head but for key and length, which is then not read again
 * @returns undefined for anything else: less, more, or a form whose end is ambiguous
 */
export function readWholeRequest(
  bytes: Buffer,
  size: number,
  maxBytes: number,
  last?: WholeRequest,
): WholeRequest | undefined {
  if (size > maxBytes) return undefined;
  const again = last?.readAlike(bytes, size);
  if (again !== undefined) return again;
  const end = bytes.subarray(0, size).indexOf(END_OF_HEAD);
  if (end === -1) return undefined;
  const request = readHead(bytes.toString("latin1", 0, end));
  return size === end + END_OF_HEAD.length + (request?.length ?? Number.NaN) ? request : undefined;
}

function readHead(head: string): WholeRequest | undefined {
  if (!HEAD.test(head)) return undefined;
  let from = head.indexOf(LINE_BREAK);
  const path = head.slice(METHOD.length, from - VERSION.length);
  let usual: UsualHeaders | undefined = new UsualHeaders();
  let host: string | undefined;
  let length: Span | undefined;
  let key: Span = NOWHERE;
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
    const span = valueIn(head, colon + 1, end);
    const value = head.slice(span.from, span.to);
    if (known === "host") {
      // Given twice, it would be ambiguous. So would a length.
      if (host !== undefined || !HOST.test(value) || !isBehindSpace(head, colon, end, value)) return undefined;
      host = value;
    } else if (known === "content-length") {
      if (length !== undefined || !LENGTH.test(value) || !isBehindSpace(head, colon, end, value)) return undefined;
      length = span;
    } else if (known === "connection" && !(KEEP_ALIVE.test(value) && isBehindSpace(head, colon, end, value)))
      return undefined;
    else if (known === "authorization") key = span;
    if (usual?.[known] !== undefined) usual = undefined;
    else if (usual !== undefined) usual[known] = value;
  }
  if (host === undefined || length === undefined) return undefined;
  // Of its own memory: its connection keeps it, and with it 64 KiB if Node shared them between buffers.
  const bytes = Buffer.alloc(head.length + HEAD_END.length, head + HEAD_END, "latin1");
  // Of headers that are given whole, those of another key would be the first one's.
  if (usual === undefined) key = NOWHERE;
  const fixed = between(bytes.length, [length, key]);
  return new WholeRequest({ path, bytes, length, key, fixed, usual }, Number(head.slice(length.from, length.to)));
}

/** What is left of a head beside some places. */
function between(size: number, spans: readonly Span[]): readonly Span[] {
  const sorted = [...spans].sort((a, b) => a.from - b.from);
  return [{ from: 0, to: 0 }, ...sorted].map(({ to: from }, at) => ({ from, to: sorted[at]?.from ?? size }));
}

/** The printable part of a header's value between two places. */
function valueIn(head: string, from: number, to: number): Span {
  let [start, end] = [from, to];
  while (start < end && isBlank(head.charCodeAt(start))) start++;
  while (end > start && isBlank(head.charCodeAt(end - 1))) end--;
  return { from: start, to: end };
}

/** True if nothing but the value stands between a colon and the end of its line, or one space before it. */
function isBehindSpace(head: string, colon: number, end: number, value: string): boolean {
  const before = end - value.length - (colon + 1);
  return before === 0 || (before === 1 && head.startsWith(" ", colon + 1));
}

const isPrintable = (code: number): boolean => code >= 0x20 && code <= 0x7e;
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
