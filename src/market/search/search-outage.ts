import type { AccountReader } from "../../chain/port.ts";

/** A reader that notices outages, and warnings that come once in each. */
interface SearchOutage {
  readonly reader: AccountReader;
  readonly warn: (message: string) => void;
}

/**
 * An outage of the nodes fails every filter of every search: one line says so, and the next failure is logged only after a
 * search has succeeded.
 */
export function watchSearchOutages(reader: AccountReader, warn: (message: string) => void): SearchOutage {
  let isDown = false;
  let hasWarned = false;
  const noteAnswer = <T>(answer: T): T => {
    isDown = hasWarned = false;
    return answer;
  };
  const noteFailure = (error: unknown): never => {
    isDown = true;
    throw error;
  };
  return {
    reader: {
      fetchAccounts: (...asked) => reader.fetchAccounts(...asked),
      fetchProgramAccounts: (filter) => reader.fetchProgramAccounts(filter).then(noteAnswer, noteFailure),
    },
    warn(message) {
      if (isDown && hasWarned) return;
      hasWarned = isDown;
      warn(isDown ? `${message} Further failed searches are not logged until one succeeds.` : message);
    },
  };
}
