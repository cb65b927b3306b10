import { invalidField, TradewireError } from "../../errors/tradewire-error.ts";

/**
 * The JSON of a request body, in which no object has a name twice: whoever reads it otherwise must not trade another amount.
 *
 * @throws TradewireError VALIDATION_ERROR, naming what is there twice; also for what is no JSON
 */
export function parseJson(body: Buffer): unknown {
  const text = body.toString("utf8");
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new TradewireError("VALIDATION_ERROR", "The request body is not valid JSON.");
  }
  // The parser keeps one of several values under one name, so there are fewer names in what it made than in the text.
  const members = countMembers(json, 1);
  if (!Number.isNaN(members) && members !== countNames(text)) throw doubled(text);
  return json;
}

/** Deeper than any request goes, so that whoever reads this JSON next refuses it, by the name of the field. */
const MAX_DEPTH = 8;
const QUOTE = '"';
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;

/** Names in valid JSON: its strings that a colon follows. From quote to quote, whatever is between them. */
function countNames(text: string): number {
  let names = 0;
  for (let at = text.indexOf(QUOTE); at !== -1; ) {
    const end = endOfString(text, at);
    if (isName(text, end)) names += 1;
    at = text.indexOf(QUOTE, end + 1);
  }
  return names;
}

/** Where the string that opens at `at` closes. */
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

/** NaN: nested deeper than that. */
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

/** What is there twice, found at leisure: the request is refused. */
function doubled(text: string): TradewireError {
  const objects: Set<string>[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "{") objects.push(new Set());
    else if (character === "}") objects.pop();
    else if (character === QUOTE) {
      const end = endOfString(text, at);
      if (isName(text, end)) {
        const name = JSON.parse(text.slice(at, end + 1)) as string;
        if (objects.at(-1)!.has(name)) return invalidField(name, `${name} is given twice: give it once.`);
        objects.at(-1)!.add(name);
      }
      at = end;
    }
  }
  return new TradewireError("VALIDATION_ERROR", "A name is given twice in the request body: give it once.");
}
