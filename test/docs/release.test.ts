import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isWhole } from "../support/whole.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const VERSION = "8.7.6";
const folder = mkdtempSync(join(tmpdir(), "tradewire-release-"));
const clone = join(folder, "tradewire");

const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=Test", "-c", "user.email=test@localhost", ...args], {
    cwd: clone,
    encoding: "utf8",
  });
const release = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["scripts/release.ts", ...args], {
    cwd: clone,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
};
const commit = () => {
  git("add", "--all");
  git("commit", "--quiet", "--message", "Prepare");
};

beforeAll(() => {
  execFileSync("git", ["clone", "--quiet", "--no-tags", ROOT, clone]);
  symlinkSync(join(ROOT, "node_modules"), join(clone, "node_modules"));
  appendFileSync(join(clone, ".git/info/exclude"), "node_modules\n");
  // As it is here, committed or not.
  for (const path of ["scripts", "src", "gen", "proto", "package.json", "package-lock.json"]) {
    cpSync(join(ROOT, path), join(clone, path), { recursive: true });
  }
  git("config", "user.name", "Test");
  git("config", "user.email", "test@localhost");
  if (git("status", "--porcelain") !== "") commit();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const expectPackages = () => {
  for (const name of ["tradewire", "tradewire-api"]) {
    const packed = join(clone, `dist/${name}-${VERSION}.tgz`);
    expect(existsSync(packed), packed).toBe(true);
    rmSync(packed);
  }
};

test("a release says everything that is missing, at once", () => {
  writeFileSync(join(clone, "left-over.txt"), "");
  const { status, stderr } = release(VERSION, "--dry-run");
  rmSync(join(clone, "left-over.txt"));
  expect(status).toBe(1);
  expect(stderr).toContain("left-over.txt");
  expect(stderr).toContain(`CHANGELOG.md has no section "## ${VERSION}"`);
  for (const manifest of ["package.json", "gen/package.json", "src/client/package.json", "package-lock.json"]) {
    expect(stderr).toContain(`${manifest} `);
  }
});

test("anything but a version, and options that do not exist, are refused", () => {
  for (const args of [[], ["1.0"], ["v1.0.0"], [VERSION, "--force"]]) {
    expect(release(...args)).toMatchObject({ status: 1, stderr: expect.stringContaining("Usage") });
  }
});

test("prepared and committed, a release packs both packages; only a real one makes the tag", () => {
  expect(release(VERSION, "--prepare")).toMatchObject({ status: 0 });
  const changelog = join(clone, "CHANGELOG.md");
  writeFileSync(changelog, readFileSync(changelog, "utf8").replace(/^## /m, `## ${VERSION}\n\n- All of it.\n\n## `));
  commit();

  // Each packs: the fast tests do it once.
  if (isWhole) {
    expect(release(VERSION, "--dry-run")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(`ready for v${VERSION}`),
    });
    expectPackages();
    expect(git("tag")).toBe("");
  }

  expect(release(VERSION)).toMatchObject({ status: 0 });
  expectPackages();
  expect(git("cat-file", "-t", `v${VERSION}`).trim()).toBe("tag");
  expect(git("tag", "--list", "--format=%(contents)", `v${VERSION}`)).toContain("- All of it.");
  expect(release(VERSION)).toMatchObject({ status: 1, stderr: expect.stringContaining("exists") });
});
