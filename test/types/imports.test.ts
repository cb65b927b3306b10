import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

/**
 * Who may import whom inside `src`: a folder, or one file of a folder. A folder may always import itself; `gen` is the
 * generated code. A file is held to the most specific row above it: its own, its folder's, or its room's.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  primitives: [],
  errors: [],
  solana: ["primitives"],
  venues: ["primitives", "errors", "solana"],
  chain: ["primitives", "errors", "solana"],
  market: [
    "primitives",
    "errors",
    "solana",
    "venues/venue.ts",
    "venues/spot-bound.ts",
    "venues/bound-table.ts",
    "chain/port.ts",
  ],
  trade: [
    "primitives",
    "errors",
    "solana",
    "venues/venue.ts",
    "venues/spot-bound.ts",
    "venues/bound-table.ts",
    "chain/port.ts",
    "market/port.ts",
    "accounts/port.ts",
  ],
  accounts: ["primitives", "errors"],
  api: ["primitives", "errors", "trade", "accounts", "gen"],
  client: ["primitives", "solana/programs.ts", "solana/hub-mints.ts", "gen"],
  sandbox: ["primitives", "solana"],
  shadow: ["primitives", "errors", "solana", "venues/venue.ts", "venues/registry.ts"],
  config: ["primitives", "errors/closest.ts", "accounts/secrets.ts", "chain/landing/relay-config.ts", "chain/port.ts"],
  app: [
    "primitives",
    "config",
    "accounts",
    "api",
    "chain",
    "market",
    "sandbox/sandbox.ts",
    "shadow",
    "trade",
    "venues/registry.ts",
  ],
  process: [
    "config",
    "app/app.ts",
    "app/chain/embedded-chain.ts",
    "app/shadow/shadow-parts.ts",
    "client/cli",
    "sandbox/sandbox.ts",
  ],
  "process/command-line.ts": ["config"],
  "process/preflight.ts": ["config"],
  "process/start-failure.ts": ["config", "errors"],
  "process/start-page.ts": ["primitives", "app/app.ts"],
  "process/worker-messages.ts": ["primitives", "app/other-workers.ts"],
  "process/workers.ts": [],
};

/** The one file in JavaScript: it runs before the code that makes reading TypeScript cheap. It imports nothing of ours. */
const PLAIN_FILE = "process/compile-cache.js";

/** Packages that stay in certain rooms; packages not named here may be used anywhere. */
const ONLY_IN: Readonly<Record<string, readonly string[]>> = {
  litesvm: ["sandbox", "shadow"],
  kysely: ["accounts"],
  pg: ["accounts"],
  "node:sqlite": ["accounts"],
  "@bufbuild/protobuf": ["api", "client", "chain"],
  "@bufbuild/protovalidate": ["api"],
  "@connectrpc/connect": ["api", "client"],
  "@connectrpc/connect-node": ["api", "client"],
  "@connectrpc/connect-fastify": ["api"],
};

/**
 * Rooms that take clock and randomness as arguments, so that every test can set them. A room (`market`, `trade/submit`) is added
 * here once nothing in it reads them from the machine.
 */
const TIME_COMES_IN: readonly string[] = [
  "errors",
  "solana",
  "venues",
  "chain",
  "market",
  "trade",
  "accounts",
  "api",
  "shadow",
  "client/trading",
];

/** How code reads the machine's clock or randomness: globals, `process.hrtime`, Node's random sources, and the helper of the composition root. */
const FROM_THE_MACHINE =
  /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bprocess\.hrtime\b|\bMath\.random\b|\bgetRandomValues\b|\brandom\w+\b(?=[^;]*from ["']node:crypto["'])|\bcrypto\.random|\bmonotonicMs\b(?=[^;]*from "[^"]*primitives\/clock)/;

/** Heavy libraries kept out of the rooms that work on raw bytes. */
const NEVER_IN: Readonly<Record<string, readonly string[]>> = {
  "@solana/web3.js": ["primitives", "errors", "solana", "venues", "market", "trade", "accounts"],
  "@solana/kit": ["primitives", "errors", "solana", "venues", "market", "trade", "accounts"],
};

/** nextTick belongs to the event loop: importing it does not touch the process. */
const TICK = 'import { nextTick } from "node:process";';

/** The files that are commands: they alone read the environment and arguments, and end the process. */
const COMMANDS = [
  "shadow/main.ts",
  "process/main.ts",
  "process/cli.ts",
  "process/service.ts",
  "client/cli/main.ts",
  "api/pages/strip-modules.ts",
];

const ROOT = resolve(import.meta.dirname, "../..");
const SRC = join(ROOT, "src");

interface SourceFile {
  /** Path under `src`. */
  readonly path: string;
  /** The first folder of the path, or the file itself where it stands directly in `src`. */
  readonly room: string;
  readonly code: string;
  /** As written, relative or package. */
  readonly imports: readonly string[];
}

function readSources(): SourceFile[] {
  return readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.startsWith("client/dist/"))
    .sort()
    .map((path) => {
      const code = withoutComments(readFileSync(join(SRC, path), "utf8"));
      return { path, room: path.split("/")[0]!, code, imports: importsOf(code) };
    });
}

/** Blanks comments; strings and templates are stepped over, so that a "//" inside one stays. */
function withoutComments(code: string): string {
  return code.replace(
    /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g,
    (_, string: string | undefined) => string ?? " ",
  );
}

/** Everything a file imports: import and export from, for their effect alone, and at run time. */
function importsOf(code: string): string[] {
  const statements = /^\s*(?:import|export)\b[^"';]*?\bfrom\s*["']([^"']+)["']|^\s*import\s*["']([^"']+)["']/gm;
  const calls = /\bimport\s*\(\s*["']([^"']+)["']/g;
  return [...code.matchAll(statements), ...code.matchAll(calls)].map((match) => match[1] ?? match[2]!);
}

/** Path under `src` of what a relative import names, or `gen/…`; undefined for packages. */
function targetOf(file: SourceFile, written: string): string | undefined {
  if (!written.startsWith(".")) return undefined;
  const target = resolve(SRC, dirname(file.path), written);
  return target.startsWith(`${SRC}/`) ? relative(SRC, target) : relative(ROOT, target);
}

/** What a file may import: the row of the longest name above it. */
function rowOf(path: string): readonly string[] {
  const names = Object.keys(MAY_IMPORT).filter((name) => path === name || path.startsWith(`${name}/`));
  return MAY_IMPORT[names.sort((a, b) => b.length - a.length)[0]!] ?? [];
}

const packageOf = (written: string): string => written.match(/^(?:@[^/]+\/)?[^/]+/)![0];

const sources = readSources();
const imports = sources.flatMap((file) =>
  file.imports.map((written) => ({ file, written, target: targetOf(file, written) })),
);

describe("imports in src", () => {
  it("are read at all", () => {
    expect(sources.length).toBeGreaterThan(20);
    expect(imports.length).toBeGreaterThan(sources.length);
    expect(importsOf(`import {\n  a,\n} from "./a.ts";\nexport type { B } from './b.ts';\nimport "c";\n`)).toEqual([
      "./a.ts",
      "./b.ts",
      "c",
    ]);
    expect(importsOf('const later = await import("./d.ts");')).toEqual(["./d.ts"]);
    expect(withoutComments('a(); // process.exit\nb("//not a comment"); /* import "x" */')).toBe(
      'a();  \nb("//not a comment");  ',
    );
  });

  it("go only where the table allows", () => {
    const wrong = imports.filter(({ file, target }) => {
      if (target === undefined) return false;
      if (target.split("/")[0] === file.room) return false;
      return !rowOf(file.path).some((place) => target === place || target.startsWith(`${place}/`));
    });
    expect(wrong.map(({ file, target }) => `${file.path} → ${target}`)).toEqual([]);
  });

  it("name packages only in the rooms they belong to", () => {
    const wrong = imports.filter(({ file, written, target }) => {
      if (target !== undefined) return false;
      const name = packageOf(written);
      return (
        (Object.hasOwn(ONLY_IN, name) && !ONLY_IN[name]!.includes(file.room)) ||
        (Object.hasOwn(NEVER_IN, name) && NEVER_IN[name]!.includes(file.room))
      );
    });
    expect(wrong.map(({ file, written }) => `${file.path} → ${written}`)).toEqual([]);
  });

  it("name files, and none that is a test", () => {
    const wrong = imports.filter(
      ({ target }) =>
        target !== undefined && target !== PLAIN_FILE && (!target.endsWith(".ts") || target.endsWith(".test.ts")),
    );
    expect(wrong.map(({ file, written }) => `${file.path} → ${written}`)).toEqual([]);
  });

  it("form no cycle", () => {
    const graph = new Map(sources.map(({ path }) => [path, new Set<string>()]));
    for (const { file, target } of imports) if (target !== undefined) graph.get(file.path)!.add(target);
    expect(findCycle(graph)).toEqual([]);
    expect(
      findCycle(
        new Map([
          ["a", new Set(["b"])],
          ["b", new Set(["c"])],
          ["c", new Set(["b"])],
        ]),
      ),
    ).toEqual(["b", "c", "b"]);
  });

  it("go downhill between rooms: of two, one alone imports the other", () => {
    const graph = new Map(sources.map(({ room }) => [room, new Set<string>()]));
    for (const { file, target } of imports) {
      const room = target?.split("/")[0];
      if (room !== undefined && room !== file.room) graph.get(file.room)!.add(room);
    }
    expect(findCycle(graph)).toEqual([]);
  });

  it("meet no barrel", () => {
    expect(sources.map(({ path }) => path).filter((path) => /(^|\/)index\.ts$/.test(path))).toEqual([]);
  });
});

describe("the process", () => {
  it("is touched by commands alone", () => {
    const touching = sources.filter(
      ({ path, code, imports: written }) =>
        !COMMANDS.includes(path) &&
        (/(?<![\w.$#])process\s*\.\s*\w/.test(withoutStrings(code)) ||
          (written.includes("node:process") && !code.includes(TICK))),
    );
    expect(touching.map(({ path }) => path)).toEqual([]);
  });
});

describe("clock and randomness", () => {
  it.each(TIME_COMES_IN)("come into %s as arguments", (room) => {
    const inRoom = sources.filter(({ path }) => path.startsWith(`${room}/`) && !COMMANDS.includes(path));
    expect(inRoom.length).toBeGreaterThan(0);
    expect(inRoom.filter(({ code }) => FROM_THE_MACHINE.test(code)).map(({ path }) => path)).toEqual([]);
  });

  it("are recognized in every form", () => {
    for (const code of [
      "const now = Date.now;",
      "const at = new Date();",
      "performance.now() - startedAt",
      "wait * Math.random()",
      "import { randomInt } from 'node:crypto';",
      'import { monotonicMs, type Now } from "../primitives/clock.ts";',
    ])
      expect(code).toMatch(FROM_THE_MACHINE);
    expect("new Date(atMs); monotonicMs(); options.random(); options.randomBytes(4)").not.toMatch(FROM_THE_MACHINE);
  });
});

/** Blanks plain strings: prose may speak of a process. */
function withoutStrings(code: string): string {
  return code.replace(/"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g, '""');
}

/** The files of one cycle, the first again at the end; empty when there is none. */
function findCycle(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (node: string): string[] => {
    const at = path.indexOf(node);
    if (at !== -1) return [...path.slice(at), node];
    if (done.has(node)) return [];
    path.push(node);
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next);
      if (cycle.length > 0) return cycle;
    }
    path.pop();
    done.add(node);
    return [];
  };
  for (const node of graph.keys()) {
    const cycle = visit(node);
    if (cycle.length > 0) return cycle;
  }
  return [];
}
