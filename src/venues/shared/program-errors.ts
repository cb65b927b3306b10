import type { ListedError, ProgramErrorCode, ProgramErrors } from "../venue.ts";

/** A venue's table of program errors, indexed by name and by number. @param panic what it means that the program panics, if that is known */
export function programErrors(listed: readonly ListedError[], panic?: ProgramErrorCode): ProgramErrors {
  return {
    listed,
    ...(panic === undefined ? {} : { panic }),
    byName: new Map(listed.flatMap(([, name, code]) => (name === null ? [] : [[name, code]]))),
    byNumber: new Map(listed.flatMap(([number, , code]) => (number === null ? [] : [[number, code]]))),
  };
}
