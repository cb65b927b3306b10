import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Keypair } from "@solana/web3.js";
import bs58 from "bs58";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { PriceMovementSchema, QuoteResponseSchema } from "../../gen/tradewire/v1/trade_pb.ts";
import { type CliIo, EXIT } from "../../src/client/cli/command.ts";
import { CLIENT_COMMANDS } from "../../src/client/cli/commands.ts";
import { processIo } from "../../src/client/cli/process-io.ts";
import { runCli } from "../../src/client/cli/run-cli.ts";
import { explorerLink } from "../../src/client/cli/settings/network.ts";
import { findSwapTable } from "../../src/client/verify/match-swap.ts";
import { pumpSwapExtension } from "../../src/client/verify/venues/pump-swap.ts";
import { Address } from "../../src/primitives/address.ts";
import { writeU64 } from "../../src/primitives/bytes.ts";
import { type Instruction, writable, writableSigner } from "../../src/solana/instruction.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import { planOf, wireOf } from "../slow/client/mutations.ts";
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
  await service.rpc("requestAirdrop", [keypair.publicKey.toBase58(), 50e9]);
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

/** Files as the program itself writes them. */
const files = processIo({ ...process, once: () => undefined } as never);

/** Runs a command line as a user would, in this process. With an `answer` somebody is at the terminal. */
async function run(line: string, env: Record<string, string> = {}, answer?: string | boolean): Promise<Ran> {
  const out: string[] = [];
  const notes: string[] = [];
  const io: CliIo = {
    out: (text) => out.push(text),
    note: (text) => notes.push(text),
    env: { TRADEWIRE_URL: service.url, HOME: folder, ...env },
    readFile: async (path) => readFileSync(path, "utf8"),
    writeSecret: files.writeSecret,
    createSecret: files.createSecret,
    askSecret: async () => (typeof answer === "string" ? answer : undefined),
    confirm: async () => (typeof answer === "boolean" ? answer : undefined),
    isInteractive: answer !== undefined,
    signal: new AbortController().signal,
  };
  return { code: await runCli(CLIENT_COMMANDS, line.split(" "), io), out, notes };
}

const keyFile = () => `--key-file ${join(folder, "wallet.json")}`;
const apiKey = () => ({ TRADEWIRE_API_KEY: readFileSync(join(folder, "api.key"), "utf8").trim() });
const withNode = () => `${keyFile()} --node ${service.sandbox.rpcUrl}`;
const errorOf = ({ out }: Ran) => JSON.parse(out.at(-1)!).error;

/** Runs something while the service says this movement of every price. */
async function sayingMovement(movement: number, run: () => Promise<void>): Promise<void> {
  const plain = globalThis.fetch;
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const response = await plain(url, init);
    if (!url.endsWith("/Quote")) return response;
    const quoted = fromBinary(QuoteResponseSchema, new Uint8Array(await response.arrayBuffer()));
    const moved = { samples: 300, windowSeconds: 1_500, spanSeconds: 60, quantile: 0.95, movement };
    quoted.priceMovement = create(PriceMovementSchema, moved);
    const { status, headers } = response;
    const body = toBinary(QuoteResponseSchema, quoted) as Uint8Array<ArrayBuffer>;
    return new Response(body, { status, headers: { "content-type": headers.get("content-type")! } });
  });
  try {
    await run();
  } finally {
    vi.unstubAllGlobals();
  }
}

function transferData(lamports: bigint): Uint8Array {
  const data = new Uint8Array(12);
  data[0] = 2;
  writeU64(data, 4, lamports);
  return data;
}

describe("the command line", () => {
  test("registers, buys, looks and sells everything; its output matches the chain", async () => {
    const registered = await run(`register ${keyFile()} --save ${join(folder, "api.key")} --label cli`);
    expect([registered.code, registered.notes]).toEqual([EXIT.done, []]);
    expect(statSync(join(folder, "api.key")).mode & 0o777).toBe(0o600);
    expect(registered.out.join()).not.toContain(apiKey().TRADEWIRE_API_KEY);

    const terms = "--slippage 0.05 --max-priority-cost 0.01";
    const bought = await run(`buy ${mint} 0.1 ${terms} ${withNode()} --json --yes`, apiKey());
    expect(bought.code).toBe(EXIT.done);
    const trade = JSON.parse(bought.out.join("\n"));
    expect(trade).toMatchObject({
      status: "confirmed",
      platform: "raydium_cpmm",
      tradeResult: { inputAmountRaw: "100000000" },
      unproven: ["price"],
      explorer: expect.stringContaining("cluster=custom"),
    });

    const status = await run(`status ${trade.signature} --watch`, apiKey());
    expect([status.code, status.notes.at(-1)]).toEqual([EXIT.done, `finalized in slot ${trade.slot}`]);
    expect((await run(`watch ${trade.signature}`, apiKey())).code).toBe(EXIT.done);

    const key = { TRADEWIRE_KEY: bs58.encode(keypair.secretKey), TRADEWIRE_NODE: service.sandbox.rpcUrl };
    const sold = await run(`sell ${mint} 100% --slippage 0.05 --yes`, { ...apiKey(), ...key });
    expect([sold.code, sold.out[0]]).toEqual([
      EXIT.done,
      expect.stringContaining(`${trade.tradeResult.outputAmount} → `),
    ]);

    const exact = `swap SOL ${mint} 5 --exact-out --max-input 2 --slippage 0.05 --output-decimals 6 --yes`;
    const swapped = await run(exact, apiKey(), bs58.encode(keypair.secretKey));
    expect([swapped.code, swapped.out[0]]).toEqual([EXIT.done, expect.stringContaining("→ 5 on raydium_cpmm")]);
    const quoted = await run(`quote SOL ${mint} 1`, apiKey());
    expect([quoted.code, quoted.out[0]]).toEqual([EXIT.done, expect.stringMatching(/^1 → [\d.]+ on raydium_cpmm/)]);
    expect((await run("priorities")).out.join()).toMatch(/^economy +[\d.]+ SOL.*fastest +0\.\d+ SOL/);

    const keys = await run("keys", apiKey());
    expect(keys.out.join("\n")).toMatch(/^\S+ {2}issued .* {2}in use {2}cli$/m);
  });

  test("writes an API key over an older one, and over nothing else: a wallet would be gone", async () => {
    const wallet = join(folder, "wallet.json");
    const before = readFileSync(wallet, "utf8");
    for (const path of [wallet, join(folder, "wallet.key")]) {
      const { code, notes } = await run(`register --key-file ${wallet} --save ${path}`);
      expect([code, notes.at(-1)]).toEqual([EXIT.usage, expect.stringContaining("never written over")]);
    }
    expect(readFileSync(wallet, "utf8")).toBe(before);
    const unread = await run(`register --key-file ${wallet} --save ${folder}`);
    expect([unread.code, unread.notes.at(-1)]).toEqual([EXIT.usage, expect.stringContaining("cannot be read")]);
    const key = join(folder, "older.key");
    writeFileSync(key, "api_of_an_older_day\n");
    expect((await run(`register --key-file ${wallet} --save ${key}`)).code).toBe(EXIT.done);
    expect(readFileSync(key, "utf8")).toMatch(/^api_[0-9A-Za-z]{38}\n$/);
  });

  test("an API key that cannot be saved is shown: there is no other way to it", async () => {
    const wallet = join(folder, "wallet.json");
    const file = join(wallet, "api.key");
    const { code, out, notes } = await run(`register --key-file ${wallet} --save ${file} --json`);
    expect(code).toBe(EXIT.failed);
    expect(JSON.parse(out.join())).toEqual({
      keyId: expect.any(String),
      walletAddress: expect.any(String),
      apiKey: expect.stringMatching(/^api_[0-9A-Za-z]{38}$/),
    });
    expect(notes.at(-1)).toContain(`${file} cannot be written, so the API key is shown here`);
  });

  test("asks before it spends, and a dry run or a no signs nothing", async () => {
    const dry = await run(`buy ${mint} 0.1 --dry-run ${withNode()}`, apiKey());
    expect([dry.code, dry.out]).toEqual([
      EXIT.done,
      [
        expect.stringMatching(/^Leaves +at most 0\.1 SOL/),
        expect.stringMatching(/^Arrives +at least [\d.]+ \S+ \(simulated on your node [\d.]+ /),
        expect.stringMatching(/^Impact +0\.\d\d % \(measured on your node\)/),
        expect.stringMatching(/^Costs +network 0\.000005 SOL, priority 0\.\d+ SOL/),
        "Through   raydium_cpmm",
        "Checked   not on the deployed programs (--require-checked refuses that)",
        expect.stringMatching(/^Unproven +the price/),
        "Dry run: nothing was signed.",
      ],
    ]);
    expect(JSON.parse((await run(`buy ${mint} 0.1 --dry-run --json ${keyFile()}`, apiKey())).out[0]!)).toMatchObject({
      signed: false,
      mostInputRaw: "100000000",
      priceImpactFrom: "service",
    });
    // Nothing is checked on this service.
    const unchecked = await run(`buy ${mint} 0.1 ${keyFile()} --require-checked --dry-run --json`, apiKey());
    expect([unchecked.code, errorOf(unchecked).code]).toEqual([EXIT.refused, "VENUE_DEGRADED"]);
    expect(errorOf(await run(`quote SOL ${mint} 1 --require-checked --json`, apiKey())).code).toBe("VENUE_DEGRADED");
    const no = await run(`buy ${mint} 0.1 ${keyFile()} --json`, apiKey(), false);
    expect([no.code, errorOf(no).code, errorOf(no).signature]).toEqual([EXIT.failed, "DECLINED", undefined]);
    expect((await run(`buy ${mint} 0.1 ${keyFile()}`, apiKey(), true)).code).toBe(EXIT.done);
    const nobody = await run(`buy ${mint} 0.1 ${keyFile()} --json`, apiKey());
    expect([nobody.code, errorOf(nobody)]).toEqual([
      EXIT.usage,
      { code: "USAGE", message: expect.stringContaining("--yes") },
    ]);
  });

  test("says where a missing API key would come from", async () => {
    const { code, notes } = await run(`quote SOL ${mint} 1`);
    expect([code, notes.at(-1)]).toEqual([EXIT.refused, expect.stringContaining("TRADEWIRE_API_KEY")]);
  });

  test("refuses what a careful person would not sign", async () => {
    const large = await run(`buy ${mint} 2 ${keyFile()} --json --yes`, apiKey());
    expect([large.code, errorOf(large).code, errorOf(large).message]).toEqual([
      EXIT.distrusted,
      "UNPROVEN",
      expect.stringContaining("--min-output or --reference"),
    ]);
    const proven = `buy ${mint} 2 ${keyFile()} --min-output 10 --output-decimals 6 --yes`;
    expect((await run(proven, apiKey())).code).toBe(EXIT.done);
    const blind = await run(`sell ${mint} 5 --input-decimals 6 ${keyFile()} --json --yes`, apiKey());
    expect(errorOf(blind).message).toContain("whose worth in SOL only the service states");
    // Each rebuild is a trade more if the service lies about the expiry.
    const again = `buy ${mint} 0.3 ${keyFile()} --min-output 1 --output-decimals 6 --json --yes`;
    expect((await run(`${again} --rebuild 2`, apiKey())).code).toBe(EXIT.done);
    const often = await run(`${again} --rebuild 3`, apiKey());
    expect([often.code, errorOf(often).message]).toEqual([
      EXIT.distrusted,
      "A trade above 1 SOL, its rebuilds included, needs proof, and only the service's word supports that it expired, before --rebuild trades again (--node). Nothing was signed.",
    ]);
    expect((await run(`${again} --rebuild 3 ${withNode()}`, apiKey())).code).toBe(EXIT.done);
    const coin = service.mintOn("pump_fun", "SPROUT");
    const high = await run(`buy ${coin} 3 --min-output 1 ${withNode()} --json --yes`, apiKey());
    expect([high.code, errorOf(high).code, errorOf(high).message]).toEqual([
      EXIT.refused,
      "PRICE_IMPACT_TOO_HIGH",
      expect.stringContaining("--max-price-impact"),
    ]);
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
    // Honest builds on old pools of pump_swap make them ready first.
    const plan = planOf(built.unsignedTransaction);
    const { program, discriminator: data } = pumpSwapExtension;
    const accounts = [writable(Address.of(mint)), writableSigner(client.wallet.publicKey)];
    const preparing = wireOf({ ...plan, instructions: [{ program, accounts, data }, ...plan.instructions] });
    const prepared = await run(`verify ${Buffer.from(preparing).toString("base64")}`);
    expect([prepared.code, prepared.out[2]]).toEqual([
      EXIT.done,
      `1. Makes the market ${mint} ready for its swap; ${client.wallet.publicKey} pays the rent.`,
    ]);
    expect((await run("verify AAAA")).code).toBe(EXIT.distrusted);
    expect((await run("verify ====*")).code).toBe(EXIT.usage);
  });

  test("a transaction that serves another account than its payer's is no trade, of whatever instructions", async () => {
    const client = await service.newClient(5);
    const built = await client.buildBuy({ mint, solAmount: 0.1, slippage: 0.05, priority: "fast" });
    const plan = planOf(built.unsignedTransaction);
    const stranger = Address.of(Keypair.generate().publicKey.toBase58());
    const opening = plan.instructions.findIndex(({ program, data }) => program === SYSTEM_PROGRAM && data[0] === 3);
    const changed = (at: number, change: (one: Instruction) => Instruction) =>
      wireOf({ ...plan, instructions: plan.instructions.map((one, index) => (index === at ? change(one) : one)) });
    const swapAt = plan.instructions.findIndex((one) => findSwapTable(one as never) !== undefined);
    const to = (place: number) => (one: Instruction) => ({
      ...one,
      accounts: one.accounts.map((account, index) => (index === place ? { ...account, address: stranger } : account)),
    });
    const attacks: Record<string, Uint8Array> = {
      "900 SOL into an account of another program": changed(opening, (one) => {
        const data = one.data.slice();
        // Base, length of the seed, seed, lamports, space, owner.
        writeU64(data, data.length - 48, 900_000_000_000n);
        data.set(stranger.bytes, data.length - 32);
        return { ...one, data };
      }),
      "an account that anyone may claim": wireOf({
        ...plan,
        instructions: plan.instructions.filter(({ program, data }) => program !== TOKEN_PROGRAM || data[0] !== 18),
      }),
      "SOL of the closed account to a stranger": changed(plan.instructions.length - 1, to(1)),
      "the output to a stranger": changed(swapAt, to(5)),
      "900 SOL for priority": changed(
        plan.instructions.findIndex(({ data }) => data[0] === 3 && data.length === 9),
        (one) => ({ ...one, data: Uint8Array.from([3, ...new Uint8Array(7).fill(0xff), 0]) }),
      ),
    };
    const unlimited = plan.instructions.filter(({ data }) => data[0] !== 2 || data.length !== 5);
    attacks["900 SOL for priority, and no limit that it is counted by"] = wireOf({
      ...plan,
      instructions: unlimited.map((one) =>
        one.data[0] === 3 && one.data.length === 9
          ? { ...one, data: Uint8Array.from([3, ...new Uint8Array(7).fill(0xff), 0]) }
          : one,
      ),
    });
    const tip = { from: client.wallet.publicKey, lamports: 900_000_000_000n };
    attacks["900 SOL as a tip, and no price"] = wireOf({
      ...plan,
      instructions: [
        ...plan.instructions.filter(({ data }) => data[0] !== 3 || data.length !== 9),
        {
          program: SYSTEM_PROGRAM,
          accounts: [writableSigner(tip.from), writable(Address.of("96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5"))],
          data: transferData(tip.lamports),
        },
      ],
    });
    for (const [name, wire] of Object.entries(attacks)) {
      const explained = await run(`verify ${Buffer.from(wire).toString("base64")}`);
      expect([name, explained.code, explained.out.at(-1)]).toEqual([
        name,
        EXIT.distrusted,
        expect.stringContaining("Not part of any trade"),
      ]);
    }
    expect((await run(`verify ${Buffer.from(wireOf(plan)).toString("base64")}`)).code).toBe(EXIT.done);
  });

  test("lists the account's trades, newest first, by page, status and time", async () => {
    const all = JSON.parse((await run("history --json", apiKey())).out[0]!);
    expect(all.trades.length).toBeGreaterThan(2);
    expect(all.trades[0]).toMatchObject({
      platform: expect.any(String),
      submittedAt: expect.stringMatching(/^20.*Z$/),
    });
    const first = await run("history --limit 1", apiKey());
    expect(first.out[0]).toMatch(/^20\S+Z {2}(confirmed|finalized) {2,}[\d.]+ (SOL|\S+) → [\d.]+ \S+ {2}\w+/);
    expect(first.out[0]).toContain(all.trades[0].signature);
    const next = await run(`history --limit 1 --json ${first.out.at(-1)!.replace("More: ", "")}`, apiKey());
    expect(JSON.parse(next.out[0]!).trades[0].signature).toBe(all.trades[1].signature);
    expect((await run("history --status failed,expired", apiKey())).out).toEqual(["No trades here."]);
    expect((await run("history --since 2100-01-01", apiKey())).out).toEqual(["No trades here."]);
    for (const wrong of [
      "--status lost",
      "--since yesterday",
      "--until 2026-11-22T09:00",
      "--limit x",
      "--status a,",
    ]) {
      expect((await run(`history ${wrong}`, apiKey())).code, wrong).toBe(EXIT.usage);
    }
    expect((await run("history --limit 1000", apiKey())).code).toBe(EXIT.refused);
  });

  test("trades the amount that was typed, or none", async () => {
    for (const amount of ["98765432109.876543", "12345678901.123456", "0.12345678901234567890"]) {
      for (const command of [`sell ${mint} ${amount} ${keyFile()} --yes`, `quote ${mint} SOL ${amount}`]) {
        const { code, notes } = await run(command, apiKey());
        expect(code, command).toBe(EXIT.usage);
        expect(notes.join("\n"), command).toContain(`${amount} would be ${Number(amount)}`);
      }
    }
    // As many digits as these are passed on.
    for (const amount of ["0.000001", "1000000000000000000000", "123456789.123456", "007.100", "0.10000"]) {
      expect((await run(`quote ${mint} SOL ${amount}`, apiKey())).code, amount).not.toBe(EXIT.usage);
    }
  });

  test("takes no text for a signature that cannot be one, and says of none that it was signed", async () => {
    for (const command of ["status", "watch"]) {
      for (const wrong of ["x", "5".repeat(64), "5".repeat(89), `${"5".repeat(87)}0`]) {
        const { code, notes } = await run(`${command} ${wrong}`, apiKey());
        expect([code, notes.join("\n")], `${command} ${wrong}`).toEqual([
          EXIT.usage,
          "SIGNATURE is that of a transaction: 64 bytes in base58.",
        ]);
      }
    }
  });

  test("bounds of the route are flags of every trade and quote", async () => {
    const only = `quote SOL ${mint} 1 --venues raydium_cpmm --direct-only --max-paths 1`;
    expect((await run(only, apiKey())).out[0]).toContain(" on raydium_cpmm");
    const none = await run(`buy ${mint} 0.1 --exclude-venues raydium_cpmm ${keyFile()} --json --yes`, apiKey());
    expect([none.code, errorOf(none).code]).toEqual([EXIT.refused, "NO_ROUTE"]);
    expect((await run(`${only} --exclude-venues ,`, apiKey())).code).toBe(EXIT.usage);
  });

  test("bounds the tokens between two markets, and the rent of their accounts", async () => {
    const { tokens } = service.sandbox.world;
    const sol = SOL_MINT.toString();
    const isBesideSol = (other: Address) => tokens.some((one) => one.mint === other && `${one.quoteMint}` === sol);
    const { mint: behind, quoteMint } = tokens.find((token) => !isBesideSol(token.mint))!;
    const order = `buy ${behind} 0.01 ${withNode()} --json --dry-run`;
    for (const [flags, code] of [
      [`--middle-mints sol,${quoteMint}`, EXIT.done],
      ["--middle-mints JUP,BONK", EXIT.distrusted],
      ["--middle-mints ,", EXIT.usage],
      ["--middle-mints nobody", EXIT.usage],
      ["--max-middle-rent 0.00203928", EXIT.done],
      ["--max-middle-rent 0.00203927", EXIT.distrusted],
    ] as const)
      expect((await run(`${order} ${flags}`, apiKey())).code, flags).toBe(code);
  });

  test("chooses the slippage by how the price has moved if asked to, and shows what that rests on", async () => {
    const order = `buy ${mint} 0.05 ${keyFile()} --slippage auto`;
    const unknown = await run(`${order} --json --yes`, apiKey());
    expect([unknown.code, errorOf(unknown).code]).toEqual([EXIT.refused, "SLIPPAGE_UNKNOWN"]);
    const facts = "the price lost at most 0.42 % within 60 s in 95.00 % of 300 samples of 1500 s, says the service";
    await sayingMovement(0.00421, async () => {
      const { code, out } = await run(`${order} --dry-run`, apiKey());
      expect([code, out]).toEqual([
        EXIT.done,
        expect.arrayContaining([`Slippage  0.43 %, at most --max-slippage 3.00 %: ${facts}`]),
      ]);
      expect(out.join("\n")).toContain("the slippage (--slippage with a number proves it)");
      expect((await run(`quote SOL ${mint} 1`, apiKey())).out).toContain(`  its ${facts.slice("the ".length)}`);
      const capped = await run(`${order} --max-slippage 0.002 --yes`, apiKey());
      const shown = `Slippage  0.20 %, capped by --max-slippage 0.20 %: ${facts}`;
      expect([capped.code, capped.notes]).toEqual([EXIT.done, expect.arrayContaining([shown])]);
      const dry = JSON.parse((await run(`${order} --dry-run --json`, apiKey())).out[0]!);
      expect(dry.slippage).toMatchObject({ slippage: 0.0043, movement: 0.00421, maxSlippage: 0.03, isCapped: false });
      const least = (BigInt(dry.estimates.outputAmountRaw) * 9_957n) / 10_000n;
      expect([0n, 1n]).toContain(BigInt(dry.leastOutputRaw) - least);
      const share = await run(`sell ${mint} 50% ${keyFile()} --slippage auto --json --yes`, apiKey());
      expect([share.code, errorOf(share).message]).toEqual([EXIT.usage, expect.stringContaining("needs an amount")]);
      const config = join(folder, "auto.toml");
      writeFileSync(config, `profile = "auto"\n[profiles.auto]\nslippage = "auto"\n`);
      const byProfile = `buy ${mint} 0.05 ${keyFile()} --dry-run --json`;
      const fromProfile = await run(byProfile, { ...apiKey(), TRADEWIRE_CONFIG: config });
      expect(JSON.parse(fromProfile.out[0]!).slippage).toMatchObject({ slippage: 0.0043 });
    });
    for (const wrong of [
      "--slippage 0.05 --max-slippage 0.01",
      "--max-slippage 0.009",
      "--slippage automatic",
      "--slippage Auto",
      "--slippage auto --max-slippage 1",
      "--max-slippage auto",
    ]) {
      const { code, notes } = await run(`buy ${mint} 0.05 ${keyFile()} ${wrong} --yes`, apiKey());
      expect([wrong, code, notes.length]).toEqual([wrong, EXIT.usage, 1]);
    }
    for (const percent of ["5", "1", "5%"]) {
      const { code, notes } = await run(`buy ${mint} 0.05 ${keyFile()} --slippage ${percent} --yes`, apiKey());
      expect([code, notes]).toEqual([EXIT.usage, [expect.stringMatching(/^--slippage is .*: 0\.05 is 5 %\.$/)]]);
    }
  });

  test("links lead to the transaction in the explorer of its network, and never hold a node's URL from elsewhere", async () => {
    const node = service.sandbox.rpcUrl;
    const link = (network?: string, at?: string) => explorerLink("5h3", network, at);
    const base = "https://explorer.solana.com/tx/5h3";
    expect(await link("mainnet", "https://node.example/?api-key=secret")).toBe(base);
    expect(await link("devnet")).toBe(`${base}?cluster=devnet`);
    expect(await link("custom", "https://node.example/?api-key=secret")).toBeUndefined();
    expect(await link(undefined, node)).toBe(`${base}?cluster=custom&customUrl=${encodeURIComponent(node)}`);
    expect(await link(undefined, "http://127.0.0.1:9")).toBeUndefined();
    expect(await link()).toBeUndefined();
  });

  test("ends with a code that scripts can use", async () => {
    expect((await run("buy")).code).toBe(EXIT.usage);
    expect((await run("dance")).code).toBe(EXIT.usage);
    expect(errorOf(await run("buy --json")).code).toBe("USAGE");
    expect((await run(`buy ${mint} x ${keyFile()} --yes`)).code).toBe(EXIT.usage);
    expect((await run(`buy ${mint} 1e-3 ${keyFile()} --yes`)).code).toBe(EXIT.usage);
    expect((await run(`buy ${mint} 0.1 --key secret`)).code).toBe(EXIT.usage);
    expect((await run(`buy ${mint} 0.1 --yes`)).code).toBe(EXIT.usage);
    const refused = await run(`buy ${mint} 1000 ${keyFile()} --json --yes`, apiKey());
    expect([refused.code, errorOf(refused).code]).toEqual([EXIT.refused, "INSUFFICIENT_SOL"]);
    const least = `buy ${mint} 0.1 --min-output 100000000 --output-decimals 6 ${keyFile()} --yes`;
    expect((await run(least, apiKey())).code).toBe(EXIT.distrusted);
    const secretless = await run(`buy ${mint} 0.1 --yes`, { ...apiKey(), TRADEWIRE_KEY: "not-a-key" });
    expect([secretless.code, secretless.notes.join()]).toEqual([EXIT.usage, expect.not.stringContaining("not-a-key")]);
    const slip = bs58.encode(keypair.secretKey);
    const echoed = await run(`buy ${mint} 0.1 --key-file ${slip} --yes`, apiKey());
    expect([echoed.code, echoed.notes.join()]).toEqual([EXIT.usage, expect.not.stringContaining(slip)]);
  });

  test("says what it reached instead of the service, and whose key it was given", async () => {
    const order = `buy ${mint} 0.1 ${keyFile()} --yes`;
    const nowhere = await run(`${order} --url http://127.0.0.1:9`, apiKey());
    expect([nowhere.code, nowhere.notes.join("\n")]).toEqual([
      EXIT.unreachable,
      expect.stringContaining("Nothing answers at http://127.0.0.1:9."),
    ]);
    const admin = await run(`${order} --url ${service.app.admin.url}`, apiKey());
    expect([admin.code, admin.notes.join("\n")]).toEqual([EXIT.unreachable, expect.stringContaining("admin port")]);
    const chain = await run(`${order} --url ${service.sandbox.rpcUrl}`, apiKey());
    expect(chain.notes.join("\n")).toContain("Solana RPC node");
    for (const path of ["/v1", "/elsewhere/"]) {
      const misplaced = await run(`${order} --url ${service.url}${path}`, apiKey());
      expect([misplaced.code, misplaced.notes.join("\n")]).toEqual([
        EXIT.unreachable,
        expect.stringContaining(`There is a Tradewire at ${service.url}`),
      ]);
    }
    const other = await service.newClient(5);
    const mixed = await run(order, { TRADEWIRE_API_KEY: other.apiKey! });
    expect([mixed.code, mixed.notes.join("\n")]).toEqual([
      EXIT.usage,
      `This API key belongs to ${other.wallet.publicKey}; your key file is ${keypair.publicKey}. Nothing was signed.`,
    ]);
  });

  test("no text of a service, a file or an argument reaches the terminal as a command to it", async () => {
    const osc = "\u001b]52;c;ZXZpbA==\u0007";
    const notes = (await run(`quote SOL ${osc}\u202e 1`, apiKey())).notes.join("");
    expect(notes).toContain("\\u001b]52");
    expect(notes).not.toMatch(/[\p{Cc}\u202e]/u);
  });

  test("profiles, symbols and wallets come from files", async () => {
    const home = mkdtempSync(join(folder, "home-"));
    const env = { HOME: home, XDG_CONFIG_HOME: home, TRADEWIRE_NODE: service.sandbox.rpcUrl };
    const made = await run(`wallet new ${join(home, "id.json")} --json`, env);
    const { address } = JSON.parse(made.out[0]!);
    expect(statSync(join(home, "id.json")).mode & 0o777).toBe(0o600);
    expect((await run(`wallet new ${join(home, "id.json")}`, env)).code).toBe(EXIT.usage);
    const byDefault = await run("wallet new --json", env);
    expect(JSON.parse(byDefault.out[0]!).savedTo).toBe(join(home, ".config/solana/id.json"));
    expect(statSync(join(home, ".config/solana/id.json")).mode & 0o777).toBe(0o600);
    expect((await run("wallet show", env)).out).toEqual([JSON.parse(byDefault.out[0]!).address]);
    const again = await run("wallet new", env);
    expect([again.code, again.notes.join()]).toEqual([EXIT.usage, expect.stringContaining("never written over")]);
    mkdirSync(join(home, "tradewire"));
    const configure = (text: string) => writeFileSync(join(home, "tradewire/config.toml"), text);
    const url = `url = "${service.url}"\nkey_file = "~/id.json"\napi_key_file = "~/api.key"`;
    configure(`profile = "here"\n[profiles.here]\n${url}\n[tokens]\nEMBER = "${mint}"\nBONK = "${mint}"\n`);
    const plain = { ...env, TRADEWIRE_URL: undefined as never };
    expect((await run("wallet show", plain)).out).toEqual([address]);
    expect((await run("airdrop 2.5", plain)).code).toBe(EXIT.done);
    expect((await run("wallet balance", plain)).out).toEqual(["2.5 SOL"]);
    expect((await run(`register --save ${join(home, "api.key")}`, plain)).code).toBe(EXIT.done);
    expect((await run("buy ember 0.1 --yes", plain)).code).toBe(EXIT.done);
    expect((await run("wallet balance", plain)).out[1]).toMatch(/^[\d.]+ EMBER {2}/);
    expect((await run("buy BONK 0.1 --yes", plain)).notes.join()).toContain("several mints");
    expect((await run("buy NOSUCH 0.1 --yes", plain)).notes.join()).toContain("known symbol");
    const [one, other] = ["one", "other"].map((name) => `[profiles.${name}]\nkey_file = "~/${name}.json"\n`);
    configure(`profile = "one"\n${one}${other}`);
    for (const name of ["one", "other"]) await run(`wallet new ${join(home, `${name}.json`)}`, env);
    const shown = async (line: string, more = {}) => (await run(line, { ...plain, ...more })).out[0];
    expect(await shown("wallet show --profile other")).not.toBe(await shown("wallet show"));
    expect(await shown("wallet show", { TRADEWIRE_PROFILE: "other" })).toBe(await shown("wallet show --profile other"));
    expect(await shown(`wallet show --key-file ${join(home, "one.json")} --profile other`)).toBe(
      await shown("wallet show"),
    );
    configure(`[profiles.here]\nurll = "x"\n`);
    expect((await run("wallet show --profile here", plain)).notes.join()).toContain('Did you mean "url"');
    expect((await run("wallet show --profile there", plain)).notes.join()).toContain('no profile "there"');
  });

  test("every command has help with an example, and the program a version", async () => {
    const overview = (await run("--help")).out.join("\n");
    for (const { name } of CLIENT_COMMANDS) {
      expect(overview).toContain(`  ${name}`);
      const help = (await run(`help ${name}`)).out.join("\n");
      expect(help).toContain(`tradewire ${name}`);
      expect((await run(`${name} -h`)).out.join("\n")).toBe(help);
    }
    const { version } = JSON.parse(readFileSync(resolve(import.meta.dirname, "../../src/client/package.json"), "utf8"));
    expect((await run("--version")).out).toEqual([version]);
    expect((await run(`buyy ${mint} 1`)).notes.join()).toContain("Did you mean buy");
  });

  test("a file that others could read is closed to them before a key is written", async () => {
    const path = join(folder, "open.key");
    writeFileSync(path, "old", { mode: 0o644 });
    await processIo(process).writeSecret(path, "secret");
    expect([statSync(path).mode & 0o777, readFileSync(path, "utf8")]).toEqual([0o600, "secret"]);
  });

  test.each(["stdout", "stderr"] as const)("a trade that nobody reads the %s of ends as it would", async (unread) => {
    const cli = resolve(import.meta.dirname, "../../src/process/cli.ts");
    const line = `buy ${mint} 0.01 --slippage 0.05 --yes ${keyFile()}`.split(" ");
    const env = { ...process.env, ...apiKey(), TRADEWIRE_URL: service.url, HOME: folder };
    const newest = async () => (await run("history --limit 1", apiKey())).out[0];
    const before = await newest();
    const buying = execFile(process.execPath, [cli, ...line], { env });
    buying[unread]!.destroy();
    expect(await new Promise((done) => buying.once("exit", done))).toBe(EXIT.done);
    const after = await newest();
    expect(after).not.toBe(before);
    expect(after).toMatch(/confirmed|finalized/);
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
