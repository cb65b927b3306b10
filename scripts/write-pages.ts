import { readFileSync, writeFileSync } from "node:fs";
import { errorsPage } from "./errors-page.ts";
import { settingsPage } from "./settings-page.ts";
import { venuesPage } from "./venues-page.ts";

// Run by `npm run generate`.
writeFileSync(new URL("../docs/settings.md", import.meta.url), settingsPage());
writeFileSync(new URL("../docs/errors.md", import.meta.url), errorsPage());
const venuesUrl = new URL("../docs/venues.md", import.meta.url);
writeFileSync(venuesUrl, await venuesPage(readFileSync(venuesUrl, "utf8")));
