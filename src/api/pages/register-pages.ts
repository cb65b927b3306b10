import { readFileSync } from "node:fs";
import type { ServiceStatus } from "../observe/service-status.ts";
import type { Documents } from "./documents.ts";
import { SharedDocument } from "./shared-document.ts";

const TYPES = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
} as const;

const FILES: Readonly<Record<string, string>> = {
  "/": "home.html",
  "/docs": "docs.html",
  "/register": "register.html",
  "/assets/style.css": "style.css",
  "/assets/icon.svg": "icon.svg",
  "/assets/page.js": "page.js",
  "/assets/home.js": "home.js",
  "/assets/docs.js": "docs.js",
  "/assets/register.js": "register.js",
  "/assets/wallets.js": "wallets.js",
  "/assets/challenge.js": "challenge.js",
};

/** Pages load nothing from other hosts, run no inline code and cannot be framed. Wallet icons are data URLs. */
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=()",
  "cache-control": "no-cache",
} as const;

/** How long a status is reused: anyone may ask for it, at any rate. Milliseconds. */
const STATUS_LIFE_MS = 200;

/**
 * Serves the pages at `/`, `/docs` and `/register`, and the live status they show.
 *
 * @param nowMs a monotonic clock
 */
export function registerPages(documents: Documents, status: () => ServiceStatus, nowMs: () => number): void {
  for (const [path, file] of Object.entries(FILES)) {
    const headers = { ...HEADERS, "content-type": TYPES[file.split(".").at(-1) as keyof typeof TYPES] };
    const page = new SharedDocument(readFileSync(new URL(file, import.meta.url)), headers);
    documents.serve(path, () => page);
  }
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
