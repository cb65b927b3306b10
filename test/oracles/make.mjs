// Makes the golden vectors anew with the official SDKs and compares them with those committed; `--write` replaces them.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { makePumpFun } from "./pump-fun.mjs";
import { makePumpSwap } from "./pump-swap.mjs";

let differs = false;
for (const [name, make] of [
  ["pump-fun", makePumpFun],
  ["pump-swap", makePumpSwap],
]) {
  const path = new URL(`../fixtures/${name}-vectors.json`, import.meta.url);
  const text = `${JSON.stringify(await make())}\n`;
  if (process.argv.includes("--write")) writeFileSync(path, text);
  const same = existsSync(path) && readFileSync(path, "utf8") === text;
  console.log(`${name}: ${text.length} bytes, ${same ? "as committed" : "DIFFERENT from what is committed"}`);
  differs ||= !same;
}
process.exit(differs ? 1 : 0);
