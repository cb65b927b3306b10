import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, it } from "vitest";
import { CUT_LOG_BYTES, type NodeConditions, runConditionScript } from "./condition-scripts.ts";
import type { CheckResult, NodeUrls } from "./node-calls.ts";
import { runNodeScript } from "./node-script.ts";
import { report } from "./table.ts";
import { findValidator, startValidator, validatorVersion } from "./validator.ts";
import { writeValidatorWorld } from "./validator-world.ts";

const program = findValidator();
if (program === undefined)
  console.warn("No solana-test-validator: set SOLANA_TEST_VALIDATOR to one, or put it on PATH. Nothing is run there.");

const PART = "script";
const LEAST_CHECKS = 120;
const TXV1_FEATURE = "txv1aq4pp281K9um3tnPgkfX8UqtFT6wcVW3hNezGLL";

describe.skipIf(program === undefined)("a real validator", () => {
  const folder = mkdtempSync(join(tmpdir(), "tradewire-validator-"));
  const { world, arguments: made } = writeValidatorWorld(folder);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const check = async (
    name: string,
    more: readonly string[],
    conditions: NodeConditions,
    run: (node: NodeUrls) => Promise<readonly CheckResult[]> = async () => [],
  ) => {
    const ledger = mkdtempSync(join(folder, "ledgers-"));
    const validator = await startValidator(program!, ledger, [...made, ...more]);
    try {
      const pool = world.accounts.find(({ data }) => data.length === 637)!;
      const mayLeaveOutSlots = more.includes("--alpenglow");
      const node = { ...validator, program: pool.owner.toString(), account: pool.address.toString(), mayLeaveOutSlots };
      const results = [...(await run(node)), ...(await runConditionScript(node, conditions))];
      const faults = results.flatMap((one) => (one.fault === undefined ? [] : [`${one.name}: ${one.fault}`]));
      report(PART, name, `${results.length} checks`, faults);
      return results.length;
    } finally {
      await validator.close();
    }
  };

  it("answers the script that the embedded chain answers", async () => {
    const whole = { hasVersion1: true, cutsLogs: false };
    const count = await check(validatorVersion(program!), [], whole, runNodeScript);
    report(PART, "size of the script", `${count} checks`, count >= LEAST_CHECKS ? [] : ["too few"]);
  });

  it("answers it on Alpenglow", async () => {
    await check("Alpenglow", ["--alpenglow"], { hasVersion1: true, cutsLogs: false }, runNodeScript);
  });

  it("drops version 1 without its feature, and cuts logs if asked to", async () => {
    const settings = ["--deactivate-feature", TXV1_FEATURE, "--log-messages-bytes-limit", `${CUT_LOG_BYTES}`];
    await check("version 1 off, logs cut", settings, { hasVersion1: false, cutsLogs: true });
  });
});
