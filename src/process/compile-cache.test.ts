import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
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

test("the code of a start is kept where NODE_COMPILE_CACHE points, and nowhere if that is off", () => {
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

test("a relative import means what its URL says, or is left to Node", () => {
  const parent = pathToFileURL("/srv/a folder/src/chain/rpc/rpc-pool.ts").href;
  const plain = ["./a-b.ts", "../port.ts", "../../primitives/clock.ts", "./http/http-client.js", "../@a/b.c.ts"];
  const others = [
    "node:fs",
    "fastify",
    "#a.ts",
    "/a.ts",
    "./a",
    "./a/",
    ".",
    "..",
    "./a.json",
    "./a b.ts",
    "./a%20b.ts",
  ];
  const odd = ["./a.ts?b", "./a.ts#b", "./a/../b.ts", "./a/./b.ts", "././a.ts", ".//a.ts", "./a//b.ts", "./.a.ts"];
  const above = `${"../".repeat(9)}a.ts`;
  const cases = [
    ...[...plain, ...others, ...odd, above].map((specifier) => [specifier, parent]),
    ...["data:text/javascript,1", "https://example.com/a.ts", `${parent}?b=/c/d`].map((from) => ["./a.ts", from]),
  ];
  const code = `import { urlOfRelative } from "./src/process/compile-cache.js";
    const cases = ${JSON.stringify(cases)};
    process.stdout.write(JSON.stringify(cases.map(([specifier, from]) => urlOfRelative(specifier, from) ?? null)));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
  const urls = plain.map((specifier) => new URL(specifier, parent).href);
  expect(JSON.parse(output)).toEqual([...urls, ...cases.slice(plain.length).map(() => null)]);
});
