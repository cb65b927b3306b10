import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A copy of a deployed program. */
export interface Build {
  readonly path: string;
  /** True for the build that a venue's tests are written for; the others make fewer trades. */
  readonly isMain: boolean;
}

const PROGRAMS = ".venues";
/** Copies named by date, `<program>/<yyyymmdd>-<hash>.so`. */
const OTHERS = join(PROGRAMS, "builds");
const DATED = /(\d{8})-[\w]+\.so$/;

/**
 * The builds of a program: `.venues/<program>.so`, then those dated `since` (yyyymmdd) or later in `.venues/builds/<program>` and
 * in `more`. Older ones are not what the venue stands for: they lack its instruction, or a layout that it reads.
 */
export function buildsOf(program: string, since: number, more?: string): readonly Build[] {
  const main = join(PROGRAMS, `${program}.so`);
  const folders = [join(OTHERS, program), ...(more === undefined ? [] : [join(PROGRAMS, more)])];
  const others = folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)))
    .filter((path) => Number(DATED.exec(path)?.[1] ?? 0) >= since)
    .sort();
  const seen = new Set<string>();
  return [main, ...others]
    .filter((path) => existsSync(path))
    .filter((path) => {
      const hash = createHash("sha256").update(readFileSync(path)).digest("hex");
      return !seen.has(hash) && seen.add(hash);
    })
    .map((path) => ({ path, isMain: path === main }));
}

/** Share of a test's trades that builds other than the main one make. */
const OTHER_SHARE = 0.3;

/** How many trades a test makes on a build. */
export function tradesOn({ isMain }: Build, count: number): number {
  return isMain ? count : Math.ceil(count * OTHER_SHARE);
}
