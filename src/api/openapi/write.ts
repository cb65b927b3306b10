import { writeFileSync } from "node:fs";
import { generateOpenApi } from "./generate.ts";
import { OPENAPI_FILE } from "./read.ts";

// Run by `npm run generate`, after the code is generated.
writeFileSync(OPENAPI_FILE, generateOpenApi());
