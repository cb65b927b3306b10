import { performance } from "node:perf_hooks";
import { venues } from "../venues/registry.ts";
import { serveShadow } from "./serve-shadow.ts";

// What the shadow process runs: where to listen, the memory it may use in MiB, and the processor time of routine checks in percent.
const [path, memoryMiB, cpuPercent] = process.argv.slice(2);
serveShadow(venues, {
  path: path!,
  memoryBytes: Number(memoryMiB) * 2 ** 20,
  cpuPercent: Number(cpuPercent),
  memoryUsed: () => process.memoryUsage.rss(),
  cpuMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
  nowMs: () => performance.now(),
  exit: () => process.exit(0),
});
// The parent is gone: so is what this is for. Killed, it may be gone before its last question is answered.
const orphaned = () => process.exit(0);
process.on("message", () => process.send?.("alive", undefined, undefined, (error) => error !== null && orphaned()));
process.on("disconnect", orphaned);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
