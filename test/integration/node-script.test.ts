import { afterAll, beforeAll, expect, it } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { runNodeScript } from "../slow/validator/node-script.ts";

let sandbox: Awaited<ReturnType<typeof startSandbox>>;
beforeAll(async () => {
  sandbox = await startSandbox({ slotMs: 100 });
});
afterAll(() => sandbox?.close());

it("the embedded chain answers the script that a real validator answers", async () => {
  const { account, program } = subjectOf(sandbox.world.accounts);
  const results = await runNodeScript({ rpcUrl: sandbox.rpcUrl, wsUrl: sandbox.wsUrl, program, account });
  expect(results.filter(({ fault }) => fault !== undefined)).toEqual([]);
  expect(results.length).toBeGreaterThanOrEqual(120);
});

function subjectOf(accounts: typeof sandbox.world.accounts) {
  const pool = accounts.find(({ data }) => data.length === 637)!;
  return { account: pool.address.toString(), program: pool.owner.toString() };
}
