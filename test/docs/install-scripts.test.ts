import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

const read = (file: string) => JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8"));

it("says of each dependency with install scripts whether they run, so that npm neither asks nor leaves Node out", () => {
  const packages: Record<string, { hasInstallScript?: boolean }> = read("package-lock.json").packages;
  const withScripts = Object.entries(packages).flatMap(([path, { hasInstallScript }]) =>
    hasInstallScript ? [path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)] : [],
  );
  const { allowScripts = {} } = read("package.json");
  expect(withScripts.filter((name) => allowScripts[name] === undefined)).toEqual([]);
});

it("overrides peers whose range the installed version is outside of: the npm of Node 20 and 22 would ask for a second one", () => {
  const packages: Record<string, { version?: string; peerDependencies?: Record<string, string> }> =
    read("package-lock.json").packages;
  /** The version that a package at this place finds, as Node looks for it. */
  const found = (place: string, name: string): string | undefined => {
    const here = packages[`${place}${place === "" ? "" : "/"}node_modules/${name}`]?.version;
    return (
      here ?? (place === "" ? undefined : found(place.slice(0, Math.max(0, place.lastIndexOf("/node_modules/"))), name))
    );
  };
  const outside = Object.entries(packages).flatMap(([place, { peerDependencies = {} }]) =>
    Object.entries(peerDependencies).flatMap(([name, range]) => {
      const major = /^\^([1-9]\d*)\.[\d.]+$/.exec(range)?.[1];
      const version = found(place, name);
      return major !== undefined && version !== undefined && !version.startsWith(`${major}.`) ? [name] : [];
    }),
  );
  const { overrides = {} } = read("package.json");
  const overridden = new Set(Object.values<object>(overrides).flatMap((names) => Object.keys(names)));
  expect(outside).not.toEqual([]);
  expect(outside.filter((name) => !overridden.has(name))).toEqual([]);
});

it("asks for npm ci, whatever Node there is, if one of the first commands is run without it", () => {
  const folder = mkdtempSync(join(tmpdir(), "tradewire-test-"));
  mkdirSync(join(folder, "scripts"));
  cpSync("scripts/installed.cjs", join(folder, "scripts/installed.cjs"));
  const { scripts } = read("package.json");
  for (const name of ["start", "demo", "test", "cli"]) {
    const { status, stderr } = spawnSync("sh", ["-c", scripts[name]], { cwd: folder, encoding: "utf8" });
    expect([name, status, stderr]).toEqual([name, 1, expect.stringMatching(/^Run `npm ci` first: /)]);
  }
  rmSync(folder, { recursive: true });
});
