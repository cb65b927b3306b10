import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const pages = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"], {
  cwd: ROOT,
  encoding: "utf8",
})
  .trim()
  .split("\n");

/** The anchor GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

const read = (path: string): string => readFileSync(path, "utf8");
const anchors = (path: string): string[] => [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, text]) => anchorOf(text!));

test.each(pages)("%s links to what exists", (page) => {
  const file = join(ROOT, page);
  const prose = read(file).replaceAll(/^```[\s\S]*?^```$/gm, "");
  const broken = [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target!)
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [path, anchor] = target.split("#");
      const linked = path === "" ? file : resolve(dirname(file), path!);
      return !existsSync(linked) || (anchor !== undefined && !anchors(linked).includes(anchor));
    });
  expect(broken).toEqual([]);
});
