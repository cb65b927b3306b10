/**
 * Makes a release from what is committed: checks it, packs the client and the API package into dist, and makes the annotated
 * tag. Publishing and pushing stay with you.
 *
 *   npm run release -- 0.2.0 --prepare   writes the version and the contract's image; commit them with the changelog
 *   npm run release -- 0.2.0 --dry-run   checks and packs, makes no tag
 *   npm run release -- 0.2.0
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "..");
/** The packages of the repository, as the lock file names them. */
const WORKSPACES = ["", "gen", "src/client"];
const MANIFESTS = WORKSPACES.map((folder) => join(folder, "package.json"));
/** What `tradewire --version` prints. */
const VERSION_FILE = "src/client/cli/version.ts";
const VERSION_LINE = /^export const VERSION = "(.*)";$/m;
/** The contract as it was last released: `buf breaking` compares with it, since shallow clones have no tags. */
const IMAGE = "proto/released.binpb";

interface Lock {
  version?: string;
  readonly packages: Record<string, { version?: string }>;
}

const [version = "", ...options] = process.argv.slice(2);
const prepares = options.includes("--prepare");
const isDry = options.includes("--dry-run");
const unknown = options.filter((option) => !["--prepare", "--dry-run"].includes(option));
if (!/^\d+\.\d+\.\d+$/.test(version) || unknown.length > 0) {
  fail(["Usage: npm run release -- MAJOR.MINOR.PATCH [--prepare | --dry-run]"]);
}

if (prepares) prepare();
else release();

function prepare(): void {
  for (const path of MANIFESTS) writeJson(path, { ...(readJson(path) as object), version });
  const lock = readJson("package-lock.json") as Lock;
  lock.version = version;
  for (const name of WORKSPACES) lock.packages[name]!.version = version;
  writeJson("package-lock.json", lock);
  const source = readFileSync(join(ROOT, VERSION_FILE), "utf8");
  writeFileSync(join(ROOT, VERSION_FILE), source.replace(VERSION_LINE, `export const VERSION = "${version}";`));
  buildImage(join(ROOT, IMAGE));
  say(
    `Version ${version} and ${IMAGE} are written. Move "Unreleased" of CHANGELOG.md under "## ${version}", commit, and release.`,
  );
}

function release(): void {
  const problems = [...treeProblems(), ...versionProblems(), ...changelogProblems(), ...imageProblems()];
  if (problems.length > 0) fail(problems);
  say(run("node", ["scripts/pack.ts"]).trim());
  if (isDry) {
    say(`Everything is ready for v${version}; no tag is made in a dry run.`);
    return;
  }
  run("git", [
    "tag",
    "--annotate",
    `v${version}`,
    "--message",
    `Tradewire ${version}\n\n${changelogSection()!.trim()}`,
    "--cleanup=verbatim",
  ]);
  say(`Tagged v${version}. Push it with: git push origin v${version}`);
}

/** The tag must point at what was checked. */
function treeProblems(): string[] {
  const changed = run("git", ["status", "--porcelain"]).trim();
  const tagged = run("git", ["tag", "--list", `v${version}`]).trim();
  return [
    ...(changed === "" ? [] : [`The tree has uncommitted changes:\n${changed}`]),
    ...(tagged === "" ? [] : [`The tag v${version} exists.`]),
  ];
}

function versionProblems(): string[] {
  const lock = readJson("package-lock.json") as Lock;
  const found = [
    ...MANIFESTS.map((path) => [path, (readJson(path) as { version?: string }).version] as const),
    ...WORKSPACES.map((name) => [`package-lock.json "${name}"`, lock.packages[name]?.version] as const),
    [VERSION_FILE, VERSION_LINE.exec(readFileSync(join(ROOT, VERSION_FILE), "utf8"))?.[1]] as const,
  ];
  return found
    .filter(([, each]) => each !== version)
    .map(([where, each]) => `${where} has version ${each}, not ${version}: run with --prepare.`);
}

function changelogProblems(): string[] {
  const section = changelogSection();
  if (section === undefined) return [`CHANGELOG.md has no section "## ${version}".`];
  return section.trim() === "" ? [`The section of ${version} in CHANGELOG.md is empty.`] : [];
}

/** What the changelog says of this version, without its heading. */
function changelogSection(): string | undefined {
  const sections = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8").split(/^## /m);
  const section = sections.find((each) => each.startsWith(version) && /^\s/.test(each.slice(version.length)));
  return section?.slice(section.indexOf("\n") + 1);
}

function imageProblems(): string[] {
  const folder = mkdtempSync(join(tmpdir(), "tradewire-release-"));
  try {
    const current = join(folder, "image.binpb");
    buildImage(current);
    const isCurrent = existsSync(join(ROOT, IMAGE)) && readFileSync(current).equals(readFileSync(join(ROOT, IMAGE)));
    return isCurrent ? [] : [`${IMAGE} is not the contract of this version: run with --prepare.`];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function buildImage(path: string): void {
  run("buf", ["build", "--exclude-source-info", "--output", path]);
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, path), "utf8"));
}

function writeJson(path: string, value: object): void {
  writeFileSync(join(ROOT, path), `${JSON.stringify(value, undefined, 2)}\n`);
}

function run(command: string, args: readonly string[]): string {
  return execFileSync(command, args, {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, PATH: `${join(ROOT, "node_modules/.bin")}:${process.env.PATH}` },
  });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function fail(problems: readonly string[]): never {
  process.stderr.write(`${problems.join("\n")}\n`);
  process.exit(1);
}
