import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runNodeScript } from "./node-script.ts";
import { findValidator, startValidator, validatorVersion } from "./validator.ts";
import { writeValidatorWorld } from "./validator-world.ts";

const program = findValidator();
if (program === undefined)
  console.warn("No solana-test-validator: set SOLANA_TEST_VALIDATOR to one, or put it on PATH. Nothing is run.");

describe.skipIf(program === undefined)("a real validator", () => {
  const folder = mkdtempSync(join(tmpdir(), "tradewire-validator-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("answers the script that the embedded chain answers", async () => {
    console.log(validatorVersion(program!));
    const { world, arguments: made } = writeValidatorWorld(folder);
    const validator = await startValidator(program!, folder, made);
    try {
      const pool = world.accounts.find(({ data }) => data.length === 637)!;
      const results = await runNodeScript({
        ...validator,
        program: pool.owner.toString(),
        account: pool.address.toString(),
      });
      expect(results.filter(({ fault }) => fault !== undefined)).toEqual([]);
      expect(results.length).toBeGreaterThanOrEqual(120);
    } finally {
      await validator.close();
    }
  });
});
