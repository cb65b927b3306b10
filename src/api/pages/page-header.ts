import { readFileSync } from "node:fs";

const HEADER = readFileSync(new URL("shared/header.html", import.meta.url), "utf8").trimEnd();

/** Puts the header that all pages share into a page. Its link to that page's own path is marked. */
export const withHeader = (text: string, path: string): string =>
  text.replace("<!-- header -->", () => HEADER.replace(`href="${path}"`, (link) => `${link} aria-current="page"`));
