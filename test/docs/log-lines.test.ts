import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(ROOT, "docs/mainnet.md"), "utf8");
const table = page.slice(page.indexOf("## What the log says"));
const lines = [...table.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell]) =>
  [...cell!.matchAll(/`(.+?)`/g)].map(([, line]) => line!),
);
const code = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
  .map((path) => readFileSync(join(ROOT, "src", path), "utf8"))
  .join("\n");

test.each(lines)("the log may say %s", (line) => {
  const parts = line
    .replaceAll("`", "")
    .split("…")
    .map((part) => part.trim());
  for (const part of parts) expect([part, code.includes(part)]).toEqual([part, true]);
});
