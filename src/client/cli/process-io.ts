import { mkdir, open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { CliIo } from "./command.ts";

/** The parts of the process that the command line uses. */
interface CliProcess {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  once(event: "SIGINT" | "SIGTERM", listener: () => void): unknown;
}

const OWNER_ONLY = 0o600;

/**
 * The process as commands access it. Output that nobody reads, or for which the disk has no room, is lost and ends nothing: a trade
 * goes on to its end, and the exit code says how it ended.
 */
export function processIo(running: CliProcess): CliIo {
  running.stdout.on("error", ({ message, code }: NodeJS.ErrnoException) => {
    if (code !== "EPIPE") running.stderr.write(`The output could not be written: ${message}\n`);
  });
  running.stderr.on("error", () => undefined);
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) running.once(signal, () => interrupted.abort());
  return {
    out: (line) => void running.stdout.write(`${line}\n`),
    note: (line) => void running.stderr.write(`${line}\n`),
    env: running.env,
    readFile: (path) => readFile(path, "utf8"),
    writeSecret: (path, text) => writeOwned(path, text, "w"),
    createSecret: (path, text) => writeOwned(path, text, "wx"),
    isInteractive: running.stdin.isTTY === true,
    confirm: (question) => confirm(running, question),
    askSecret: (question) => askSecret(running, question),
    signal: interrupted.signal,
  };
}

/** The mode of `open` applies to new files only: an existing file that others could read is restricted before anything is written. */
async function writeOwned(path: string, text: string, flag: "w" | "wx"): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, flag, OWNER_ONLY);
  try {
    await file.chmod(OWNER_ONLY);
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}

function confirm({ stdin, stderr }: CliProcess, question: string): Promise<boolean | undefined> {
  if (stdin.isTTY !== true) return Promise.resolve(undefined);
  const lines = createInterface({ input: stdin, output: stderr });
  return new Promise((resolve) => {
    lines.question(question, (answer) => {
      resolve(/^y(es)?$/i.test(answer.trim()));
      lines.close();
    });
    lines.once("close", () => resolve(false));
  });
}

/** Discards the echo of what is typed. */
function askSecret({ stdin, stderr }: CliProcess, question: string): Promise<string | undefined> {
  if (stdin.isTTY !== true) return Promise.resolve(undefined);
  stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silent, terminal: true });
  return new Promise((resolve) => {
    lines.question("", (answer) => {
      lines.close();
      stderr.write("\n");
      resolve(answer);
    });
    lines.once("close", () => resolve(undefined));
  });
}
