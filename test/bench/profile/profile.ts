/**
 * Where the processor time of a call on spread traffic goes, by `perf`, which sees what no profile of V8 does: builtins, C++, the kernel.
 * `npm run bench:profile -- gRPC`; REST without a wire. `perf` needs no counters of the processor, so it works in a virtual machine.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { machineLoad, table } from "../measure.ts";
import { measureCalls, startCallers, startSpreadServer } from "../wires/measured-calls.ts";
import { WIRES, type WireName } from "../wires/wire-requests.ts";
import { callerShares, kindShares, type Share } from "./stacks.ts";

const run = promisify(execFile);

const WARM_CALLS = 24_000;
const SAMPLED_CALLS = 24_000;
/** Samples a second of each thread. */
const SAMPLES = 5_000;
/** What `perf` takes until it samples. Milliseconds. */
const ATTACH_MS = 500;
/** Functions shown. */
const SHOWN = 60;
/** Larger texts of stacks do not come. Bytes. */
const MAX_TEXT = 1024 ** 3;
/** Has V8 name what it compiles, for `perf`, and write nothing else. */
const NODE_ARGS = ["--perf-basic-prof", "--interpreted-frames-native-stack", "--no-logfile-per-isolate"];

const wire = WIRES.find((name) => name === (process.argv[2] ?? "REST"));
if (wire === undefined) throw new Error(`A wire is one of: ${WIRES.join(", ")}.`);
await run("perf", ["--version"]).catch(() => {
  throw new Error("`perf` is not installed; on Debian it is in the package linux-perf.");
});
const folder = await mkdtemp(join(tmpdir(), "tradewire-profile-"));
try {
  const stacks = await sampledStacks(wire, join(folder, "samples"));
  const percent = ({ name, share, inside }: Share) => [`${(share * 100).toFixed(2)} %`, name, inside];
  console.log(table([["share", "of a call", ""], ...kindShares(stacks).map(percent)]));
  console.log(
    `\n${table([["share", "closest JavaScript function", "of it"], ...callerShares(stacks).slice(0, SHOWN).map(percent)])}`,
  );
  console.log(machineLoad());
} finally {
  await rm(folder, { recursive: true });
}

/** Samples of a warm service, as `perf script` writes them. */
async function sampledStacks(wire: WireName, file: string): Promise<string> {
  const server = await startSpreadServer(process.cwd(), [], NODE_ARGS);
  const callers = await startCallers(server.file);
  const { pid } = server.child;
  try {
    await measureCalls(callers, server, { wire, calls: WARM_CALLS }, "call and build and update");
    const args = ["record", "-e", "cpu-clock", "-F", `${SAMPLES}`, "-g", "-p", `${pid}`, "-o", file];
    const perf = spawn("perf", args, { stdio: "ignore" });
    await sleep(ATTACH_MS);
    await measureCalls(callers, server, { wire, calls: SAMPLED_CALLS });
    perf.kill("SIGINT");
    await once(perf, "exit");
    // While the process runs: its names are in a file that goes with it.
    return (await run("perf", ["script", "-i", file, "-F", "comm,ip,sym"], { maxBuffer: MAX_TEXT })).stdout;
  } finally {
    callers.close();
    server.child.close();
    await rm(join(tmpdir(), `perf-${pid}.map`), { force: true });
  }
}
