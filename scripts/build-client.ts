/**
 * Builds src/client into src/client/dist: ESM that shares code between its entries, CommonJS, types for both, the command,
 * and nothing of the service. `npm pack` runs it for `tradewire` and removes it.
 */
import { execFileSync } from "node:child_process";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type BuildOptions, build } from "esbuild";
import { importCompiledFiles } from "./declarations.ts";
import { plainDefinition } from "./plain-definition.ts";

const ROOT = resolve(import.meta.dirname, "..");
const PACKAGE = join(ROOT, "src/client");
const OUT = join(PACKAGE, "dist");
const ENTRIES = ["tradewire", "verify", "node", "connect"] as const;
/** What users share with us: transports and messages of theirs must be of the same libraries as ours. */
const SHARED = ["@bufbuild/protobuf", "@connectrpc/connect"] as const;

rmSync(OUT, { recursive: true, force: true });
await buildModules();
await buildCommonJs();
await buildCommand();
writeTypes();
cpSync(join(ROOT, "LICENSE"), join(PACKAGE, "LICENSE"));

function common(): BuildOptions {
  return {
    bundle: true,
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["import"],
    target: ["es2022"],
    external: SHARED.flatMap((name) => [name, `${name}/*`]),
    plugins: [plainDefinition],
    legalComments: "none",
    absWorkingDir: ROOT,
    logLevel: "warning",
  };
}

async function buildModules(): Promise<void> {
  await build({
    ...common(),
    entryPoints: {
      ...Object.fromEntries(ENTRIES.map((name) => [name, `src/client/entry/${name}.ts`])),
      // Makes chunks of both, so that the entry holds no code: a bundler then leaves out the client where only the error is used.
      client: "src/client/tradewire.ts",
      "trade-error": "src/client/trade-error.ts",
    },
    format: "esm",
    splitting: true,
    chunkNames: "shared-[hash]",
    outdir: join(OUT, "esm"),
  });
  writeFileSync(join(OUT, "esm/package.json"), '{ "type": "module", "sideEffects": false }\n');
}

/** One file holds everything, so that a class is the same one from every entry; the entries give their share of it. */
async function buildCommonJs(): Promise<void> {
  const all = await build({
    ...common(),
    stdin: {
      contents: ENTRIES.map((name) => `export * as ${name} from "./src/client/entry/${name}.ts";`).join("\n"),
      resolveDir: ROOT,
      loader: "ts",
    },
    format: "cjs",
    outfile: join(OUT, "cjs/all.js"),
  });
  if (all.errors.length > 0) throw new Error("the CommonJS build failed");
  writeFileSync(join(OUT, "cjs/package.json"), '{ "type": "commonjs", "sideEffects": false }\n');
  for (const entry of ENTRIES) {
    const exported = Object.keys((await import(pathToFileURL(join(OUT, `esm/${entry}.js`)).href)) as object);
    const lines = exported.map((name) => `exports.${name} = all.${name};`);
    const head = `"use strict";\nObject.defineProperty(exports, "__esModule", { value: true });\n`;
    writeFileSync(
      join(OUT, `cjs/${entry}.js`),
      `${head}const all = require("./all.js").${entry};\n${lines.join("\n")}\n`,
    );
  }
}

async function buildCommand(): Promise<void> {
  await build({
    ...common(),
    entryPoints: ["src/client/cli/main.ts"],
    format: "esm",
    platform: "node",
    // commander is CommonJS, and requires Node's own modules by name.
    banner: {
      js: '#!/usr/bin/env node\nimport { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);',
    },
    outfile: join(OUT, "bin/tradewire.js"),
  });
  writeFileSync(join(OUT, "bin/package.json"), '{ "type": "module" }\n');
}

/** The declarations of the entries and of what they name, once for each module system. */
function writeTypes(): void {
  const types = join(OUT, "types");
  execFileSync(join(ROOT, "node_modules/.bin/tsc"), ["-p", PACKAGE, "--outDir", types], { stdio: "inherit" });
  importCompiledFiles(types);
  for (const kind of ["esm", "cjs"]) cpSync(types, join(OUT, kind, "types"), { recursive: true });
  rmSync(types, { recursive: true });
}
