/** Packs the published packages, `@tradewire/api` and `tradewire`, into dist; prints the file and size of each. */
import { execFileSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "..");
const OUT = join(ROOT, "dist");

mkdirSync(OUT, { recursive: true });
for (const folder of ["gen", "src/client"]) {
  const printed = execFileSync("npm", ["pack", "--silent", "--pack-destination", OUT], {
    cwd: join(ROOT, folder),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  const tarball = join(OUT, printed.trim().split("\n").at(-1)!);
  process.stdout.write(`${relative(ROOT, tarball)}: ${statSync(tarball).size} bytes\n`);
}
