import type { ChangedReply } from "../slow/faults/rpc-proxy.ts";

type Json = null | boolean | number | string | readonly Json[] | { readonly [field: string]: Json };

/** Ways to break a value so that no honest node says it; undefined: the value is left out. */
const BREAKS: Readonly<Record<string, (value: Json) => Json | undefined>> = {
  "left out": () => undefined,
  null: () => null,
  "of another type": (value) => (typeof value === "string" ? 7 : "seven"),
  "an object": () => ({}),
  "an empty list": () => [],
  negative: (value) => (typeof value === "number" ? -value - 1 : "-1"),
  "not whole": (value) => (typeof value === "number" ? value + 0.5 : 0.5),
  "in digits": (value) => (typeof value === "number" ? String(value) : true),
};
/** The same, for lists. */
const LIST_BREAKS: Readonly<Record<string, (value: readonly Json[]) => Json>> = {
  shorter: (value) => value.slice(0, -1),
  longer: (value) => [...value, value.at(-1) ?? null],
  "of nulls": (value) => value.map(() => null),
};
type Envelope = Readonly<Record<string, unknown>>;

/** Each envelope in a text, which holds one or a list of them. */
const each = (change: (envelope: Envelope) => unknown) => (text: string) => {
  const parsed = JSON.parse(text) as Envelope | readonly Envelope[];
  return { body: JSON.stringify(Array.isArray(parsed) ? parsed.map(change) : change(parsed as Envelope)) };
};
const ofList = (change: (envelopes: readonly Envelope[]) => unknown) => (text: string) => {
  const parsed = JSON.parse(text) as Envelope | readonly Envelope[];
  return { body: JSON.stringify(Array.isArray(parsed) ? change(parsed) : parsed) };
};
const failing = (error: unknown) => each(({ id }) => ({ jsonrpc: "2.0", id, error }));
const always = (reply: ChangedReply) => () => reply;

/** Ways to break what carries an answer. A list of calls is answered in any order. */
export const BROKEN_REPLIES: Readonly<Record<string, (text: string) => ChangedReply>> = {
  "an error without a message": failing({ code: -32000 }),
  "an error that is a text": failing("no"),
  "an error with a code in digits": failing({ code: "-32602", message: "x" }),
  "an error with a huge code": failing({ code: 1e30, message: 7, data: [[[]]] }),
  "invalid params": failing({ code: -32602, message: "Invalid params" }),
  "an internal error": failing({ code: -32603, message: "Internal error" }),
  "a failed preflight": failing({
    code: -32002,
    message: "Transaction simulation failed",
    data: { err: "AccountNotFound" },
  }),
  "a bad signature": failing({ code: -32003, message: "Transaction signature verification failure" }),
  "a node behind": failing({ code: -32005, message: "Node is behind by 1 slots", data: { numSlotsBehind: 1 } }),
  "a result and an error": each((envelope) => ({ ...envelope, error: { code: -32005, message: "behind" } })),
  "neither result nor error": each(({ id }) => ({ jsonrpc: "2.0", id })),
  "both null": each(({ id }) => ({ jsonrpc: "2.0", id, error: null, result: null })),
  "an id in digits": each((envelope) => ({ ...envelope, id: String(envelope.id) })),
  "no id": each(({ id: _, ...envelope }) => envelope),
  "an empty object": each(() => ({})),
  "a list without its last": ofList((envelopes) => envelopes.slice(0, -1)),
  "a doubled list": ofList((envelopes) => [...envelopes, ...envelopes]),
  "a reversed list": ofList((envelopes) => envelopes.toReversed()),
  "a list of nulls": ofList((envelopes) => envelopes.map(() => null)),
  "a list for one, one for a list": (text) => ({ body: text.startsWith("[") ? text.slice(1, -1) : `[${text}]` }),
  null: always({ body: "null" }),
  nothing: always({ body: "" }),
  HTML: always({ body: "<html>", headers: { "content-type": "text/html" } }),
  "two texts": (text) => ({ body: text + text }),
  "deep lists": always({ body: "[".repeat(3_000) + "]".repeat(3_000) }),
  "bytes that are no text": always({ body: Uint8Array.of(0xff, 0xfe, 0x7b) }),
  "status 204": always({ status: 204, body: "" }),
  "status 301": always({ status: 301, body: "", headers: { location: "http://127.0.0.1:1/" } }),
  "status 401": always({ status: 401, body: "{}" }),
  "status 404": always({ status: 404, body: "no" }),
  "status 413": always({ status: 413, body: "" }),
  "status 429": always({ status: 429, body: "" }),
  "status 500 with the answer": (text) => ({ status: 500, body: text }),
  "an unknown coding": (text) => ({ body: text, headers: { "content-encoding": "br" } }),
};
/** Entries of a list whose fields are looked at. */
const ENTRIES = 3;
/** In a place: every entry of a list. */
const EACH = "*";

/** A way to break the answers to one method. */
export interface Breakage {
  readonly method: string;
  /** Names of fields, from the result inwards. */
  readonly place: readonly string[];
  readonly how: string;
}

/** Notes the places in a node's answers and notices, and can break them. For `Faults.mutator`. */
export class AnswerBreaker {
  readonly changesNotices = true;
  /** By method, its places and whether a list was seen there. */
  readonly #places = new Map<string, Map<string, boolean>>();
  #breakage: Breakage | undefined;

  /** Breaks answers in this way from now on; undefined: in none. */
  set(breakage: Breakage | undefined): void {
    this.#breakage = breakage;
  }

  /** The methods that were answered until now. */
  methods(): readonly string[] {
    return [...this.#places.keys()].filter((method) => !method.endsWith("Notification"));
  }

  /** Every way to break what was answered until now. */
  all(): readonly Breakage[] {
    return [...this.#places].flatMap(([method, places]) =>
      [...places].flatMap(([place, isList]) =>
        [...Object.keys(BREAKS), ...(isList ? Object.keys(LIST_BREAKS) : [])].map((how) => ({
          method,
          place: JSON.parse(place) as string[],
          how,
        })),
      ),
    );
  }

  mutate(method: string, result: unknown): unknown {
    const breakage = this.#breakage;
    if (breakage === undefined) {
      const places = this.#places.get(method) ?? new Map<string, boolean>();
      this.#places.set(method, places);
      notePlaces(result as Json, [], places);
      return result;
    }
    if (breakage.method !== method) return result;
    return brokenAt(result as Json, breakage.place, breakage.how) ?? null;
  }
}

function notePlaces(value: Json, place: readonly string[], places: Map<string, boolean>): void {
  const key = JSON.stringify(place);
  places.set(key, places.get(key) === true || Array.isArray(value));
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) for (const entry of value.slice(0, ENTRIES)) notePlaces(entry, [...place, EACH], places);
  else for (const [field, held] of Object.entries(value)) notePlaces(held, [...place, field], places);
}

function brokenAt(value: Json, [field, ...inner]: readonly string[], how: string): Json | undefined {
  if (field === undefined) {
    const onList = LIST_BREAKS[how];
    if (onList === undefined) return BREAKS[how]!(value);
    return Array.isArray(value) ? onList(value) : value;
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return field === EACH ? value.map((entry) => brokenAt(entry, inner, how) ?? null) : value;
  const held = (value as Readonly<Record<string, Json>>)[field];
  if (held === undefined) return value;
  const broken = brokenAt(held, inner, how);
  const { [field]: _, ...others } = value as Readonly<Record<string, Json>>;
  return broken === undefined ? others : { ...others, [field]: broken };
}
