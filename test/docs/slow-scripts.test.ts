import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);
const { scripts } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
  scripts: Record<string, string>;
};
/** Slow scripts that are programs of their own: the rest are projects of the test runner, which has its own help. */
const programs = Object.entries(scripts).flatMap(([name, command]) => {
  const file = /^node (test\/slow\/\S+)$/.exec(command)?.[1];
  return file === undefined ? [] : [{ name, file }];
});

test.concurrent.for(programs)("$name says what it does and which options it has", async ({ name, file }) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, "--help"], { cwd: root, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).toContain(`npm run ${name} -- `);
});
