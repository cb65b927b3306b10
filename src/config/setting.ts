/** One environment variable. */
export interface Setting<T> {
  readonly about: string;
  /** The unit of the value, or how it is written. */
  readonly unit: string;
  /** The accepted values, in words. */
  readonly bound: string;
  /** The value of an absent or empty variable, as it would be written. Undefined: there is none. */
  readonly fallback: string | undefined;
  /** Another name the variable may have. */
  readonly alias?: string;
  /** Undefined if the text is out of bounds. */
  parse(text: string): T | undefined;
}

/** A setting that always has a value. */
export interface SettingWithDefault<T> extends Setting<T> {
  readonly fallback: string;
}

/** The setting without its default: absent means undefined. */
export function optional<T>(setting: Setting<T>): Setting<T> & { readonly fallback: undefined } {
  return { ...setting, fallback: undefined };
}

/** Items separated by commas, each parsed alone. Undefined if any of them is wrong. */
export function parseList<T>(written: string, parse: (item: string) => T | undefined): readonly T[] | undefined {
  const items = written.split(",").map((item) => parse(item.trim()));
  return items.includes(undefined) ? undefined : Object.freeze(items as T[]);
}
