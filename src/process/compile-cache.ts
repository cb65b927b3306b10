import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

/** Beside the code it is made of, whose owner alone may write there. */
const FOLDER = fileURLToPath(new URL("../../node_modules/.cache/tradewire", import.meta.url));

/**
 * Keeps compiled code for later starts, workers and threads: stripping types and compiling are more than half of a start. Node
 * checks the code that an entry was made of; if the folder cannot be written, it goes on without. `NODE_COMPILE_CACHE` names another
 * folder, `NODE_DISABLE_COMPILE_CACHE=1` turns it off.
 *
 * @param environment of this process, which its workers and threads inherit
 */
export function keepCompiledCode(environment: Record<string, string | undefined>): void {
  environment.NODE_COMPILE_CACHE ??= FOLDER;
  enableCompileCache(environment.NODE_COMPILE_CACHE);
}
