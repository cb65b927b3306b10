import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import { startTestService, type TestService } from "../../support/service.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
/** What the package asks its users to install beside it, and what they make calls with. */
const INSTALLED = ["@bufbuild/protobuf", "@bufbuild/protovalidate", "@connectrpc/connect", "@connectrpc/connect-node"];
const TRANSPORTS = [
  ["gRPC", 'createGrpcTransport({ baseUrl: "http://127.0.0.1:8080" })'],
  ["Connect", 'createConnectTransport({ baseUrl: "http://127.0.0.1:8080", httpVersion: "2" })'],
  ["gRPC-Web", 'createGrpcWebTransport({ baseUrl: "http://127.0.0.1:8080", httpVersion: "1.1" })'],
] as const;

let project: string;
let tarball: string;
let service: TestService;

/** Leaves the event loop free: the service that is called runs in this process. */
async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { cwd, timeout: 60_000 });
  return stdout;
}

/** What `npm install` of the tarball does, with the packages of this repository in place of the registry's. */
async function install(): Promise<void> {
  const unpacked = join(project, "node_modules/@tradewire/api");
  mkdirSync(unpacked, { recursive: true });
  await run("tar", ["-xzf", tarball, "--strip-components", "1", "-C", unpacked], project);
  const manifest = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8")) as Record<string, object>;
  expect(INSTALLED).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies!)));
  expect(INSTALLED).toEqual(expect.arrayContaining(Object.keys(manifest.peerDependencies!)));
  for (const name of INSTALLED) {
    mkdirSync(dirname(join(project, "node_modules", name)), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), join(project, "node_modules", name));
  }
}

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), "tradewire-api-package-"));
  const printed = await run("npm", ["pack", "--silent", "--pack-destination", project], join(ROOT, "gen"));
  tarball = join(project, printed.trim().split("\n").at(-1)!);
  writeFileSync(join(project, "package.json"), '{ "name": "user", "private": true, "type": "module" }\n');
  await install();
  service = await startTestService();
});
afterAll(async () => {
  await service?.close();
  rmSync(project, { recursive: true, force: true });
});

describe("@tradewire/api, packed and installed", () => {
  const readme = readFileSync(join(ROOT, "gen/README.md"), "utf8");
  const [, snippet] = readme.match(/```ts\n([\s\S]*?)```/)!;
  const [, printed] = TRANSPORTS[0];

  for (const [wire, transport] of TRANSPORTS) {
    test(`makes the README's typed call over ${wire}`, async () => {
      expect(snippet).toContain(printed);
      expect(readme).toContain(transport);
      const factory = /\w+/.exec(transport)![0];
      const code = snippet!.replace("{ createGrpcTransport }", `{ ${factory} }`).replace(printed, transport);
      const url = code.replace("http://127.0.0.1:8080", service.url);
      writeFileSync(join(project, "use.ts"), `${url}\nconsole.log(levels.map(({ priority }) => priority).join());\n`);
      await checkTypes("use.ts");
      expect(await run(process.execPath, ["use.ts"], project)).toMatch(/^\d(,\d)+\n$/);
    });
  }

  test("has the health service, the generated files by path, and nothing but compiled code", async () => {
    writeFileSync(
      join(project, "other.ts"),
      `import { Health } from "@tradewire/api/health";
       import { TradeService } from "@tradewire/api/tradewire/v1/trade_pb.js";
       console.log(Health.typeName, TradeService.methods.length);`,
    );
    await checkTypes("other.ts");
    expect(await run(process.execPath, ["other.ts"], project)).toBe(
      `grpc.health.v1.Health ${TradeService.methods.length}\n`,
    );
    const files = (await run("tar", ["-tzf", tarball], ROOT)).trim().split("\n");
    expect(files).toContain("package/README.md");
    expect(files.filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"))).toEqual([]);
  });

  test("has a manifest in order", async () => {
    const bin = join(ROOT, "node_modules/.bin");
    await run(join(bin, "attw"), [tarball, "--profile", "esm-only"], ROOT);
    expect(await run(join(bin, "publint"), ["--strict", tarball], ROOT)).toContain("All good!");
  });
});

async function checkTypes(file: string): Promise<void> {
  const options = "--noEmit --strict --module nodenext --target es2022 --lib es2024,dom --types node --typeRoots".split(
    " ",
  );
  await run(join(ROOT, "node_modules/.bin/tsc"), [...options, join(ROOT, "node_modules/@types"), file], project);
}
