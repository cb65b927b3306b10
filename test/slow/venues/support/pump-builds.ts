import { basename } from "node:path";
import { allBuildsOf, type Build, buildsOf } from "./builds.ts";

/** Copies of Pump's three programs that one release of the crate pump-rust-client carries. */
export interface PumpBuilds extends Build {
  readonly fun: string;
  readonly swap: string;
  readonly fees: string;
}

/** One for each build of the program that its tests run, with the others of its release. */
export function pumpBuildsOf(program: "pump_fun" | "pump_swap"): readonly PumpBuilds[] {
  return buildsOf(program).flatMap((build) => {
    const [fun, swap, fees] = ["pump_fun", "pump_swap", "pump_fees"].map((name) => sameRelease(name, build)?.path);
    return fun === undefined || swap === undefined || fees === undefined ? [] : [{ ...build, fun, swap, fees }];
  });
}

const sameRelease = (program: string, { path, isMain }: Build): Build | undefined =>
  allBuildsOf(program).find((other) => (isMain ? other.isMain : releaseOf(other.path) === releaseOf(path)));

const releaseOf = (path: string): string => basename(path).split("-")[0]!;
