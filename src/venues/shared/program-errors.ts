import type { ListedError, ProgramErrors } from "../venue.ts";

/** A venue's table of program errors, indexed by name and by number. */
export function programErrors(listed: readonly ListedError[]): ProgramErrors {
  return {
    listed,
    byName: new Map(listed.flatMap(([, name, code]) => (name === null ? [] : [[name, code]]))),
    byNumber: new Map(listed.flatMap(([number, , code]) => (number === null ? [] : [[number, code]]))),
  };
}
