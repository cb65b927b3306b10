import { readFileSync, writeFileSync } from "node:fs";
import type { ApiDocument } from "./clients/client-model.ts";
import { goClient } from "./clients/go-client.ts";
import { pythonClient } from "./clients/python-client.ts";

// Run by `npm run generate`, after the OpenAPI document is written.
const at = (path: string) => new URL(`../${path}`, import.meta.url);
const document: ApiDocument = JSON.parse(readFileSync(at("src/api/openapi/openapi.json"), "utf8"));
writeFileSync(at("clients/go/api.go"), goClient(document));
writeFileSync(at("clients/python/tradewire/api.py"), pythonClient(document));
