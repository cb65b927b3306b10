import { expect, it } from "vitest";
import { parseConfig } from "./config.ts";
import { describeSettings } from "./describe-settings.ts";

it("gives name, meaning, bound, unit and default of every setting", () => {
  const table = describeSettings();
  expect(table).toContain(
    "SUBMIT_TIMEOUT_MS\n    Longest time a submit takes to answer.\n    A whole number from 1000 to 29000 (ms). Default: 25000.",
  );
  expect(table).toContain("SOLANA_RPC_URLS, SOLANA_RPC_URL\n");
  for (const name of Object.keys(parseConfig({}))) {
    expect(table).toContain(name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase());
  }
});
