import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { shownName } from "../../errors/shown-name.ts";
import { invalidField, TradewireError } from "../../errors/tradewire-error.ts";

/** The JSON of a request body. @throws TradewireError VALIDATION_ERROR */
export function parseBody(body: Buffer, request: IncomingMessage, query: object): unknown {
  requirePlain(request, query);
  return parseJson(body);
}

/**
 * Refuses a request whose body is anything but plain JSON by its headers, so that a page of another origin cannot send one unasked, and one
 * with a query.
 *
 * @throws TradewireError VALIDATION_ERROR
 */
export function requirePlain({ headers }: IncomingMessage, query: object): void {
  const type = headers["content-type"];
  if (type !== "application/json" && !/^application\/json *(;|$)/i.test(type ?? "")) {
    throw notJson();
  }
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw invalidField("Content-Encoding", "Send the request body uncompressed.");
  }
  refuseQuery(query);
}

/** The refusal of a request that is not JSON by its headers. */
function notJson(): TradewireError {
  return invalidField("Content-Type", "Send the request with the header Content-Type: application/json.");
}

/** Refuses a query string: an ignored field would look like one that was never sent. @throws TradewireError VALIDATION_ERROR */
export function refuseQuery(query: object): void {
  for (const name in query) {
    throw invalidField(name, `${name} cannot be sent in the query. Send request fields in the body or the path.`);
  }
}

/**
 * Parses the JSON of a request body. Duplicate names are refused: parsers differ in which value they keep, so the client may
 * have meant another amount.
 *
 * @throws TradewireError VALIDATION_ERROR naming the duplicate; also if the text is not JSON, or not UTF-8
 */
export function parseJson(body: Buffer): unknown {
  const text = body.toString("utf8");
  // The replacement character of invalid UTF-8: the binary form refuses such bytes too.
  if (text.includes(REPLACEMENT) && !isUtf8(body)) {
    throw new TradewireError("VALIDATION_ERROR", "The request body is not UTF-8.");
  }
  if (text.length > PLAIN_LENGTH) refuseExcess(text);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new TradewireError("VALIDATION_ERROR", "The request body is not valid JSON.");
  }
  // JSON.parse keeps one value per name, so a duplicate leaves fewer names in the result than in the text.
  const members = countMembers(json, 1);
  if (!Number.isNaN(members) && members !== countNames(text)) throw duplicateName(text);
  return json;
}

/** Deeper than any request. Beyond it nothing is counted: the decoder refuses such JSON by the name of its field. */
const MAX_DEPTH = 8;
/** Bodies up to this length are parsed quickly, whatever they hold. Characters. */
const PLAIN_LENGTH = 1024;
/** A parser takes longer for these than for anything else; no request has as many. */
const MOST_LEVELS = 64;
const MOST_VALUES = 256;
const REPLACEMENT = "\ufffd";
const QUOTE = '"';
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;

/** Refuses, before it is parsed, JSON that would take a millisecond to parse. @throws TradewireError VALIDATION_ERROR */
function refuseExcess(text: string): void {
  let levels = 0;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === QUOTE) {
      at = endOfString(text, at);
      if (at === -1) return; // Not JSON, as the parser soon finds.
    } else if (character === "[" || character === "{") {
      if (++levels > MOST_LEVELS) throw excess(`is nested deeper than ${MOST_LEVELS} levels`);
    } else if (character === "]" || character === "}") levels -= 1;
    else if (character === "," && ++values > MOST_VALUES) throw excess(`holds more than ${MOST_VALUES} values`);
  }
}

const excess = (what: string) => new TradewireError("VALIDATION_ERROR", `The request body ${what}.`);

/** Counts the names in valid JSON: its strings followed by a colon. Jumps from quote to quote. */
function countNames(text: string): number {
  let names = 0;
  for (let at = text.indexOf(QUOTE); at !== -1; ) {
    const end = endOfString(text, at);
    if (isName(text, end)) names += 1;
    at = text.indexOf(QUOTE, end + 1);
  }
  return names;
}

/** The position of the closing quote of the string that opens at `at`. */
function endOfString(text: string, at: number): number {
  let end = text.indexOf(QUOTE, at + 1);
  while (text.charCodeAt(end - 1) === BACKSLASH && isEscaped(text, end)) end = text.indexOf(QUOTE, end + 1);
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}

function isName(text: string, end: number): boolean {
  let after = end + 1;
  while (text.charCodeAt(after) <= SPACE) after += 1;
  return text.charCodeAt(after) === COLON;
}

/** NaN if nested deeper than MAX_DEPTH. */
function countMembers(json: unknown, depth: number): number {
  if (typeof json !== "object" || json === null) return 0;
  if (depth > MAX_DEPTH) return Number.NaN;
  let members = 0;
  if (Array.isArray(json)) {
    for (const item of json) members += countMembers(item, depth + 1);
    return members;
  }
  for (const name in json) {
    const value = (json as Readonly<Record<string, unknown>>)[name];
    members += 1;
    if (typeof value === "object") members += countMembers(value, depth + 1);
  }
  return members;
}

/** Finds the duplicate name. Slow, but the request is refused anyway. */
function duplicateName(text: string): TradewireError {
  const objects: Set<string>[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "{") objects.push(new Set());
    else if (character === "}") objects.pop();
    else if (character === QUOTE) {
      const end = endOfString(text, at);
      if (isName(text, end)) {
        const name = JSON.parse(text.slice(at, end + 1)) as string;
        if (objects.at(-1)!.has(name)) {
          const shown = shownName(name);
          return invalidField(shown, `${shown} is given twice. Give it once.`);
        }
        objects.at(-1)!.add(name);
      }
      at = end;
    }
  }
  return new TradewireError("VALIDATION_ERROR", "A name is given twice in the request body. Give it once.");
}
