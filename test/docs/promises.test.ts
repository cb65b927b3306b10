import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(ROOT, "docs/promises.md"), "utf8");
const rows = [...page.matchAll(/^\| (\d+) \| (.+?) \| (.+?) \| (.*) \|$/gm)].map((match) => Number(match[1]));

test("docs/promises.md has rows 1 to 60, each once", () => {
  const sorted = [...rows].sort((a, b) => a - b);
  expect(sorted).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
});

test("every row that a slow suite reports on is on the page, and every row of those suites is reported on", () => {
  const reported = new Set(
    ["test/slow/edge", "test/slow/faults"]
      .flatMap((folder) =>
        readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
          .filter((file) => file.endsWith(".ts"))
          .map((file) => readFileSync(join(ROOT, folder, file), "utf8")),
      )
      .flatMap((code) => [...code.matchAll(/\breport\(\s*(\d+)|^\s*row: (\d+)/gm)])
      .map((match) => Number(match[1] ?? match[2])),
  );
  // Some rows have a suite of their own, which they name.
  const named = [...page.matchAll(/^\| (\d+) \|.*\| ([^|]*) \|$/gm)]
    .filter(([, , command]) => !/`slow:(?:edge|faults) /.test(command!))
    .map(([, row]) => Number(row));
  const shown = new Set([...reported, ...named]);
  expect([...shown].sort((a, b) => a - b)).toEqual([...rows].sort((a, b) => a - b));
});

test("a row says in one line what it promises: measurements stand in its note", () => {
  const lines = page.split("\n").filter((line) => /^\| .* \| .* \| .* \| .* \|$/.test(line));
  const long = lines.filter((line) => line.length > 600 || line.split(" | ").some((cell) => cell.length > 400));
  expect(long).toEqual([]);
});

test("every note of a row is linked from its row", () => {
  const notes = [...page.matchAll(/^### Row (\d+)$/gm)].map(([, row]) => Number(row));
  const linked = [...page.matchAll(/^\| (\d+) \|.*\(#row-(\d+)\) \|/gm)].map(([, row, note]) => {
    expect(note).toBe(row);
    return Number(row);
  });
  expect(notes).toEqual([...linked].sort((a, b) => a - b));
});

test("every test the page names is there", () => {
  for (const [path] of page.matchAll(/\b(?:src|test)\/[\w/.-]*\w/g))
    expect([path, existsSync(join(ROOT, path!))]).toEqual([path, true]);
});

test("the command of a row finds every test of it on the edge: what stands in a block does not begin with its number", () => {
  const commands = [...page.matchAll(/^\| (\d+) \|.*-t '(\^?)(\d+):'/gm)].map(([, row, anchor, number]) => {
    expect(number).toBe(row);
    return [row, anchor] as const;
  });
  const anchors = new Map(commands);
  const folder = join(ROOT, "test/slow/edge");
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".test.ts"))) {
    const code = readFileSync(join(folder, file), "utf8");
    const isInBlock = /^describe\b/m.test(code);
    for (const [, row] of code.matchAll(/["`](\d+): /g))
      expect([file, row, anchors.get(row!)]).toEqual([file, row, isInBlock ? "" : (anchors.get(row!) ?? "a command")]);
  }
});

const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: Record<string, string> };

test.each(["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs"])(
  "every command that %s names is a script",
  (place) => {
    const folder = join(ROOT, place);
    const pages = place.endsWith(".md")
      ? [folder]
      : readdirSync(folder, { recursive: true, encoding: "utf8" })
          .filter((name) => name.endsWith(".md"))
          .map((name) => join(folder, name));
    for (const path of pages) {
      const text = readFileSync(path, "utf8");
      const named = [...text.matchAll(/npm run ([\w:-]+)|`((?:slow|bench|venues):[\w-]+)/g)].map(
        ([, run, script]) => (run ?? script)!,
      );
      expect([path, named.filter((name) => scripts[name] === undefined)]).toEqual([path, []]);
    }
  },
);

test("CONTRIBUTING.md has a line for every slow suite", () => {
  const contributing = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8");
  for (const name of Object.keys(scripts).filter((each) => each.startsWith("slow:"))) {
    expect(contributing).toContain(`| \`npm run ${name}\` |`);
  }
});
