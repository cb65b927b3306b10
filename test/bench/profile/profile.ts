/**
 * Where the processor time of a call on spread traffic or of a fresh submit goes, by `perf`, which sees what no profile of V8 does: builtins,
 * C++, the kernel. `npm run bench:profile -- gRPC` or `-- submit`; REST without either. `perf` needs no counters of the processor, so it works in a virtual machine.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { machineLoad, table } from "../measure.ts";
import { AT_ONCE, SUBMITS, warmUp } from "../submit/submit-bench.ts";
import { SubmitRig } from "../submit/submit-rig.ts";
import { callAll } from "../submit/trades.ts";
import { measureCalls, startCallers, startSpreadServer } from "../wires/measured-calls.ts";
import { WIRES, type WireName } from "../wires/wire-requests.ts";
import { callerShares, kindShares, newestNames, type Share, threadShares } from "./stacks.ts";

const run = promisify(execFile);

const WARM_CALLS = 24_000;
const SAMPLED_CALLS = 24_000;
const SAMPLED_BATCHES = 8;
/** Samples a second of each thread. */
const SAMPLES = 5_000;
/** What `perf` takes until it samples. Milliseconds. */
const ATTACH_MS = 500;
/** Functions shown. */
const SHOWN = 60;
/** Larger texts of stacks do not come. Bytes. */
const MAX_TEXT = 1024 ** 3;
/** What is profiled in place of a wire's calls. */
const SUBMIT = "submit";
/** Has V8 name what it compiles, for `perf`, and write nothing else. */
const NODE_ARGS = ["--perf-basic-prof", "--interpreted-frames-native-stack", "--no-logfile-per-isolate"];

const subject = process.argv[2] ?? "REST";
const wire = WIRES.find((name) => name === subject);
if (wire === undefined && subject !== SUBMIT)
  throw new Error(`What to profile is one of: ${[...WIRES, SUBMIT].join(", ")}.`);
await run("perf", ["--version"]).catch(() => {
  throw new Error("`perf` is not installed; on Debian it is in the package linux-perf.");
});
const folder = await mkdtemp(join(tmpdir(), "tradewire-profile-"));
try {
  const file = join(folder, "samples");
  const stacks = await (wire === undefined ? submitStacks(file) : callStacks(wire, file));
  const percent = ({ name, share, inside }: Share) => [`${(share * 100).toFixed(2)} %`, name, inside];
  console.log(table([["share", "thread", "of it"], ...threadShares(stacks).map(percent)]));
  console.log(
    `\n${table([["share", `of a ${wire === undefined ? SUBMIT : "call"}`, ""], ...kindShares(stacks).map(percent)])}`,
  );
  console.log(
    `\n${table([["share", "closest JavaScript function", "of it"], ...callerShares(stacks).slice(0, SHOWN).map(percent)])}`,
  );
  console.log(machineLoad());
} finally {
  await rm(folder, { recursive: true });
}

/** Samples of calls to a warm service, as `perf script` writes them. */
async function callStacks(wire: WireName, file: string): Promise<string> {
  const server = await startSpreadServer(process.cwd(), [], NODE_ARGS);
  const callers = await startCallers(server.file);
  const { pid } = server.child;
  try {
    await measureCalls(callers, server, { wire, calls: WARM_CALLS }, "call and build and update");
    await sample(pid, file, () => measureCalls(callers, server, { wire, calls: SAMPLED_CALLS }));
    return await stacksIn(pid, [file]);
  } finally {
    callers.close();
    server.child.close();
    await rm(mapOf(pid), { force: true });
  }
}

/** The same of submits, and of nothing between their batches: a signed trade lives for half a minute, too short for all to be signed first. */
async function submitStacks(file: string): Promise<string> {
  const rig = await SubmitRig.start(process.cwd(), 1, {}, NODE_ARGS);
  const { pid } = rig;
  try {
    await warmUp(rig);
    const files = Array.from({ length: SAMPLED_BATCHES }, (_, batch) => `${file}-${batch}`);
    for (const each of files) {
      const requests = (await rig.sign(SUBMITS)).map(({ request }) => request);
      await sample(pid, each, () => callAll(rig.port, requests, AT_ONCE));
    }
    return await stacksIn(pid, files);
  } finally {
    rig.close();
    await rm(mapOf(pid), { force: true });
  }
}

/** Samples a process while work is done. */
async function sample(pid: number | undefined, file: string, work: () => Promise<unknown>): Promise<void> {
  const args = ["record", "-e", "cpu-clock", "-F", `${SAMPLES}`, "-g", "-p", `${pid}`, "-o", file];
  const perf = spawn("perf", args, { stdio: "ignore" });
  const ended = once(perf, "exit");
  await sleep(ATTACH_MS);
  await work();
  perf.kill("SIGINT");
  await ended;
}

/** What was sampled, as text. While the process runs: its names are in a file that goes with it. */
async function stacksIn(pid: number | undefined, files: readonly string[]): Promise<string> {
  // Another file in its place: the process still writes to the old one.
  const map = mapOf(pid);
  await writeFile(`${map}.newest`, newestNames(await readFile(map, "utf8")));
  await rename(`${map}.newest`, map);
  const texts: string[] = [];
  for (const file of files) {
    const args = ["script", "-i", file, "-F", "comm,ip,sym"];
    texts.push((await run("perf", args, { maxBuffer: MAX_TEXT })).stdout);
  }
  return texts.join("\n\n");
}

/** Where V8 writes the names of what it compiles. */
function mapOf(pid: number | undefined): string {
  return join(tmpdir(), `perf-${pid}.map`);
}
