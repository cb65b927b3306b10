import { readFileSync } from "node:fs";

export const OPENAPI_FILE = new URL("./openapi.json", import.meta.url);

/** The OpenAPI document as callers get it, naming where this service is reached. */
export function readOpenApi(publicUrl: string): string {
  return JSON.stringify({ ...JSON.parse(readFileSync(OPENAPI_FILE, "utf8")), servers: [{ url: publicUrl }] });
}
