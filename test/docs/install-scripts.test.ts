import { readFileSync } from "node:fs";
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
