import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Keypair } from "@solana/web3.js";
import bs58 from "bs58";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CliIo, EXIT } from "../../src/client/cli/command.ts";
import { CLIENT_COMMANDS } from "../../src/client/cli/commands.ts";
import { runCli } from "../../src/client/cli/run-cli.ts";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;
let folder: string;
let mint: string;
const keypair = Keypair.generate();

beforeAll(async () => {
  service = await startTestService();
  mint = service.mintOn("raydium_cpmm", "EMBER");
  folder = mkdtempSync(join(tmpdir(), "tradewire-cli-"));
  writeFileSync(join(folder, "wallet.json"), JSON.stringify([...keypair.secretKey]));
  writeFileSync(join(folder, "wallet.key"), `${bs58.encode(keypair.secretKey)}\n`);
  await service.rpc("requestAirdrop", [keypair.publicKey.toBase58(), 5e9]);
});
afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Ran {
  readonly code: number;
  readonly out: readonly string[];
  readonly notes: readonly string[];
}

/** Runs a command line as a user would, in this process. */
async function run(line: string, env: Record<string, string> = {}, answer?: string): Promise<Ran> {
  const out: string[] = [];
  const notes: string[] = [];
  const io: CliIo = {
    out: (text) => out.push(text),
    note: (text) => notes.push(text),
    env: { TRADEWIRE_URL: service.url, ...env },
    readFile: async (path) => readFileSync(path, "utf8"),
    writeSecret: async (path, text) => writeFileSync(path, text, { mode: 0o600 }),
    askSecret: async () => answer,
    signal: new AbortController().signal,
  };
  return { code: await runCli(CLIENT_COMMANDS, line.split(" "), io), out, notes };
}

describe("the command line", () => {
  const keyFile = () => `--key-file ${join(folder, "wallet.json")}`;
  const apiKey = () => ({ TRADEWIRE_API_KEY: readFileSync(join(folder, "api.key"), "utf8").trim() });

  test("registers, buys, looks and sells everything; its output matches the chain", async () => {
    const registered = await run(`register ${keyFile()} --save ${join(folder, "api.key")} --label cli`);
    expect([registered.code, registered.notes]).toEqual([EXIT.done, []]);
    expect(statSync(join(folder, "api.key")).mode & 0o777).toBe(0o600);
    expect(registered.out.join()).not.toContain(apiKey().TRADEWIRE_API_KEY);

    const bought = await run(`buy ${mint} 0.1 --slippage 0.05 --max-priority-cost 0.01 ${keyFile()} --json`, apiKey());
    expect(bought.code).toBe(EXIT.done);
    const trade = JSON.parse(bought.out.join("\n"));
    expect(trade).toMatchObject({
      status: "confirmed",
      platform: "raydium_cpmm",
      tradeResult: { inputAmountRaw: "100000000" },
    });
    expect(bought.notes.map((note) => note.split(" ")[0])).toEqual(["Built", "Verified", "Sent;"]);

    const status = await run(`status ${trade.signature} --watch`, apiKey());
    expect([status.code, status.notes.at(-1)]).toEqual([EXIT.done, `finalized in slot ${trade.slot}`]);

    const sold = await run(`sell ${mint} 100% --slippage 0.05 --max-input 1000000 --input-decimals 6`, {
      ...apiKey(),
      TRADEWIRE_KEY: bs58.encode(keypair.secretKey),
    });
    expect(sold.code).toBe(EXIT.done);
    expect(sold.out[0]).toContain(`${trade.tradeResult.outputAmount} → `);

    const swapped = await run(
      `swap SOL ${mint} 5 --exact-out --max-input 2 --slippage 0.05 --output-decimals 6`,
      apiKey(),
      bs58.encode(keypair.secretKey),
    );
    expect(swapped.code).toBe(EXIT.done);
    expect(swapped.out[0]).toContain("→ 5 on raydium_cpmm: confirmed");
    const quoted = await run(`quote SOL ${mint} 1`, apiKey());
    expect([quoted.code, quoted.out[0]]).toEqual([EXIT.done, expect.stringMatching(/^1 → [\d.]+ on raydium_cpmm/)]);

    const keys = await run("keys", apiKey());
    expect(keys.out.join("\n")).toMatch(/^\S+ {2}issued .* {2}in use {2}cli$/m);
  });

  test("explains a transaction line by line", async () => {
    const client = await service.newClient(5);
    const built = await client.buildBuy({ mint, solAmount: 0.1, slippage: 0.05, priority: "fast" });
    const text = Buffer.from(built.unsignedTransaction).toString("base64");
    const explained = await run(`verify ${text}`);
    expect(explained.code).toBe(EXIT.done);
    expect(explained.out.join("\n")).toMatch(
      /Swaps on raydium_cpmm \(swap_base_input\): exactly 100000000 base units leave/,
    );
    expect(explained.out[1]).toContain("(0 of 1 signed)");
    expect((await run("verify AAAA")).code).toBe(EXIT.distrusted);
    expect((await run("verify ====*")).code).toBe(EXIT.usage);
  });

  test("ends with a code that scripts can use", async () => {
    expect((await run("buy")).code).toBe(EXIT.usage);
    expect((await run("dance")).code).toBe(EXIT.usage);
    expect((await run(`buy ${mint} x ${keyFile()}`)).code).toBe(EXIT.usage);
    expect((await run(`buy ${mint} 0.1 --key secret`)).code).toBe(EXIT.usage);
    expect((await run(`buy ${mint} 0.1`)).code).toBe(EXIT.usage);
    const refused = await run(`buy ${mint} 100000 ${keyFile()} --json`, apiKey());
    expect([refused.code, JSON.parse(refused.out[0]!).error.code]).toEqual([EXIT.refused, "INSUFFICIENT_SOL"]);
    expect((await run(`buy ${mint} 0.1 --min-output 100000000 ${keyFile()}`, apiKey())).code).toBe(EXIT.distrusted);
    expect((await run(`buy ${mint} 0.1 ${keyFile()} --url http://127.0.0.1:9`, apiKey())).code).toBe(EXIT.unreachable);
    const secretless = await run(`buy ${mint} 0.1`, { ...apiKey(), TRADEWIRE_KEY: "not-a-key" });
    expect([secretless.code, secretless.notes.join()]).toEqual([EXIT.usage, expect.not.stringContaining("not-a-key")]);
  });

  test("every command has help with an example", async () => {
    const overview = (await run("--help")).out.join("\n");
    for (const { name } of CLIENT_COMMANDS) {
      expect(overview).toContain(`  ${name}`);
      const help = (await run(`help ${name}`)).out.join("\n");
      expect(help).toContain(`tradewire ${name}`);
      expect((await run(`${name} --help`)).out.join("\n")).toBe(help);
    }
  });

  test("runs as a process, with the embedded chain and the service among its commands", async () => {
    const cli = resolve(import.meta.dirname, "../../src/process/cli.ts");
    const help = await new Promise<string>((done) =>
      execFile(process.execPath, [cli, "--help"], (_error, out) => done(out)),
    );
    expect(help).toMatch(/sandbox +runs the embedded chain alone/);
    expect(help).toMatch(/serve +runs the service/);
    const chain = execFile(process.execPath, [cli, "sandbox", "--json"]);
    const first = await new Promise<string>((done) => chain.stdout!.once("data", (text: string) => done(text)));
    const { rpcUrl } = JSON.parse(first) as { rpcUrl: string };
    const answer = await fetch(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"jsonrpc":"2.0","id":1,"method":"getHealth"}',
    });
    expect(await answer.json()).toMatchObject({ result: "ok" });
    const ended = new Promise((done) => chain.once("exit", done));
    chain.kill("SIGINT");
    expect(await ended).toBe(0);
  });
});
