import { readFileSync } from "node:fs";
import type { ServiceStatus } from "../observe/service-status.ts";
import { loadBrowserModules } from "./browser-modules.ts";
import { changelog } from "./docs/changelog.ts";
import { errorRows } from "./docs/error-rows.ts";
import type { Documents } from "./documents.ts";
import { withHeader } from "./page-header.ts";
import { PAGE_HEADERS } from "./page-headers.ts";
import { SharedDocument } from "./shared-document.ts";

const TYPES = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
} as const;

const PAGES: Readonly<Record<string, string>> = {
  "/": "home/home.html",
  "/docs": "docs/docs.html",
  "/changelog": "docs/changelog.html",
  "/register": "account/register.html",
  "/history": "account/history.html",
  "/trade": "trade/trade.html",
};

/** What pages load, served below `/assets/` as it lies here: an import means the same file in both. */
const ASSETS = [
  "account/history.js",
  "account/register.js",
  "docs/docs.css",
  "docs/docs.js",
  "docs/examples.js",
  "docs/fields.js",
  "docs/samples.js",
  "docs/search.js",
  "docs/throwaway.js",
  "docs/try-it.js",
  "home/charts.js",
  "home/figures.js",
  "home/home.css",
  "home/home.js",
  "home/venues.js",
  "shared/amounts.js",
  "shared/challenge.js",
  "shared/curl.js",
  "shared/icon.svg",
  "shared/page.js",
  "shared/sign-in.js",
  "shared/style.css",
  "shared/throwaway-wallet.js",
  "shared/tabs.js",
  "shared/tokens.js",
  "shared/wallets.js",
  "trade/notices.js",
  "trade/order-form.js",
  "trade/pending-trade.js",
  "trade/quote-stream.js",
  "trade/quote-view.js",
  "trade/slippage-field.js",
  "trade/timeline.js",
  "trade/trade-progress.js",
  "trade/trade-proof.js",
  "trade/trade.css",
  "trade/trade.js",
  "trade/wallet-card.js",
];

const FILES = [...Object.entries(PAGES), ...ASSETS.map((file) => [`/assets/${file}`, file] as const)];

/** How long a status is reused: anyone may ask for it, at any rate. Milliseconds. */
const STATUS_LIFE_MS = 200;

/**
 * Serves the pages at `/`, `/trade`, `/history`, `/docs` and `/register`, and the live status they show.
 *
 * @param nowMs a monotonic clock
 */
export function registerPages(documents: Documents, status: () => ServiceStatus, nowMs: () => number): void {
  for (const [path, file] of FILES) {
    const headers = { ...PAGE_HEADERS, "content-type": TYPES[file.split(".").at(-1) as keyof typeof TYPES] };
    const text = readFileSync(new URL(file, import.meta.url), "utf8");
    const page = new SharedDocument(Buffer.from(fill(text, path)), headers);
    documents.serve(path, () => page);
  }
  for (const path of Object.keys(PAGES)) if (path !== "/") documents.redirectSlash(path);
  registerModules(documents);
  let known: { readonly text: string; readonly untilMs: number } | undefined;
  documents.serveLive("/status.json", (reply) => {
    const atMs = nowMs();
    if (known === undefined || atMs > known.untilMs) {
      known = { text: JSON.stringify(status()), untilMs: atMs + STATUS_LIFE_MS };
    }
    reply
      .header("content-type", "application/json; charset=utf-8")
      .header("x-content-type-options", "nosniff")
      .header("cache-control", "no-store");
    reply.send(known.text);
  });
}

/** Puts in what a page takes from elsewhere. */
function fill(text: string, path: string): string {
  return withHeader(text, path)
    .replace("<!-- errors -->", () => errorRows())
    .replace("<!-- changelog -->", () => changelog());
}

/** Where pages import the client library from. */
const MODULES = "/assets/modules/";

/** Serves the modules of the client library; they are made on the first request, and again after a failure. */
function registerModules(documents: Documents): void {
  let loading: Promise<ReadonlyMap<string, SharedDocument>> | undefined;
  documents.serveLater(`${MODULES}*`, async (path) => {
    loading ??= loadBrowserModules(MODULES).then((modules) => {
      const headers = { ...PAGE_HEADERS, "content-type": TYPES.js };
      return new Map(Array.from(modules, ([name, text]) => [name, new SharedDocument(Buffer.from(text), headers)]));
    });
    try {
      return (await loading).get(path);
    } catch (error) {
      loading = undefined;
      throw error;
    }
  });
}
