// Run as a process of its own by browser-modules.ts: sends modules and everything they import, as JavaScript for browsers.
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const IMPORT = /^(import\s*|(?:import|export)\b[^'";`]*?\bfrom\s*)(["'])([^"']+)\2/gm;
const SOURCE = new URL("../../", import.meta.url).href;

const [, , prefix, ...entries] = process.argv as [string, string, string, ...string[]];
const modules: Record<string, string> = {};

/** The path that a module is served at: sources by their folder in `src`, packages by their name. */
function pathOf(url: string): string {
  const inPackage = url.lastIndexOf("/node_modules/");
  const name = inPackage === -1 ? url.slice(SOURCE.length) : `lib/${url.slice(inPackage + "/node_modules/".length)}`;
  return `${prefix}${name.replace(/\.ts$/, ".js")}`;
}

function add(url: string): string {
  const path = pathOf(url);
  if (modules[path] !== undefined) return path;
  modules[path] = "";
  const source = readFileSync(fileURLToPath(url), "utf8");
  const code = url.endsWith(".ts") ? stripTypeScriptTypes(source) : source;
  modules[path] = code.replace(IMPORT, (_, head: string, quote: string, name: string) => {
    const target = name.startsWith(".") ? new URL(name, url).href : import.meta.resolve(name);
    return `${head}${quote}${add(target)}${quote}`;
  });
  return path;
}

for (const entry of entries)
  add(entry.startsWith("./") ? pathToFileURL(fileURLToPath(new URL(entry, SOURCE))).href : import.meta.resolve(entry));
process.send!(modules);
