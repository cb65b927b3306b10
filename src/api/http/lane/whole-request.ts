import type { IncomingHttpHeaders } from "node:http";

/** What RFC 9112 leaves room for beyond these forms is for a real parser. No text matches one of them in two ways. */
const START = /^POST (\/[\w./-]*) HTTP\/1\.1$/;
/** A name and a printable value. */
const FIELD = /^[\w-]+:[\t\x20-\x7e]*$/;
const MAX_FIELDS = 64;
const HOST = /^host: ?(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
const LENGTH = /^content-length: ?(\d{1,6})$/i;
const KEEP_ALIVE = /^connection: ?keep-alive$/i;
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

/** One header as Node gives it: its name in lower case. */
interface Field {
  readonly name: string;
  readonly value: string;
}

/** What is known of a request from its bytes alone. */
export class WholeRequest {
  /** Its bytes before the empty line. */
  readonly head: string;
  readonly path: string;
  /** The length of its body, as its header says. */
  readonly length: string;
  readonly fields: readonly Field[];
  #headers: IncomingHttpHeaders | undefined;

  constructor(head: string, path: string, length: string, fields: readonly Field[]) {
    this.head = head;
    this.path = path;
    this.length = length;
    this.fields = fields;
  }

  /** Its header lines, each with the line break before it. */
  get lines(): string {
    return this.head.slice(this.head.indexOf(LINE_BREAK));
  }

  /** Its headers as Node gives them; undefined if a name stands in it twice, which Node has rules for. */
  get headers(): IncomingHttpHeaders | undefined {
    this.#headers ??= headersOf(this.fields);
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
  let from = head.indexOf(LINE_BREAK);
  const path = from === -1 ? undefined : START.exec(head.slice(0, from))?.[1];
  if (path === undefined) return undefined;
  const fields: Field[] = [];
  let host: string | undefined;
  let length: string | undefined;
  while (from !== -1) {
    const next = head.indexOf(LINE_BREAK, from + LINE_BREAK.length);
    const line = head.slice(from + LINE_BREAK.length, next === -1 ? undefined : next);
    from = next;
    const field = readField(line);
    if (field === undefined || fields.push(field) > MAX_FIELDS) return undefined;
    // Either of them twice would leave two opinions.
    if (field.name === "host") {
      if (host !== undefined) return undefined;
      host = field.value;
    } else if (field.name === "content-length") {
      if (length !== undefined) return undefined;
      length = field.value;
    }
  }
  return host === undefined || length === undefined ? undefined : new WholeRequest(head, path, length, fields);
}

/** Undefined for a header that is unusual, or in an unusual form. */
function readField(line: string): Field | undefined {
  if (!FIELD.test(line)) return undefined;
  const colon = line.indexOf(":");
  const name = line.slice(0, colon).toLowerCase();
  if (UNUSUAL.has(name)) return undefined;
  if (name === "host" && !HOST.test(line)) return undefined;
  if (name === "content-length" && !LENGTH.test(line)) return undefined;
  if (name === "connection" && !KEEP_ALIVE.test(line)) return undefined;
  return { name, value: line.slice(colon + 1).trim() };
}

function headersOf(fields: readonly Field[]): IncomingHttpHeaders | undefined {
  const headers = Object.create(null) as Record<string, string>;
  for (const { name, value } of fields) {
    if (name in headers) return undefined;
    headers[name] = value;
  }
  return headers;
}
