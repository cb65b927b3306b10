import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

// Loaded before anything else: in JavaScript, since stripping the types of a single file loads a parser that takes longer than
// many files that are kept. Importing it keeps compiled code for later starts, workers and threads: stripping types and compiling
// are more than half of a start. Node checks the code that an entry was made of; if the folder cannot be written, it goes on without.
// `NODE_COMPILE_CACHE` names another folder, `NODE_DISABLE_COMPILE_CACHE=1` turns it off.

/** Beside the code it is made of, whose owner alone may write there. */
const FOLDER = fileURLToPath(new URL("../../node_modules/.cache/tradewire", import.meta.url));

// Workers and threads inherit the environment.
process.env.NODE_COMPILE_CACHE ??= FOLDER;
enableCompileCache(process.env.NODE_COMPILE_CACHE);
