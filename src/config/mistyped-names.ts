import { closest } from "../errors/closest.ts";
import type { Environment } from "./config.ts";
import { SETTING_SECTIONS } from "./settings.ts";

/** Shorter names are too like those of other programs, such as PATH and PORT. */
const SHORTEST = 8;

/** A line for each environment variable that is probably a setting with a mistyped name. Variables of others are many: it stops nothing. */
export function mistypedNames(env: Environment): readonly string[] {
  const known = SETTING_SECTIONS.flatMap(({ settings }) =>
    Object.entries(settings).flatMap(([name, { alias }]) => (alias === undefined ? [name] : [name, alias])),
  );
  const isKnown = new Set(known);
  return Object.keys(env)
    .filter((name) => name.length >= SHORTEST && name.includes("_") && !isKnown.has(name))
    .flatMap((name) => {
      const meant = closest(name, known);
      return meant === undefined ? [] : [`${name} is not a setting. Did you mean ${meant}?`];
    });
}
