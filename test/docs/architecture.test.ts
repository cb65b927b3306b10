import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const page = read("docs/architecture.md");

/** Lines of Markdown tables under a heading, as lists of cells. */
function rowsUnder(heading: string): string[][] {
  const section = page.split(/^## /m).find((part) => part.startsWith(heading))!;
  const lines = section
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(1);
  return lines.map((line) => line.slice(2, -2).split(" | "));
}

const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`((?:src|test|scripts|gen|proto|docs)(?:\/[\w.-]+)+\/?)`/g)].map(([, path]) => path!);

/** The table of imports as the test that holds it writes it. */
function importTable(): Record<string, readonly string[] | "everything"> {
  const code = read("test/types/imports.test.ts");
  const literal = /MAY_IMPORT[^=]*= (\{[\s\S]*?\n\});?\n/.exec(code)![1]!;
  return new Function(`return ${literal}`)();
}

it("README.md draws the tree as it is", () => {
  const drawn = /^proto\/[\s\S]*?^```$/m
    .exec(read("README.md"))![0]
    .split("\n")
    .map((line) => line.slice(0, 22))
    .join(" ");
  const named = [...drawn.matchAll(/([\w-]+)\//g)].map(([, name]) => name!);
  const folders = (path: string) =>
    execFileSync("git", ["ls-tree", "-d", "--name-only", "HEAD", path], { cwd: ROOT, encoding: "utf8" })
      .split("\n")
      .filter((name) => name !== "" && !name.startsWith("."))
      .map((name) => basename(name));
  expect(named.filter((name) => !["tradewire", "v1"].includes(name)).sort()).toEqual(
    [...folders("."), ...folders("src/")].sort(),
  );
});

describe("docs/architecture.md", () => {
  it("has the table of imports that is held", () => {
    const held = Object.entries(importTable()).map(([room, may]) => [
      `\`${room}\``,
      may === "everything" ? "everything" : may.map((place) => `\`${place}\``).join(", ") || "nothing",
    ]);
    expect(rowsUnder("Who may import whom")).toEqual(held);
  });

  it("names every room of src, and none that there is not", () => {
    const rooms = readdirSync(join(ROOT, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const named = rowsUnder("The rooms").flatMap(([cell]) => pathsIn(cell!));
    expect(named.sort()).toEqual(rooms.map(({ name }) => `src/${name}`).sort());
  });

  it("names only files that are there", () => {
    expect(pathsIn(page).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it("answers ten questions, each by at most two files", () => {
    const questions = rowsUnder("Ten questions");
    expect(questions).toHaveLength(10);
    for (const [question, answer] of questions) {
      const files = pathsIn(answer!);
      expect([question, files.length >= 1 && files.length <= 2]).toEqual([question, true]);
    }
  });

  it("shows the venue interface with the members it has", () => {
    const members = (code: string) => {
      const body = /export interface Venue<[\s\S]*?\n\}/.exec(code)![0];
      return [...body.matchAll(/^ {2}(?:readonly )?(\w+)[(:]/gm)].map(([, name]) => name!);
    };
    expect(members(page)).toEqual(members(read("src/venues/venue.ts")));
  });
});
