import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";

/** A process of the bench that answers questions, one at a time. */
export class BenchChild {
  readonly #process: ChildProcess;
  #answer: PromiseWithResolvers<unknown> | undefined;

  /**
   * @param path of the module it runs
   * @param cwd the root of the revision it belongs to
   */
  constructor(
    path: string,
    cwd: string,
    { args = [], nodeArgs = [] }: { args?: readonly string[]; nodeArgs?: readonly string[] } = {},
  ) {
    this.#process = spawn(process.execPath, ["--expose-gc", ...nodeArgs, path, ...args], {
      cwd,
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#process.on("message", (message) => {
      this.#answer?.resolve(message);
      this.#answer = undefined;
    });
    this.#process.on("exit", (code) => this.#answer?.reject(new Error(`${path} has ended with code ${code}`)));
  }

  /** Of the process; undefined if it did not start. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** The next message of the process: its first one says that it is ready. */
  next<T>(): Promise<T> {
    this.#answer = Promise.withResolvers<unknown>();
    return this.#answer.promise as Promise<T>;
  }

  ask<T>(question: object): Promise<T> {
    const answer = this.next<T>();
    this.#process.send(question);
    return answer;
  }

  close(): void {
    // It ends itself, and removes what it has made.
    this.#process.removeAllListeners("exit").disconnect();
  }
}

/** Answers the questions of the process that started this one. */
export function answerParent(ready: object, answer: (question: never) => object | Promise<object>): void {
  process.on("message", async (question) => process.send!(await answer(question as never)));
  process.on("disconnect", () => process.exit());
  process.send!(ready);
}

/** Arguments with which Node runs code of the service in `root` as the service itself is run, in the ways that its revision has. */
export function serviceArgs(root: string): readonly string[] {
  // The last is where the rules of V8 were before.
  return ["app/v8-rules", "app/young-objects"]
    .map((name) => `${root}/src/${name}.ts`)
    .filter((path) => existsSync(path))
    .flatMap((path) => ["--import", path]);
}
