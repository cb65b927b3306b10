import { readdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { expect, it } from "vitest";
import { loadBrowserModules } from "./browser-modules.ts";

const MODULES = "/assets/modules/";
const PAGES = fileURLToPath(new URL(".", import.meta.url));

it("whatever a page imports is exported where it is served", async () => {
  const modules = await loadBrowserModules(MODULES);
  const entryPoints = readdirSync(PAGES, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".js"))
    .map((path) => resolve(PAGES, path));
  expect(entryPoints.length).toBeGreaterThan(20);
  const { errors, warnings } = await build({
    entryPoints,
    bundle: true,
    format: "esm",
    outdir: PAGES,
    write: false,
    logLevel: "silent",
    plugins: [asServed(modules)],
  }).catch((failure: { errors: unknown[]; warnings: unknown[] }) => failure);
  expect({ errors, warnings }).toEqual({ errors: [], warnings: [] });
});

/** Resolves what pages import as a browser does. */
function asServed(modules: ReadonlyMap<string, string>): Plugin {
  return {
    name: "as-served",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /.*/ }, ({ path, importer, kind }) => {
        if (kind === "entry-point") return { path };
        if (path.startsWith(MODULES)) return { path, namespace: "served" };
        return { path: resolve(dirname(importer), path) };
      });
      onLoad({ filter: /.*/, namespace: "served" }, ({ path }) => {
        const contents = modules.get(path);
        return contents === undefined ? { errors: [{ text: `${path} is not served` }] } : { contents, loader: "js" };
      });
    },
  };
}
