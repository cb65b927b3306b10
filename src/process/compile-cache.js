import { readFileSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

// Loaded before anything else. In JavaScript, because stripping the types of a single file would load a parser, which takes longer
// than reading many cached files. Importing it caches compiled code for later starts, workers and threads: stripping types and
// compiling are more than half of a start. Node checks each entry against its source; without a writable folder it caches nothing.
// `NODE_COMPILE_CACHE` names another folder, `NODE_DISABLE_COMPILE_CACHE=1` turns it off.

/** Beside the code it is made of, whose owner alone may write there. */
const FOLDER = fileURLToPath(new URL("../../node_modules/.cache/tradewire", import.meta.url));

// Workers and threads inherit the environment.
process.env.NODE_COMPILE_CACHE ??= FOLDER;
module.enableCompileCache(process.env.NODE_COMPILE_CACHE);

/** A relative path to a file in plain characters, which means the same in a URL. */
const PLAIN_PATH = /^(?:\.\/|(?:\.\.\/)+)(?:[\w@-][\w.@-]*\/)*[\w@-][\w.@-]*\.[jt]s$/;

/**
 * What a relative import of a file means: the URL that Node finds too, after it has asked the file system for links and
 * manifests, for each of the thousands of imports of a start. A file that is missing fails when it is read.
 *
 * @param {string} specifier
 * @param {string} parent URL of the importing file, itself free of links
 * @returns {string | undefined} undefined if Node has to find it
 */
export function urlOfRelative(specifier, parent) {
  const isFile = parent.startsWith("file:///") && !parent.includes("?") && !parent.includes("#");
  if (!isFile || !PLAIN_PATH.test(specifier)) return undefined;
  let folder = parent.slice(0, parent.lastIndexOf("/"));
  let path = specifier.startsWith("./") ? specifier.slice(2) : specifier;
  for (; path.startsWith("../"); path = path.slice(3)) folder = folder.slice(0, folder.lastIndexOf("/"));
  // Above the root there is nothing to step up to.
  return folder.startsWith("file:///") ? `${folder}/${path}` : undefined;
}

/** What Node would find out by looking for the manifest above each file: an imported file that ends so is a module with types. */
const TYPED = "module-typescript";

/** By URL: most files are imported by several others. */
const found = new Map();

module.registerHooks?.({
  resolve(specifier, context, next) {
    // `require` looks for files in other ways.
    const isImport =
      specifier.startsWith(".") && context.parentURL !== undefined && context.conditions.includes("import");
    const url = isImport ? urlOfRelative(specifier, context.parentURL) : undefined;
    if (url === undefined) return next(specifier, context);
    const known = found.get(url) ?? { url, format: url.endsWith(".ts") ? TYPED : undefined, shortCircuit: true };
    found.set(url, known);
    return known;
  },
  load(url, { format }, next) {
    if (format !== TYPED) return next(url);
    return { format, source: readFileSync(fileURLToPath(url)), shortCircuit: true };
  },
});
