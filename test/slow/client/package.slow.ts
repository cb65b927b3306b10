import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../../..");
const PACKAGE = join(ROOT, "src/client");
/** The size that the package's README promises. Bytes. */
const MOST_BYTES =
  1_000 * Number(/less than (\d+) kB minified/.exec(readFileSync(join(PACKAGE, "README.md"), "utf8"))![1]);

let project: string;
let tarball: string;

function run(command: string, args: readonly string[], cwd: string): string {
  return execFileSync(command, args, { cwd, encoding: "utf8", maxBuffer: 1 << 26, stdio: ["ignore", "pipe", "pipe"] });
}

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "tradewire-package-"));
  const printed = run("npm", ["pack", "--silent", "--pack-destination", project], PACKAGE);
  tarball = join(project, printed.trim().split("\n").at(-1)!);
  writeFileSync(join(project, "package.json"), '{ "name": "user", "private": true }\n');
  run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", tarball], project);
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Uses every entry: makes a client, refuses an unreadable transaction, and names the services. */
const USE = `
  const wallet = "4Z7cXSyeFR8wNGMVXUE1TwtKn5D5Vu7FzEv69dokLv7KrQk7h6pu4LF8ZRR9yQBhc7uSM6RTTZtU1fmaxiNrxXrs";
  const client = Tradewire.connect({ baseUrl: "http://127.0.0.1:9", wallet: fromBase58(wallet) });
  let refusal;
  try { readTransaction(new Uint8Array(3)); } catch (error) { refusal = error; }
  if (!(refusal instanceof TradeError)) throw new Error("another TradeError");
  client.close();
  console.log([client.wallet.publicKey, refusal.code, TradeService.typeName, TradeService.methods.length].join(" "));
`;
const EXPECTED = /^[1-9A-HJ-NP-Za-km-z]{43,44} UNREADABLE_TRANSACTION tradewire\.v1\.TradeService 10\n$/;

describe("the packed package", () => {
  test("holds nothing of the service, and asks for nothing but two libraries", () => {
    const { dependencies } = JSON.parse(readFileSync(join(project, "node_modules/tradewire/package.json"), "utf8")) as {
      dependencies: object;
    };
    expect(Object.keys(dependencies)).toEqual(["@bufbuild/protobuf", "@connectrpc/connect"]);
    const files = run("tar", ["-tzf", tarball], ROOT);
    expect(files).not.toMatch(/litesvm|kysely|sandbox|\/trade\/build|\.so$/m);
    const text = run("tar", ["-xzOf", tarball], ROOT);
    expect(text).not.toMatch(/from "(litesvm|pg|kysely|fastify|pino)"/);
  });

  test("works as ES modules", () => {
    const imports = `import { Tradewire, TradeError, fromBase58 } from "tradewire"; import { readTransaction } from "tradewire/verify"; import { TradeService } from "tradewire/connect";`;
    writeFileSync(join(project, "use.mjs"), imports + USE);
    expect(run(process.execPath, ["use.mjs"], project)).toMatch(EXPECTED);
  });

  test("works as CommonJS, with the same classes from every entry", () => {
    const requires = `const { Tradewire, TradeError, fromBase58 } = require("tradewire"); const { readTransaction } = require("tradewire/verify"); const { TradeService } = require("tradewire/connect");`;
    writeFileSync(join(project, "use.cjs"), requires + USE);
    expect(run(process.execPath, ["use.cjs"], project)).toMatch(EXPECTED);
  });

  test("works through a bundler, and leaves out what is not used", async () => {
    const imports = `import { Tradewire, TradeError, fromBase58 } from "tradewire"; import { readTransaction } from "tradewire/verify"; import { TradeService } from "tradewire/connect";`;
    const bundle = async (contents: string) => {
      const { outputFiles } = await build({
        stdin: { contents, resolveDir: project },
        bundle: true,
        minify: true,
        format: "esm",
        platform: "browser",
        target: "es2022",
        write: false,
      });
      return outputFiles[0]!.contents;
    };
    mkdirSync(join(project, "out"), { recursive: true });
    writeFileSync(join(project, "out/bundle.mjs"), await bundle(imports + USE));
    expect(run(process.execPath, ["out/bundle.mjs"], project)).toMatch(EXPECTED);

    const size = (bytes: Uint8Array) => gzipSync(bytes, { level: 9 }).length;
    const whole = size(await bundle('export * from "tradewire";'));
    const proof = size(await bundle('export { verifyTransaction, expectTrade } from "tradewire/verify";'));
    const error = size(await bundle('export { TradeError } from "tradewire";'));
    process.stdout.write(`tradewire ${whole} bytes gzipped, tradewire/verify ${proof}, TradeError alone ${error}\n`);
    expect(whole).toBeLessThan(MOST_BYTES);
    expect(whole).toBeGreaterThan(MOST_BYTES - 2_000);
    expect(proof).toBeLessThan(whole / 2);
    expect(error).toBeLessThan(proof / 5);
  });

  test("has types for both module systems, and a manifest in order", () => {
    expect(run(join(ROOT, "node_modules/.bin/attw"), [tarball, "--format", "ascii"], ROOT)).toContain(
      "No problems found",
    );
    expect(run(join(ROOT, "node_modules/.bin/publint"), ["--strict", tarball], ROOT)).toContain("All good!");
    const code = `import { Tradewire, type Trade } from "tradewire";
      import { verifyTransaction } from "tradewire/verify";
      import { TradeService } from "tradewire/connect";
      export const buy = (client: Tradewire): Promise<Trade> => client.buy({ mint: "SOL", solAmount: 1, slippage: 0, priority: "fast" });
      export const names: string = TradeService.typeName + verifyTransaction.name;`;
    writeFileSync(join(project, "use.ts"), code);
    const options = [
      "--noEmit",
      "--strict",
      "--module",
      "nodenext",
      "--target",
      "es2022",
      "--lib",
      "es2022,dom",
      "--types",
      "",
    ];
    run(join(ROOT, "node_modules/.bin/tsc"), [...options, "use.ts"], project);
  });

  test("has a README whose programs a strict compiler takes", () => {
    const page = readFileSync(join(PACKAGE, "README.md"), "utf8");
    const given = `declare const process: { env: Record<string, string | undefined> };
      declare const mint: string, wallet: string, unsignedTransaction: Uint8Array;
      declare const answer: import("tradewire/verify").BuildAnswer, limits: import("tradewire").TradeLimits;`;
    const connected = 'declare const tw: import("tradewire").Tradewire;';
    const files = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].flatMap(([, text = ""], index) => {
      if (text.includes("connect-node")) return [];
      const begun = text.includes("const tw =") ? given : given + connected;
      writeFileSync(join(project, `readme-${index}.mts`), `${begun}\n${text}`);
      return [`readme-${index}.mts`];
    });
    expect(files).toHaveLength(3);
    const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--types", ""];
    run(join(ROOT, "node_modules/.bin/tsc"), [...options, ...files], project);
  });

  test("brings the command", () => {
    const help = run(join(project, "node_modules/.bin/tradewire"), ["--help"], project);
    expect(help).toContain("tradewire register --save");
  });
});
