import type { Steps } from "../../long-searches.ts";

/**
 * A search whose result several other searches need. The first of them begins it, and each continues it from where it paused: pauses, and
 * searches that begin anew, change neither the result nor the work.
 */
export class SharedSteps<T> {
  readonly #begin: () => Steps<T>;
  #steps: Steps<T> | undefined;
  #found: { readonly value: T } | undefined;

  constructor(begin: () => Steps<T>) {
    this.#begin = begin;
  }

  /** The result as far as it is known. */
  get found(): { readonly value: T } | undefined {
    return this.#found;
  }

  /** @throws what the search throws; it begins anew then */
  *result(): Steps<T> {
    for (;;) {
      if (this.#found !== undefined) return this.#found.value;
      if (this.#isPaused()) yield;
    }
  }

  /** Goes on with the search. @returns true if it pauses */
  #isPaused(): boolean {
    this.#steps ??= this.#begin();
    try {
      const { done, value } = this.#steps.next();
      if (done === true) this.#found = { value };
      return done !== true;
    } catch (error) {
      this.#steps = undefined;
      throw error;
    }
  }
}
