import { closest } from "../../errors/closest.ts";

/** A route of the router. Its methods are read when asked for, because hooks may still change them. */
interface KnownRoute {
  /** With variables behind a colon. */
  readonly url: string;
  readonly method: string | readonly string[];
}

interface KnownPath {
  readonly pattern: RegExp;
  /** Up to the last slash. */
  readonly parent: string;
  readonly isLiteral: boolean;
  readonly routes: KnownRoute[];
}

/** The served paths with their HTTP methods. Asked only for requests that no route matches. */
export class KnownPaths {
  readonly #paths = new Map<string, KnownPath>();

  /** Adds a route. */
  add(route: KnownRoute): void {
    const { url } = route;
    let known = this.#paths.get(url);
    if (known === undefined) {
      known = {
        pattern: new RegExp(`^${url.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(/:\w+/g, "[^/]+")}$`),
        parent: parentOf(url),
        isLiteral: !url.includes("/:"),
        routes: [],
      };
      this.#paths.set(url, known);
    }
    known.routes.push(route);
  }

  /** The path that was probably intended; undefined if none is close. */
  meant(path: string): string | undefined {
    const urls = [...this.#paths.values()]
      .filter(({ isLiteral }) => isLiteral)
      .flatMap(({ routes: [route] }) => route!.url);
    const served = urls.filter((url) => !url.includes("*"));
    return path.length > 1 && path.length < 64
      ? (served.find((url) => url === `/v1${path}`) ?? closest(path, served))
      : undefined;
  }

  /**
   * The methods that a path accepts instead of this one; none if nothing is there. A path that matches only by its variable
   * counts as a misspelt word, and as nothing, if words beside it accept the method.
   */
  methodsAt(path: string, method: string): readonly string[] {
    const known = [...this.#paths.values()].find(({ pattern }) => pattern.test(path));
    if (known === undefined) return [];
    const isMisspelt =
      !known.isLiteral &&
      [...this.#paths.values()].some(
        (other) => other.isLiteral && other.parent === known.parent && methodsOf(other).has(method),
      );
    return isMisspelt ? [] : [...methodsOf(known)].sort();
  }
}

const methodsOf = ({ routes }: KnownPath): Set<string> => new Set(routes.flatMap(({ method }) => method));

const parentOf = (url: string): string => url.slice(0, url.lastIndexOf("/"));
