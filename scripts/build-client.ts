/**
 * Builds the client package from src/client into dist/client, and packs it into dist: ESM that shares code between its
 * entries, CommonJS, types for both, the command, and nothing of the service.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type BuildOptions, build } from "esbuild";
import { plainDefinition } from "./plain-definition.ts";

const ROOT = resolve(import.meta.dirname, "..");
const OUT = join(ROOT, "dist/client");
const ENTRIES = ["tradewire", "verify", "connect"] as const;
/** What users share with us: transports and messages of theirs must be of the same libraries as ours. */
const SHARED = ["@bufbuild/protobuf", "@connectrpc/connect"] as const;

interface RootManifest {
  readonly version: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

const root = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as RootManifest;

rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
await buildModules();
await buildCommonJs();
await buildCommand();
writeTypes();
writeManifest();
cpSync(join(ROOT, "src/client/README.md"), join(OUT, "README.md"));
if (existsSync(join(ROOT, "LICENSE"))) cpSync(join(ROOT, "LICENSE"), join(OUT, "LICENSE"));
const [tarball] = JSON.parse(
  execFileSync("npm", ["pack", "--json", "--pack-destination", join(ROOT, "dist")], {
    cwd: OUT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }),
) as readonly { readonly filename: string; readonly size: number }[];
process.stdout.write(`dist/${tarball!.filename}: ${tarball!.size} bytes\n`);

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
    entryPoints: ENTRIES.map((name) => `src/client/entry/${name}.ts`),
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
    const exported = Object.keys((await import(join(OUT, `esm/${entry}.js`))) as object);
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
    banner: { js: "#!/usr/bin/env node" },
    outfile: join(OUT, "bin/tradewire.js"),
  });
  writeFileSync(join(OUT, "bin/package.json"), '{ "type": "module" }\n');
}

/** The declarations of the entries and of what they name, once for each module system. */
function writeTypes(): void {
  const types = join(OUT, "types");
  execFileSync(join(ROOT, "node_modules/.bin/tsc"), ["-p", "tsconfig.client.json", "--outDir", types], {
    cwd: ROOT,
    stdio: "inherit",
  });
  for (const file of declarationsIn(types)) {
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replaceAll(/(from |import\()"(\.{1,2}\/[^"]+)\.ts"/g, '$1"$2.js"'));
  }
  for (const kind of ["esm", "cjs"]) cpSync(types, join(OUT, kind, "types"), { recursive: true });
  rmSync(types, { recursive: true });
}

function declarationsIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".d.ts"))
    .map((path) => join(folder, path));
}

function writeManifest(): void {
  const exported = (entry: string) => ({
    import: { types: `./esm/types/src/client/entry/${entry}.d.ts`, default: `./esm/${entry}.js` },
    require: { types: `./cjs/types/src/client/entry/${entry}.d.ts`, default: `./cjs/${entry}.js` },
  });
  const manifest = {
    name: "tradewire",
    version: root.version,
    description: "Trades on Solana that are verified and signed on your side: the client of a Tradewire service",
    license: root.license,
    type: "module",
    engines: { node: ">=20" },
    sideEffects: false,
    main: "./cjs/tradewire.js",
    module: "./esm/tradewire.js",
    types: "./cjs/types/src/client/entry/tradewire.d.ts",
    bin: { tradewire: "bin/tradewire.js" },
    exports: {
      ".": exported("tradewire"),
      "./verify": exported("verify"),
      "./connect": exported("connect"),
      "./package.json": "./package.json",
    },
    typesVersions: {
      "*": {
        verify: ["./cjs/types/src/client/entry/verify.d.ts"],
        connect: ["./cjs/types/src/client/entry/connect.d.ts"],
      },
    },
    files: ["esm", "cjs", "bin", "README.md", "LICENSE"],
    dependencies: Object.fromEntries(SHARED.map((name) => [name, `^${root.dependencies[name]}`])),
  };
  writeFileSync(join(OUT, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
}
