import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

test("a start keeps compiled code beside the modules", () => {
  const code = `import { getCompileCacheDir } from "node:module";
    process.argv = ["", "", "--help"];
    await import("./src/process/main.ts");
    process.stdout.write(String(getCompileCacheDir()));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", code], {
    env: { PATH: process.env.PATH },
    encoding: "utf8",
  });
  expect(output).toContain(join("node_modules", ".cache", "tradewire"));
});

test("the code of a start is kept where NODE_COMPILE_CACHE says, and nowhere if it is turned off", () => {
  const folder = mkdtempSync(join(tmpdir(), "tradewire-compiled-"));
  try {
    const start = (settings: Record<string, string>) =>
      execFileSync(process.execPath, ["src/process/main.ts", "--help"], {
        env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: folder, ...settings },
        encoding: "utf8",
      });
    expect(start({ NODE_DISABLE_COMPILE_CACHE: "1" })).toContain("npm start");
    expect(readdirSync(folder)).toEqual([]);
    expect(start({})).toContain("npm start");
    const kept = readdirSync(folder, { recursive: true }).length;
    expect(kept).toBeGreaterThan(10);
    // A folder that cannot be made is no reason not to start.
    expect(start({ NODE_COMPILE_CACHE: "/dev/null/none" })).toContain("npm start");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
