import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** The folder of the stand-in programs' binaries. */
const PROGRAMS_FOLDER = import.meta.dirname;

/** Their sources in C and the headers they share. */
export const SOURCE_FOLDER = join(PROGRAMS_FOLDER, "source");

/** The tools that make a program of a compiled source. */
const LINK_FOLDER = join(PROGRAMS_FOLDER, "link");

/** File that says what each binary was built from. */
export const MANIFEST_FILE = join(PROGRAMS_FOLDER, "manifest.json");

/** What one binary was built from. Hashes are SHA-256 in hexadecimal. */
export interface ProgramRecord {
  readonly source: string;
  readonly binary: string;
}

interface Manifest {
  /** First line of the compiler's version, and its flags. */
  readonly compiler: string;
  readonly flags: readonly string[];
  /** By program name. */
  readonly programs: Readonly<Record<string, ProgramRecord>>;
}

/** Names of the programs that have a source here, in order. */
export function programNames(): string[] {
  return sourcesEndingWith(".c").map((file) => file.slice(0, -2));
}

/** Hash of a program's source together with every shared header and the tools that link it: what its binary depends on. */
export function sourceHash(name: string): string {
  const hash = createHash("sha256");
  const sources = [`${name}.c`, ...sourcesEndingWith(".h")].map((file) => join(SOURCE_FOLDER, file));
  const tools = ["elf-object.ts", "link.ts"].map((file) => join(LINK_FOLDER, file));
  for (const file of [...sources, ...tools]) hash.update(`${basename(file)}\0`).update(readFileSync(file));
  return hash.digest("hex");
}

/** Path of a program's committed binary. */
export function binaryPath(name: string): string {
  return join(PROGRAMS_FOLDER, `${name}.so`);
}

/** Hash of a program's committed binary. */
export function binaryHash(name: string): string {
  return createHash("sha256")
    .update(readFileSync(binaryPath(name)))
    .digest("hex");
}

/** Reads the committed manifest. @throws Error when it is missing or not JSON */
export function readManifest(): Manifest {
  return JSON.parse(readFileSync(MANIFEST_FILE, "utf8")) as Manifest;
}

function sourcesEndingWith(ending: string): string[] {
  return readdirSync(SOURCE_FOLDER)
    .filter((file) => file.endsWith(ending))
    .sort();
}
