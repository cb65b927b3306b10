// Holds the last release against this version: both on one PostgreSQL, as during an upgrade.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { readOptions } from "../options.ts";

const ROOT = resolve(import.meta.dirname, "../../..");

const HELP = `Holds the last release against this version: both on one PostgreSQL, as during an upgrade.

  npm run slow:upgrade -- [options]

  --from REV        the revision in place of the last release; default: the latest tag
  --help            this text
`;

const { from } = readOptions(HELP, { options: { from: { type: "string" } } }).values;
const revision = from ?? latestTag();
if (revision === undefined) {
  process.stdout.write(
    "No release is tagged yet, so there is nothing to upgrade from. To name a revision: --from REV\n",
  );
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), "tradewire-upgrade-"));
try {
  process.stdout.write(`Installing ${revision} …\n`);
  const old = checkOut(revision);
  packClient(old);
  const { status } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", "--project", "upgrade"], {
    cwd: ROOT,
    env: { ...process.env, UPGRADE_FROM: old },
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function latestTag(): string | undefined {
  const { status, stdout } = spawnSync("git", ["describe", "--tags", "--abbrev=0", "--match", "v*"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  return status === 0 ? stdout.trim() : undefined;
}

/** The revision's files, with an installation of their own. */
function checkOut(rev: string): string {
  const old = join(folder, "old");
  mkdirSync(old);
  const archive = execFileSync("git", ["archive", "--format=tar", rev], { cwd: ROOT, maxBuffer: 1 << 30 });
  execFileSync("tar", ["--extract", "--directory", old], { input: archive });
  execFileSync("npm", ["ci", "--prefer-offline", "--no-audit", "--no-fund"], {
    cwd: old,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, npm_config_loglevel: "error" },
  });
  return old;
}

/** The client as it was published, where a program of the old tree finds it as "tradewire". */
function packClient(old: string): void {
  const script = ["scripts/pack.ts", "scripts/pack-client.ts"].find((path) => existsSync(join(old, path)))!;
  execFileSync(join(old, "node_modules/.bin/node"), [script], { cwd: old, stdio: ["ignore", "ignore", "inherit"] });
  const tarball = readdirSync(join(old, "dist")).find((name) => /^tradewire-\d.*\.tgz$/.test(name))!;
  const installed = join(old, "caller/node_modules/tradewire");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", [
    "--extract",
    "--gzip",
    "--strip-components=1",
    "--file",
    join(old, "dist", tarball),
    "--directory",
    installed,
  ]);
}
