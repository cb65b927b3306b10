import { readFileSync } from "node:fs";

/** The committed OpenAPI document. */
export const OPENAPI_FILE = new URL("./openapi.json", import.meta.url);

/** Real answers by operation, recorded by `npm run generate`. */
export const ANSWERS_FILE = new URL("./answers.json", import.meta.url);

/** The OpenAPI document as it is served, with the public URL of this service. */
export function readOpenApi(publicUrl: string): string {
  return JSON.stringify({ ...JSON.parse(readFileSync(OPENAPI_FILE, "utf8")), servers: [{ url: publicUrl }] });
}
