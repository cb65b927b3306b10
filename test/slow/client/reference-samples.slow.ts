import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  readonly security: readonly object[];
}

const DOCS = "../../../src/api/pages/docs/";
const hasGo = spawnSync("go", ["version"]).error === undefined;

/** `npm test` runs the samples in the other languages: compiling these takes long. */
test.skipIf(!hasGo)(`the reference's samples in Go are sound${hasGo ? "" : " (not run: no go here)"}`, async () => {
  const { LANGUAGES } = await import(`${DOCS}samples.js`);
  const { exampleBody, exampleParameters, pathOf } = await import(`${DOCS}examples.js`);
  const { sample } = LANGUAGES.find(({ id }: { id: string }) => id === "go");
  const { paths } = JSON.parse(readFileSync("src/api/openapi/openapi.json", "utf8"));
  const folder = mkdtempSync(join(tmpdir(), "tradewire-go-samples-"));
  writeFileSync(join(folder, "go.mod"), "module samples\n\ngo 1.21\n");
  let count = 0;
  for (const [path, verbs] of Object.entries<Record<string, Operation>>(paths)) {
    for (const [verb, operation] of Object.entries(verbs)) {
      const { operationId: id, parameters = [], requestBody, security } = operation;
      const text = sample({
        verb: verb.toUpperCase(),
        url: `http://127.0.0.1:8080${pathOf(path, parameters, exampleParameters(id, "mint"))}`,
        needsKey: security.length > 0,
        body: requestBody === undefined ? undefined : exampleBody(id, "mint"),
      });
      mkdirSync(join(folder, id));
      writeFileSync(join(folder, id, "main.go"), `${text}\n`);
      count++;
    }
  }
  expect(count).toBeGreaterThan(15);
  const run = promisify(execFile);
  await run("go", ["vet", "./..."], { cwd: folder });
  expect((await run("gofmt", ["-l", "."], { cwd: folder })).stdout).toBe("");
  rmSync(folder, { recursive: true, force: true });
});
