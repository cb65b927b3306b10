import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { generateOpenApi } from "../../src/api/openapi/generate.ts";
import { OPENAPI_FILE } from "../../src/api/openapi/read.ts";

describe("generated files", () => {
  it("match the definition", () => {
    const fresh = mkdtempSync(path.join(tmpdir(), "tradewire-gen-"));
    try {
      execFileSync("buf", ["generate", "--output", fresh]);
      const folders = readdirSync(path.join(fresh, "gen"));
      expect(folders.length).toBeGreaterThan(0);
      for (const folder of folders)
        expect(contents(path.join(fresh, "gen", folder))).toEqual(contents(path.join("gen", folder)));
    } finally {
      rmSync(fresh, { recursive: true });
    }
  });

  it("include the OpenAPI document", () => {
    expect(readFileSync(OPENAPI_FILE, "utf8")).toBe(generateOpenApi());
  });
});

function contents(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files
      .map((file) => path.join(file.parentPath, file.name))
      .map((file) => [path.relative(folder, file), readFileSync(file, "utf8")]),
  );
}
