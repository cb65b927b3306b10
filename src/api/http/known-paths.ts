interface KnownPath {
  readonly pattern: RegExp;
  /** Up to the last slash. */
  readonly parent: string;
  readonly isLiteral: boolean;
  readonly methods: Set<string>;
}

/** The paths that are served, and by which HTTP methods: asked only for what the router did not take. */
export class KnownPaths {
  readonly #paths = new Map<string, KnownPath>();

  /** @param url as routes write it, variables behind a colon */
  add(url: string, methods: readonly string[]): void {
    let known = this.#paths.get(url);
    if (known === undefined) {
      known = {
        pattern: new RegExp(`^${url.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(/:\w+/g, "[^/]+")}$`),
        parent: parentOf(url),
        isLiteral: !url.includes("/:"),
        methods: new Set(),
      };
      this.#paths.set(url, known);
    }
    for (const method of methods) known.methods.add(method);
  }

  /**
   * The methods a path takes in place of this one; none where there is nothing at the path. Where the last part may be
   * anything, and words stand beside it that do take the method, the path is one of those misspelt, and nothing.
   */
  methodsAt(path: string, method: string): readonly string[] {
    const known = [...this.#paths.values()].find(({ pattern }) => pattern.test(path));
    if (known === undefined) return [];
    const isMisspelt =
      !known.isLiteral &&
      [...this.#paths.values()].some(
        ({ isLiteral, parent, methods }) => isLiteral && parent === known.parent && methods.has(method),
      );
    return isMisspelt ? [] : [...known.methods].sort();
  }
}

const parentOf = (url: string): string => url.slice(0, url.lastIndexOf("/"));
