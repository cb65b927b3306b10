import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BUILT = fileURLToPath(new URL("geyser/target/debug/libtest_geyser.so", import.meta.url));

/** Path of the compiled plugin: GEYSER_PLUGIN, or where cargo leaves it; undefined if it is not built. */
export function findGeyserPlugin(): string | undefined {
  const named = process.env.GEYSER_PLUGIN;
  const path = named === undefined || named === "" ? BUILT : named;
  return existsSync(path) ? path : undefined;
}

/** Arguments that make a validator load the plugin and serve its stream on the port. */
export function geyserArguments(folder: string, plugin: string, port: number): readonly string[] {
  const config = join(folder, "geyser.json");
  writeFileSync(config, JSON.stringify({ libpath: plugin, listen: `127.0.0.1:${port}` }));
  return ["--geyser-plugin-config", config];
}
