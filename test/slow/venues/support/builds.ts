import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Address } from "../../../../src/primitives/address.ts";

/** A copy of a deployed program. */
export interface Build {
  readonly path: string;
  /** True for the build that a venue's tests are written for; the others make fewer trades. */
  readonly isMain: boolean;
}

/** Which copies of a program a venue's tests run. */
interface Tested {
  /** File of the build that the tests are written for, without `.so`; absent: the program's own name. */
  readonly main?: string;
  /**
   * First date (yyyymmdd) of a build that the venue stands for: older ones lack its instruction, or a layout that it reads. Absent:
   * all of them, named by the release that carries them instead of a date.
   */
  readonly since?: number;
  /** A folder beside `.venues/builds/<program>` with more copies. */
  readonly more?: string;
  /** Copies that no market of the network runs on. */
  readonly except?: RegExp;
}

const PROGRAMS = ".venues";
/** Copies named by date, `<program>/<yyyymmdd>-<hash>.so`, or by release, `<program>/<version>-<hash>.so`. */
const OTHERS = join(PROGRAMS, "builds");
const DATED = /(\d{8})-[\w]+\.so$/;

const TESTED: Readonly<Record<string, Tested>> = {
  meteora_damm_v1: { since: 20250101 },
  // Builds before this lack `swap2` as it is called here, or use twice the compute units.
  meteora_damm_v2: { since: 20251218 },
  meteora_dbc: { since: 20250801 },
  // Pairs of today's layout do not trade on builds before this. The exception was deployed later, but built before limit orders.
  meteora_dlmm: { since: 20260301, except: /20260323/ },
  // Pump's builds come with releases of the crate pump-rust-client: 0.2.0, then these.
  pump_fees: { main: "pump_fees_2026" },
  pump_fun: { main: "pump_fun_2026" },
  pump_swap: { main: "pump_swap_2026" },
  // Builds before this want every tick array initialised. The exceptions' programs are frozen copies.
  orca_whirlpool: { since: 20240901, more: "whirlpool", except: /20260511|20240925/ },
  raydium_amm_v4: { since: 20240901 },
  // The one before panics on pools whose observations have the size of later ones.
  raydium_clmm: { since: 20241001 },
  raydium_cpmm: { since: 20240901 },
};

/** The builds of a program that its venue's tests run: `.venues/<program>.so`, then the other copies in order. */
export function buildsOf(program: string): readonly Build[] {
  const only = process.env.VENUE_BUILD;
  return allBuildsOf(program).filter(({ path }) => only === undefined || path === only);
}

/** The same, even if this process is to run one of them alone (`VENUE_BUILD`). */
export function allBuildsOf(program: string): readonly Build[] {
  const tested = TESTED[program];
  if (tested === undefined) return [];
  const { since = 0, more, except } = tested;
  const main = join(PROGRAMS, `${tested.main ?? program}.so`);
  const folders = [join(OTHERS, program), ...(more === undefined ? [] : [join(PROGRAMS, more)])];
  const others = folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)))
    .filter((path) => Number(DATED.exec(path)?.[1] ?? 0) >= since && !(except?.test(path) ?? false))
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

/** A program as if it had been built for another address: where its code compares addresses, it holds them in parts of four bytes. */
export function readdressed(code: Uint8Array, from: Address, to: Address): Uint8Array {
  const changed = Buffer.from(code);
  for (let at = 0; at < from.bytes.length; at += 4) {
    const [part, instead] = [from.bytes.subarray(at, at + 4), to.bytes.subarray(at, at + 4)];
    for (let found = changed.indexOf(part); found >= 0; found = changed.indexOf(part, found + 4))
      changed.set(instead, found);
  }
  return changed;
}
