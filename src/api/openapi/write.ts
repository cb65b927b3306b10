import { writeFileSync } from "node:fs";
import { generateOpenApi } from "./generate.ts";
import { OPENAPI_FILE } from "./read.ts";

// Part of `npm run generate`; runs after the code is generated.
writeFileSync(OPENAPI_FILE, generateOpenApi());
