import { writeFileSync } from "node:fs";
import { errorsPage } from "./errors-page.ts";
import { settingsPage } from "./settings-page.ts";

// Run by `npm run generate`.
writeFileSync(new URL("../docs/settings.md", import.meta.url), settingsPage());
writeFileSync(new URL("../docs/errors.md", import.meta.url), errorsPage());
