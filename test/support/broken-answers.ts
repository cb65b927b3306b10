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
