import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ANSWERS_FILE } from "../../src/api/openapi/read.ts";
import type { Tradewire } from "../../src/client/tradewire.ts";
import { differences, recordAnswers } from "../support/recorded-answers.ts";
import { startTestService, type TestService } from "../support/service.ts";

// The reference's samples, made by the modules that the page loads, are run as a reader would run them.

interface Operation {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly { readonly name: string }[];
  readonly requestBody?: object;
  readonly security: readonly object[];
  readonly responses: { readonly "200": { readonly content?: Readonly<Record<string, object>> } };
}

interface Language {
  readonly id: string;
  sample(call: object): string;
}

const DOCS = "../../src/api/pages/docs/";
const { LANGUAGES } = (await import(`${DOCS}samples.js`)) as { LANGUAGES: readonly Language[] };
const examples = (await import(`${DOCS}examples.js`)) as {
  exampleBody(id: string, mint: string): Record<string, unknown>;
  exampleParameters(id: string, mint: string): Record<string, string>;
  pathOf(path: string, parameters: readonly object[], values: Record<string, string>): string;
  rpcOf(operation: Operation): string;
  messageOf(operation: Operation, given: { values: object; body: object | undefined }, resolve: unknown): object;
  resolver(document: object): unknown;
};

/** How samples are run: the files that a reader saves them in, and one program that runs all, each below its name. */
const RUNS: Readonly<Record<string, { readonly ending: string; readonly command: string; readonly script: string }>> = {
  curl: {
    ending: "sh",
    command: "sh",
    script: 'for file in "$@"; do echo "== $file"; sh "./$file"; echo; done',
  },
  typescript: {
    ending: "ts",
    command: process.execPath,
    script: `for (const file of process.argv.slice(2)) {
      console.log("== " + file);
      await import("./" + file).catch((error) => console.log(error.message));
    }`,
  },
  python: {
    ending: "py",
    command: "python3",
    script: `import runpy, sys
for file in sys.argv[1:]:
    print("== " + file, flush=True)
    try:
        runpy.run_path(file)
    except SystemExit as refused:
        print(refused)
    sys.stdout.flush()
`,
  },
};
/** It streams until it is ended, so it comes last. */
const ENDLESS = "watchQuote";

let service: TestService;
let client: Tradewire;
let mint: string;
let signature: string;
let folder: string;
let document: { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

beforeAll(async () => {
  service = await startTestService();
  client = await service.newClient();
  mint = service.mintOn("raydium_cpmm");
  ({ signature } = await client.buy({ mint, solAmount: 1, slippage: 0.05, priority: "fast" }));
  document = await (await fetch(`${service.url}/v1/openapi.json`)).json();
  folder = mkdtempSync(join(tmpdir(), "tradewire-samples-"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
});
afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What a reader fills in where the example cannot know it. */
async function filledIn(id: string): Promise<{ values?: Record<string, string>; body?: object }> {
  const walletAddress = client.wallet.publicKey.toString();
  if (id === "createChallenge") return { body: { walletAddress } };
  if (id === "register") {
    const { body } = await service.call("/v1/auth/challenge", { walletAddress });
    const message = String(body.data!.message);
    return { body: { walletAddress, message, signature: "1".repeat(64) } };
  }
  if (id === "getTrade" || id === "watchTrade") return { values: { signature } };
  if (id === "revokeKey") return { values: { keyId: "0".repeat(8) } };
  return {};
}

/** Codes of the calls whose example cannot succeed: what it lacks is a wallet's signature, or another key. */
const REFUSED: Readonly<Record<string, string>> = {
  submit: "VALIDATION_ERROR",
  register: "INVALID_SIGNATURE",
  revokeKey: "NOT_FOUND",
};

async function callOf(path: string, verb: string, operation: Operation) {
  const { operationId: id, parameters = [] } = operation;
  const given = await filledIn(id);
  const values = { ...examples.exampleParameters(id, mint), ...given.values };
  const body = operation.requestBody === undefined ? undefined : { ...examples.exampleBody(id, mint), ...given.body };
  return {
    verb: verb.toUpperCase(),
    url: service.url + examples.pathOf(path, parameters, values),
    needsKey: operation.security.length > 0,
    body,
    isStream: operation.responses["200"].content?.["text/event-stream"] !== undefined,
    rpc: examples.rpcOf(operation),
    message: examples.messageOf(operation, { values, body }, examples.resolver(document)),
  };
}

async function forEachOperation(act: (id: string, call: Awaited<ReturnType<typeof callOf>>) => Promise<void>) {
  for (const [path, verbs] of Object.entries(document.paths)) {
    for (const [verb, operation] of Object.entries(verbs)) {
      await act(operation.operationId, await callOf(path, verb, operation));
    }
  }
}

/** Runs the samples in their order; ends with the first price of the endless one. Returns what each has printed. */
function printed(program: string, args: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, API_KEY: client.apiKey };
  const child = spawn(program, args, { cwd: folder, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let isEnding = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk;
      if (isEnding || !/== watchQuote[\s\S]*estimates/.test(output)) return;
      isEnding = true;
      // Its whole group: a shell leaves behind what it runs.
      process.kill(-child.pid!);
    });
  }
  return new Promise((resolve) => {
    child.once("close", () => {
      const parts = output.split(/^== (\w+)\.\w+\n/m).slice(1);
      resolve(new Map(parts.flatMap((id, i) => (i % 2 === 0 ? [[id, parts[i + 1]!.trim()]] : []))));
    });
  });
}

describe.each(LANGUAGES.filter(({ id }) => RUNS[id] !== undefined))("in $id", ({ id: language, sample }) => {
  const { ending, command, script } = RUNS[language]!;
  const isMissing = spawnSync(command, ["-c", ""]).error !== undefined;

  it.skipIf(isMissing)(`runs for every operation${isMissing ? ` (not run: no ${command} here)` : ""}`, async () => {
    const ids: string[] = [];
    await forEachOperation(async (id, call) => {
      writeFileSync(join(folder, `${id}.${ending}`), sample(call));
      ids.push(id);
    });
    ids.sort((a, b) => Number(a === ENDLESS) - Number(b === ENDLESS));
    writeFileSync(join(folder, `all.${ending}`), script);
    const outputs = await printed(command, [`all.${ending}`, ...ids.map((id) => `${id}.${ending}`)]);
    for (const id of ids) expect.soft(outputs.get(id), id).toMatch(expectedOf(id, language));
  });
});

/** What a sample prints. */
function expectedOf(id: string, language: string): RegExp {
  const code = REFUSED[id];
  if (code !== undefined) return new RegExp(code);
  if (id === "ping") return language === "curl" ? /^$/ : /^200$/;
  if (id === "watchTrade") return /finalized[\s\S]*end/;
  if (id === ENDLESS) return /estimates/;
  return language === "curl" ? /^\{"success":true,"data":\{/ : /^\{/;
}

it("has every field of the typed request in grpcurl, by the names that gRPC expects", async () => {
  const grpcurl = LANGUAGES.find(({ id }) => id === "grpcurl")!;
  await forEachOperation(async (id, call) => {
    const words = grpcurl.sample(call).split(" \\\n  ");
    expect(words[0]).toBe("grpcurl -plaintext");
    expect(words.at(-1)).toBe(`${new URL(service.url).host} ${call.rpc}`);
    const sent = words.find((word) => word.startsWith("-d '"))?.slice("-d '".length, -1) ?? "{}";
    expect(JSON.parse(sent)).toEqual(call.message);
    if (call.isStream) return;
    // Connect takes the same JSON that grpcurl sends as a binary message.
    const response = await fetch(`${service.url}/${call.rpc}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${client.apiKey}` },
      body: sent,
    });
    const answer = await response.text();
    const code = REFUSED[id];
    if (code === undefined) expect.soft(response.status, `${id}: ${answer}`).toBe(200);
    else expect.soft(answer, id).toContain(code);
  });
});

it("names what is to be filled in, in every language", () => {
  for (const [path, verbs] of Object.entries(document.paths)) {
    for (const [verb, operation] of Object.entries(verbs)) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
      const call = {
        verb: verb.toUpperCase(),
        url: service.url + examples.pathOf(path, operation.parameters ?? [], {}),
        needsKey: true,
        body: undefined,
        isStream: false,
        rpc: examples.rpcOf(operation),
        message: examples.messageOf(operation, { values: {}, body: undefined }, examples.resolver(document)),
      };
      for (const { id, sample } of LANGUAGES) {
        for (const name of names) expect.soft(sample(call), `${operation.operationId} in ${id}`).toContain(`{${name}}`);
      }
    }
  }
});

it("shows answers that have the fields of real ones", async () => {
  const recorded = JSON.parse(readFileSync(ANSWERS_FILE, "utf8"));
  const real = JSON.parse(JSON.stringify(await recordAnswers(service)));
  // `npm run generate` records them anew.
  expect(differences(recorded, real)).toEqual([]);
  const text = JSON.stringify(recorded);
  expect(text).not.toMatch(/api_[0-9A-Za-z]{38}/);
  for (const [path, verbs] of Object.entries(document.paths)) {
    for (const { operationId, responses } of Object.values(verbs)) {
      const example = Object.values(responses["200"].content ?? {}).map(
        (one) => (one as { example?: unknown }).example,
      )[0];
      if (typeof example !== "string") expect(example, path).toEqual(recorded[operationId]);
      else expect(example.match(/^event: \w+$/gm)).toHaveLength(recorded[operationId].length);
    }
  }
});

it("quotes what a shell or a program would read otherwise", () => {
  const call = {
    verb: "POST",
    url: "https://host.example/v1/tx/buy",
    needsKey: true,
    body: { mint: "it's", on: true, none: null, list: [1, { a: "b" }] },
    isStream: false,
    rpc: "tradewire.v1.TradeService/Buy",
    message: { mint: "it's" },
  };
  const texts = Object.fromEntries(LANGUAGES.map(({ id, sample }) => [id, sample(call)]));
  const { stdout } = spawnSync("sh", ["-c", `printf %s ${/-d ('.*')$/.exec(texts.curl!)![1]}`], { encoding: "utf8" });
  expect(JSON.parse(stdout)).toEqual(call.body);
  expect(texts.python).toContain('"on": True,\n        "none": None,\n        "list": [1, {');
  expect(texts.grpcurl).toBe(
    `grpcurl \\\n  -H "Authorization: Bearer $API_KEY" \\\n  -d '{"mint":"it'\\''s"}' \\\n  host.example:443 tradewire.v1.TradeService/Buy`,
  );
});
