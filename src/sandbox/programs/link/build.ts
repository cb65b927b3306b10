import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  binaryHash,
  binaryPath,
  MANIFEST_FILE,
  type ProgramRecord,
  programNames,
  SOURCE_FOLDER,
  sourceHash,
} from "../manifest.ts";
import { linkProgram } from "./link.ts";

const COMPILER = "clang-16";
const FLAGS = [
  "-target",
  "bpf",
  "-O2",
  "-mcpu=v2",
  "-ffreestanding",
  "-fno-builtin",
  "-fno-strict-aliasing",
  "-Wall",
  "-Wextra",
  "-Werror",
  "-Wno-unused-const-variable",
];

/** Compiles and links every stand-in program and writes the manifest. Needs clang-16 (Debian package of that name). */
function buildPrograms(): void {
  const version = execFileSync(COMPILER, ["--version"], { encoding: "utf8" }).split("\n")[0]!;
  const scratch = mkdtempSync(join(tmpdir(), "programs-"));
  const programs: Record<string, ProgramRecord> = {};
  try {
    for (const name of programNames()) {
      const object = join(scratch, `${name}.o`);
      execFileSync(COMPILER, [...FLAGS, "-c", `${name}.c`, "-o", object], { cwd: SOURCE_FOLDER, stdio: "inherit" });
      const program = linkProgram(readFileSync(object));
      writeFileSync(binaryPath(name), program);
      programs[name] = { source: sourceHash(name), binary: binaryHash(name) };
      console.log(`${name}.so ${program.length} bytes`);
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
  writeFileSync(MANIFEST_FILE, `${JSON.stringify({ compiler: version, flags: FLAGS, programs }, null, 2)}\n`);
}

buildPrograms();
