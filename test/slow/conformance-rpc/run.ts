import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";

const HELP = `Runs the conformance suite of the Connect project against the edge and against the client library's transport. Needs Go and buf.

  npm run slow:conformance-rpc -- [options of the suite, such as --run PATTERN, --trace, -v]
  npm run slow:conformance-rpc -- --help
`;

// The conformance suite of the Connect project against the edge and against the client library's transport. Suite and
// definition are fetched and built by Go, once; no case is expected to fail.

const SUITE = "connectrpc.com/conformance";
/** The newest whose own dependencies are published. */
const VERSION = "v1.0.6";

const here = import.meta.dirname;
const cache = path.resolve(here, "../../../node_modules/.cache/conformance-rpc");
const descriptors = path.join(cache, "definition.binpb");
const runner = path.join(cache, "connectconformance");

function run(command: string, args: readonly string[], env: Record<string, string> = {}): string {
  const { error, status, stdout } = spawnSync(command, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}`);
  return stdout;
}

function prepare(): void {
  mkdirSync(cache, { recursive: true });
  const { Dir } = JSON.parse(run("go", ["mod", "download", "-json", `${SUITE}@${VERSION}`])) as { Dir: string };
  run("buf", ["build", path.join(Dir, "proto"), "-o", descriptors]);
  run("go", ["install", `${SUITE}/cmd/connectconformance@${VERSION}`], { GOBIN: cache });
}

/** Runs the suite in one mode. Further arguments of this program go to the suite: `--run`, `--trace`, `-v`. */
function check(mode: "server" | "client"): boolean {
  console.log(`\n${mode}:`);
  const features = path.join(here, `${mode}-features.yaml`);
  const program = [process.execPath, path.join(here, `${mode}.ts`)];
  const { status } = spawnSync(
    runner,
    ["--mode", mode, "--conf", features, "--max-servers", "2", ...process.argv.slice(2), "--", ...program],
    { env: { ...process.env, CONFORMANCE_DESCRIPTORS: descriptors }, stdio: "inherit" },
  );
  return status === 0;
}

if (process.argv.includes("--help")) {
  process.stdout.write(HELP);
  process.exit(0);
}
if (spawnSync("go", ["version"]).error !== undefined) {
  console.error("The conformance suite is a Go program: install Go 1.24 or later, then run this again.");
  process.exit(1);
}
prepare();
const passed = [check("server"), check("client")];
process.exit(passed.every(Boolean) ? 0 : 1);
