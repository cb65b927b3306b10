import { fileURLToPath } from "node:url";
import { BenchChild, serviceArgs } from "../child.ts";
import type { CallWork, Usage, UsageQuestion } from "../spread/spread-service.ts";
import type { ClosedLoop, LoopAnswer } from "./callers.ts";

/** The service of a revision under spread traffic. */
export interface SpreadServer {
  readonly child: BenchChild;
  readonly port: number;
  /** What its callers know. */
  readonly file: string;
}

/** @param nodeArgs beside those that the service runs with */
export async function startSpreadServer(
  root: string,
  args: readonly string[] = [],
  nodeArgs: readonly string[] = [],
): Promise<SpreadServer> {
  const child = new BenchChild(`${root}/test/bench/spread/spread-service.ts`, root, {
    args,
    nodeArgs: [...nodeArgs, ...serviceArgs(root)],
  });
  return { child, ...(await child.next<{ readonly port: number; readonly file: string }>()) };
}

export async function startCallers(file: string): Promise<BenchChild> {
  const child = new BenchChild(fileURLToPath(new URL("callers.ts", import.meta.url)), process.cwd(), { args: [file] });
  await child.next();
  return child;
}

/**
 * Processor time of the server per call, and what is allocated for it, right only if no collection runs meanwhile.
 *
 * @param work what calls do from now on
 * @returns microseconds and bytes
 */
export async function measureCalls(
  callers: BenchChild,
  server: { readonly child: BenchChild; readonly port: number },
  loop: Pick<ClosedLoop, "wire" | "calls"> & { readonly isOnePair?: boolean },
  work?: CallWork,
): Promise<{ readonly micros: number; readonly bytes: number; readonly answerBytes: number }> {
  const before = await server.child.ask<Usage>({ work } satisfies UsageQuestion);
  const { port } = server;
  const answer = await callers.ask<LoopAnswer>({
    isOnePair: false,
    ...loop,
    kind: "closed",
    port,
  } satisfies ClosedLoop);
  const after = await server.child.ask<Usage>({});
  if (answer.busy > loop.calls / 20)
    throw new Error(`${answer.busy} of ${loop.calls} calls were refused: too busy a machine`);
  return {
    micros: (after.cpu - before.cpu) / loop.calls,
    bytes: (after.bytes - before.bytes) / loop.calls,
    answerBytes: answer.bytes,
  };
}
