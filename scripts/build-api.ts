/** Compiles the generated code in gen to JavaScript and declarations in gen/dist. `npm pack` runs it for `@tradewire/api`. */
import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { importCompiledFiles } from "./declarations.ts";

const ROOT = resolve(import.meta.dirname, "..");
const PACKAGE = join(ROOT, "gen");
const OUT = join(PACKAGE, "dist");

rmSync(OUT, { recursive: true, force: true });
execFileSync(join(ROOT, "node_modules/.bin/tsc"), ["-p", PACKAGE], { stdio: "inherit" });
importCompiledFiles(OUT);
cpSync(join(ROOT, "LICENSE"), join(PACKAGE, "LICENSE"));
