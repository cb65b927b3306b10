import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { inHtml } from "./docs/html-text.ts";
import { withHeader } from "./page-header.ts";
import { PAGE_HEADERS } from "./page-headers.ts";

const PAGE = withHeader(readFileSync(new URL("unknown/unknown.html", import.meta.url), "utf8"), "");

/** The API, REST and typed, whose refusals have the form of their protocol, and what pages load. */
const NO_PAGE = /^\/(?:v\d+(?:\/|$)|assets(?:\/|$)|\w+(?:\.\w+)+\/)/;
/** Characters of a path that are shown. */
const MOST_SHOWN = 200;

export const UNKNOWN_PAGE_HEADERS = Object.freeze({
  ...PAGE_HEADERS,
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
});

/** True if somebody looks for a page: a browser accepts HTML, and the path is none of the API. */
export const asksForPage = ({ method, headers }: Pick<IncomingMessage, "method" | "headers">, path: string): boolean =>
  (method === "GET" || method === "HEAD") && /\btext\/html\b/i.test(headers.accept ?? "") && !NO_PAGE.test(path);

/** The page that says that there is nothing at a path. @param meant the path that was probably intended */
export function unknownPage(path: string, meant: string | undefined): string {
  const shown = path.length > MOST_SHOWN ? `${path.slice(0, MOST_SHOWN)}…` : path;
  const link = meant === undefined || NO_PAGE.test(meant) ? "" : ` Did you mean <a href="${meant}">${meant}</a>?`;
  return PAGE.replace("<!-- path -->", () => inHtml(shown)).replace("<!-- meant -->", () => link);
}
