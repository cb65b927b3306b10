import type { ApiSettings } from "../../src/api/settings.ts";
import { apiSettings } from "../../src/app/api-settings.ts";
import { parseConfig } from "../../src/config/config.ts";

/** The default settings of the API. */
export const DEFAULT_API_SETTINGS: ApiSettings = apiSettings(parseConfig({}), {
  tls: undefined,
  publicUrl: () => "http://127.0.0.1:8080",
});
