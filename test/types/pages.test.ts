import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { ApiDocument } from "../../scripts/clients/client-model.ts";
import { goClient } from "../../scripts/clients/go-client.ts";
import { pythonClient } from "../../scripts/clients/python-client.ts";
import { errorsPage } from "../../scripts/errors-page.ts";
import { settingsPage } from "../../scripts/settings-page.ts";
import { venuesPage } from "../../scripts/venues-page.ts";
import { parseConfig } from "../../src/config/config.ts";
import { ERRORS } from "../../src/errors/error-codes.ts";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test("docs/settings.md is the table of settings, whole", () => {
  expect(read("docs/settings.md")).toBe(settingsPage());
  for (const name of Object.keys(parseConfig({}))) {
    const variable = name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
    expect(settingsPage()).toMatch(new RegExp(`^\\| \`${variable}\``, "m"));
  }
});

test("docs/errors.md is the table of codes, whole", () => {
  expect(read("docs/errors.md")).toBe(errorsPage());
  for (const [code, { http }] of Object.entries(ERRORS)) expect(errorsPage()).toContain(`| \`${code}\` | ${http} |`);
});

test("docs/venues.md has the tables of the venues' folders, whole", async () => {
  const page = read("docs/venues.md");
  expect(await venuesPage(page)).toBe(page);
});

test("README links both", () => {
  for (const page of ["settings", "errors"]) expect(read("README.md")).toContain(`(docs/${page}.md)`);
});

test("the clients in Go and Python have every call and type of the document", () => {
  const document: ApiDocument = JSON.parse(read("src/api/openapi/openapi.json"));
  expect(read("clients/go/api.go")).toBe(goClient(document));
  expect(read("clients/python/tradewire/api.py")).toBe(pythonClient(document));
});
