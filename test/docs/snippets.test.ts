import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { childEnvironment } from "../support/child-environment.ts";
import { freePorts } from "../support/free-ports.ts";
import { isWhole } from "../support/whole.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** Commands of the pages that are run otherwise. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "npm ci && npm run demo": "it reinstalls; the demo checks itself and exits with 1 if a trade differs",
  "npm ci && npm test": "this is part of it",
  "npm start": "it is what these tests start",
  "export ADMIN=http://127.0.0.1:9090": "these tests' service has another port, in this variable",
  "export KEY_PEPPER=$(openssl rand -hex 32) TOKEN_KEYS=k1:$(openssl rand -hex 32) POSTGRES_PASSWORD=$(openssl rand -hex 16)":
    "it sets what the compose file needs",
  "docker compose up --detach": "it pulls images; test/integration/deploy.test.ts reads the compose file",
  "docker compose stop chain": "as the compose file's start",
  "docker compose start chain": "as the compose file's start",
};

/** Pages whose snippets are run, and whether they have programs. Those of PROGRAMS_LATER only in `npm run slow:exhaustive`. */
const PAGES: readonly (readonly [page: string, hasPrograms: boolean])[] = [
  ["README.md", true],
  ["docs/guide.md", true],
  ["docs/routing.md", false],
  ["docs/guides/bot.md", true],
  ["docs/guides/service.md", true],
  ["docs/guides/wallet.md", true],
  ["docs/guides/operator.md", false],
  ["docs/guides/migrate.md", false],
];

/** Their programs are like those of the README and the guide, and each takes seconds to start. */
const PROGRAMS_LATER = ["docs/guides/bot.md", "docs/guides/service.md", "docs/guides/wallet.md"];

/** A fenced block of a page. `file`: the name in its first line, where it has one, under which a reader saves it. */
interface Block {
  readonly language: string;
  readonly text: string;
  readonly file: string | undefined;
}

function blocksOf(page: string): Block[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, body]) => ({
    language: language!,
    text: body!,
    file: /^\/\/ (\S+\.\w+)\n/.exec(body!)?.[1],
  }));
}

const pagesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`);

/** What a reader types: a shell block, less the commands that are run otherwise. */
function typed(block: Block): string {
  const lines = block.text.split("\n").filter((line) => !Object.hasOwn(ELSEWHERE, line.trim()));
  return lines.join("\n").trim();
}

const EVERY_PAGE = ["README.md", "CONTRIBUTING.md", "SECURITY.md", ...pagesIn("docs")];

it.each(EVERY_PAGE)("%s has no command that zsh reads otherwise", (page) => {
  // By default its prompt takes # for a word, an apostrophe behind it for a quote, and ? for a pattern of file names.
  const odd = /\s#|^[^"']*\s[^\s"']*\?/;
  const lines = blocksOf(page).flatMap(({ language, text }) => (language === "sh" ? text.split("\n") : []));
  expect(lines.filter((line) => odd.test(line))).toEqual([]);
});

const hasGrpcurl = spawnSync("grpcurl", ["-version"]).error === undefined;
const reader = mkdtempSync(join(tmpdir(), "tradewire-reader-"));
let service: ReturnType<typeof spawn>;
let exported = "";
let adminUrl = "";

/** A checkout as a reader has it: the repository's entries, and files of the reader's own beside them. */
function checkOut(): void {
  for (const entry of readdirSync(ROOT)) {
    if (entry !== "data" && entry !== "dist") symlinkSync(join(ROOT, entry), join(reader, entry));
  }
  mkdirSync(join(reader, "data"));
}

/** The shell of a reader: no program of this project's on its path. */
function readersPath(): string {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.filter((folder) => !folder.includes("node_modules")).join(delimiter);
}

beforeAll(async () => {
  checkOut();
  const port = await freePorts(2);
  const adminPort = port + 1;
  adminUrl = `http://127.0.0.1:${adminPort}`;
  service = spawn(process.execPath, ["src/process/main.ts"], {
    cwd: ROOT,
    env: childEnvironment({
      PORT: `${port}`,
      ADMIN_PORT: `${adminPort}`,
      SANDBOX_PORT: "0",
      DATA_DIR: join(reader, "data"),
    }),
    stdio: ["ignore", "pipe", "ignore"],
  });
  let page = "";
  for await (const chunk of service.stdout!) {
    page += chunk;
    const line = /^ +(\. '.*demo\.env')$/m.exec(page);
    if (line !== null) {
      exported = line[1]!;
      break;
    }
  }
  expect(exported).toContain("demo.env");
});

afterAll(async () => {
  const ended = new Promise((resolve) => service.once("exit", resolve));
  service.kill("SIGKILL");
  await ended;
  rmSync(reader, { recursive: true, force: true });
});

/** Pastes a block into the reader's shell, after the line that the start page prints. */
function paste(script: string): Promise<{ code: number | null; output: string }> {
  const shell = spawn("bash", ["-euo", "pipefail"], {
    cwd: reader,
    env: childEnvironment({ PATH: readersPath(), HOME: process.env.HOME ?? "", ADMIN: adminUrl }),
    stdio: ["pipe", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [shell.stdout, shell.stderr]) stream.on("data", (chunk) => (output += chunk));
  shell.stdin.end(`${exported}\n${script}\n`);
  return new Promise((resolve) => shell.once("close", (code) => resolve({ code, output })));
}

it("runs the snippets of every guide that has any", () => {
  const guides = readdirSync(join(ROOT, "docs/guides")).map((name) => `docs/guides/${name}`);
  const isRun = new Set(PAGES.map(([page]) => page));
  expect(guides.filter((page) => !isRun.has(page) && blocksOf(page).length > 0)).toEqual([]);
});

describe.each(PAGES)("%s", (page, hasPrograms) => {
  const blocks = blocksOf(page);
  for (const { file, text } of blocks) {
    if (file !== undefined) beforeAll(() => writeFileSync(join(reader, file), text));
  }

  it("has a name in every program, so that a reader knows what to save it as", () => {
    const programs = blocks.filter(({ language }) => ["ts", "js"].includes(language));
    expect(programs.length > 0).toBe(hasPrograms);
    for (const { file } of programs) expect(file).toBeDefined();
    for (const { file } of programs) expect(blocks.map(({ text }) => text).join()).toContain(`node ${file}`);
  });

  for (const block of blocks.filter(({ language }) => language === "sh")) {
    const script = typed(block);
    if (script === "" || (!isWhole && PROGRAMS_LATER.includes(page) && /\bnode \S+$/m.test(script))) continue;
    const first = script.split("\n")[0]!;
    if (script.startsWith("grpcurl") && !hasGrpcurl) {
      process.stdout.write(`grpcurl is not installed: its block in ${page} is not run\n`);
      continue;
    }
    it(`runs as printed: ${first}`, async () => {
      const { code, output } = await paste(script);
      expect(output).not.toContain('"success":false');
      expect({ code, output }).toMatchObject({ code: 0 });
    });
  }
});

it("runs the library's steps in a wallet that holds some of the token already", async () => {
  const { code, output } = await paste("npx node first.ts\nnpx node steps.ts");
  expect({ code, output }).toMatchObject({ code: 0 });
});
