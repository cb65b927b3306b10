import { expect, test } from "vitest";
import { DEFAULT_API_SETTINGS } from "../../../test/support/api-settings.ts";
import { createHttp1 } from "./http-servers.ts";

test("the head of a request has no longer than the whole request", () => {
  const settings = { ...DEFAULT_API_SETTINGS, headersTimeoutMs: 5_000, requestTimeoutMs: 3_000 };
  const { headersTimeout, requestTimeout } = createHttp1(
    settings,
    () => {},
    () => "req_1",
    () => [],
  );
  expect({ headersTimeout, requestTimeout }).toEqual({ headersTimeout: 3_000, requestTimeout: 3_000 });
});
