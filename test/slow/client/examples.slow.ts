import { execFile, execFileSync } from "node:child_process";
import { createPrivateKey } from "node:crypto";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import bs58 from "bs58";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toWallet } from "../../../src/client/wallet.ts";
import { concatBytes, hex } from "../../../src/primitives/bytes.ts";
import { startTestService, type TestService } from "../../support/service.ts";

const run = promisify(execFile);
const EXAMPLES = resolve(import.meta.dirname, "../../../examples");
/** What stands before a 32-byte Ed25519 seed in its DER form. @see RFC 8410 section 7 */
const PKCS8_PREFIX = hex("302e020100300506032b657004220420");

interface Example {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** Commands that succeed if the example can run. */
  readonly needs: readonly (readonly [string, ...string[]])[];
}

const EXAMPLE_LIST: readonly Example[] = [
  {
    name: "curl",
    command: ["./trade.sh"],
    needs: [
      ["openssl", "version"],
      ["jq", "--version"],
      ["xxd", "-v"],
      ["bc", "--version"],
    ],
  },
  { name: "python", command: ["python3", "trade.py"], needs: [["python3", "-c", "import cryptography"]] },
  { name: "go", command: ["go", "run", "."], needs: [["go", "version"]] },
  { name: "rust", command: ["cargo", "run", "-q"], needs: [["cargo", "--version"]] },
];

/** Set it to an interpreter that has `examples/grpc-python/requirements.txt` installed. */
const PYTHON = process.env.PYTHON ?? "python3";
const PROTO = resolve(EXAMPLES, "../proto");

interface TypedExample extends Example {
  /** The one command that makes the client from proto. */
  readonly generate: readonly [string, ...string[]];
}

const TYPED_EXAMPLES: readonly TypedExample[] = [
  {
    name: "grpc-go",
    generate: [resolve(EXAMPLES, "../node_modules/.bin/buf"), "generate"],
    command: ["go", "run", "."],
    needs: [["go", "version"]],
  },
  {
    name: "grpc-python",
    generate: [
      PYTHON,
      ..."-m grpc_tools.protoc --python_out=. --grpc_python_out=. -I".split(" "),
      PROTO,
      ...["buf/validate/validate", "tradewire/v1/account", "tradewire/v1/errors", "tradewire/v1/trade"].map(protoFile),
      protoFile("tradewire/v1/types"),
    ],
    command: [PYTHON, "priorities.py"],
    needs: [[PYTHON, "-c", "import grpc_tools, google.api.annotations_pb2"]],
  },
];

function protoFile(path: string): string {
  return join(PROTO, `${path}.proto`);
}

/**
 * The service, but of four submits the first is answered as one that the chain has not decided, the second loses its connection, and
 * the third gets a proxy's own page.
 * Under `/unread` all are answered as landed, with a record that cannot be read yet.
 */
function undecidedAtFirst(): Server {
  let submits = 0;
  return createServer((request, response) => {
    const [, unread, path] = /^(\/unread)?(.*)$/.exec(request.url!)!;
    const { method, headers } = request;
    const passed = httpRequest(service.url + path, { method, headers }, async (answer) => {
      const step = path !== "/v1/tx/submit" ? 3 : unread === undefined ? submits++ % 4 : 0;
      if (step === 1) return void request.socket.destroy();
      if (step === 2) return void response.writeHead(502).end("<h1>Bad Gateway</h1>");
      response.writeHead(answer.statusCode!, { "content-type": answer.headers["content-type"] });
      if (step === 3) return void answer.pipe(response);
      const { data } = JSON.parse(await text(answer));
      const state = unread === undefined ? { status: "pending", slot: null } : {};
      response.end(JSON.stringify({ success: true, data: { ...data, ...state, tradeResult: null } }));
    });
    request.pipe(passed);
  });
}

let service: TestService;
let undecided: Server;
let undecidedUrl: string;
let folder: string;
beforeAll(async () => {
  undecided = undecidedAtFirst();
  await new Promise<void>((listening) => undecided.listen(0, "127.0.0.1", listening));
  undecidedUrl = `http://127.0.0.1:${(undecided.address() as AddressInfo).port}`;
  service = await startTestService({ PUBLIC_URL: undecidedUrl });
  folder = mkdtempSync(join(tmpdir(), "tradewire-examples-"));
});
afterAll(async () => {
  undecided?.close();
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

function isThere([command, ...args]: readonly [string, ...string[]]): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Registers the test under a title that says what is missing if it cannot run. */
function testExample({ name, needs }: Example, body: () => Promise<void>): void {
  const missing = needs.find((need) => !isThere(need));
  const title = missing === undefined ? name : `${name} (not run: ${missing.join(" ")} fails here)`;
  test.runIf(missing === undefined)(title, { timeout: 500_000 }, body);
}

describe("clients generated from proto by one command call the running service", () => {
  for (const example of TYPED_EXAMPLES) {
    testExample(example, async () => {
      const cwd = join(EXAMPLES, example.name);
      const env = { ...process.env, TRADEWIRE_URL: service.url };
      const [generator, ...generatorArgs] = example.generate;
      await run(generator, generatorArgs, { cwd, env });
      const [file, ...args] = example.command;
      const { stdout } = await run(file, args, { cwd, env });
      expect(stdout.match(/^PRIORITY_[A-Z]+ [\d.e-]+$/gm)?.length).toBe(4);
    });
  }
});

/** Installs a client as its README says, from a copy, in a folder of its own. Returns the folder with the program and more environment. */
const CLIENTS: readonly (Example & {
  install(from: string, cwd: string): Promise<Readonly<Record<string, string>>>;
})[] = [
  {
    name: "client of Go",
    command: ["go", "run", "."],
    needs: [["go", "version"]],
    async install(from, cwd) {
      await run("go", ["mod", "init", "trader"], { cwd });
      const [require, replace] = ["tradewire.example/client@v0.0.0", `tradewire.example/client=${from}/go`];
      await run("go", ["mod", "edit", "-require", require, "-replace", replace], { cwd });
      copyFileSync(join(from, "go/examples/trade/main.go"), join(cwd, "main.go"));
      return {};
    },
  },
  {
    name: "client of Python",
    command: ["python3", "trade.py"],
    needs: [
      ["python3", "-c", "import cryptography"],
      ["python3", "-m", "pip", "--version"],
    ],
    async install(from, cwd) {
      // Without what builds packages, pip fetches it.
      const flags = "-m pip install --quiet --no-deps --target lib".split(" ");
      if (isThere(["python3", "-c", "import setuptools, wheel"])) flags.push("--no-build-isolation");
      await run("python3", [...flags, join(from, "python")], { cwd });
      copyFileSync(join(from, "python/examples/trade.py"), join(cwd, "trade.py"));
      return { PYTHONPATH: join(cwd, "lib") };
    },
  },
];

describe("the clients in Go and Python install by one line and trade", () => {
  for (const client of CLIENTS) {
    testExample(client, async () => {
      const from = join(folder, `${client.command[0]}-copy`);
      cpSync(resolve(EXAMPLES, "../clients"), from, { recursive: true });
      const cwd = join(folder, `${client.command[0]}-trader`);
      mkdirSync(cwd);
      const installed = await client.install(from, cwd);
      await trade(client, cwd, { ...installed, TRADEWIRE_URL: undecidedUrl });
      await trade(client, cwd, { ...installed, TRADEWIRE_URL: `${undecidedUrl}/unread` }, UNREAD);
    });
  }
});

describe("the examples trade against the running service, and submit again while the chain has not decided", () => {
  for (const example of EXAMPLE_LIST) {
    testExample(example, async () => {
      const cwd = join(EXAMPLES, example.name);
      await trade(example, cwd, { TRADEWIRE_URL: undecidedUrl });
      await trade(example, cwd, { TRADEWIRE_URL: `${undecidedUrl}/unread` }, UNREAD);
    });
  }
});

/** What a program says of a trade: what moved, or that the chain's record could not be read yet. */
const MOVED = /^([\d.]+) -> ([\d.]+)$/;
const UNREAD = /^amounts not known yet$/;

/** Runs a program for a wallet of its own: it buys, and sells everything again. */
async function trade(
  { name, command }: Example,
  cwd: string,
  more: Readonly<Record<string, string>>,
  expected = MOVED,
): Promise<void> {
  const seed = crypto.getRandomValues(new Uint8Array(32));
  const key = bs58.encode(seed);
  const pem = join(folder, `${name}.pem`);
  const der = Buffer.from(concatBytes(PKCS8_PREFIX, seed));
  writeFileSync(
    pem,
    createPrivateKey({ key: der, format: "der", type: "pkcs8" }).export({ format: "pem", type: "pkcs8" }),
  );
  await service.rpc("requestAirdrop", [toWallet(key).publicKey.toString(), 5e9]);
  const env = {
    ...process.env,
    ...more,
    TRADEWIRE_KEY: key,
    KEY_PEM: pem,
    MINT: service.mintOn("raydium_cpmm", "EMBER"),
  };
  const [file, ...args] = command;
  const { stdout } = await run(file, args, { cwd, env });
  const lines = stdout.trim().split("\n");
  expect(lines.length).toBe(2);
  const [bought, sold] = lines.map((line) =>
    line.match(/^confirmed [a-z_]+: (.+) \([1-9A-HJ-NP-Za-km-z]{80,88}\)$/)?.[1]?.match(expected),
  );
  expect(bought?.[1]).toBe(expected === MOVED ? "0.1" : undefined);
  expect(bought).toBeTruthy();
  expect(sold).toBeTruthy();
  expect(sold?.[1]).toBe(bought?.[2]);
}
