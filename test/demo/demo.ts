/**
 * The demo: starts the embedded chain and the service, registers wallets, trades over HTTP as a bot would, and compares every
 * estimate with the chain's own record. Exits 0 only if all of them are equal to the base unit. `npm run demo`; with
 * `-- --json`, the last line of the output is every trade as JSON.
 */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import bs58 from "bs58";
import { type App, startApp } from "../../src/app/app.ts";
import { parseConfig } from "../../src/config/config.ts";
import { toWholeUnits } from "../../src/primitives/amount.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { callNode, migrate, readTokensLeft } from "./graduation.ts";

const SLIPPAGE = 0.05;
/** The coin that is bought to the end of its curve. */
const GRADUATE = "BRINK";
const FOUND_WITHIN_MS = 10_000;

interface DemoWallet {
  readonly address: string;
  readonly key: KeyObject;
  readonly apiKey: string;
}

interface Row {
  readonly what: string;
  readonly platform: string;
  readonly estimated: string;
  readonly onChain: string;
  readonly costs: string;
  readonly equal: boolean;
}

/** Lamports beside the trade itself, as texts. */
interface Costs {
  readonly baseFee: string;
  readonly priorityFee: string;
  readonly tip: string;
  readonly rentPaid: string;
  readonly rentReturned: string;
}

interface DemoTrade {
  readonly signature: string;
  readonly status: string;
  readonly slot: number;
  readonly platform: string;
  readonly inputMint: string;
  readonly outputMint: string;
  readonly inputAmount: number;
  readonly outputAmount: number;
  readonly inputAmountRaw: string;
  readonly outputAmountRaw: string;
  readonly priorityCost: number;
  readonly costs: Costs;
}

interface Built {
  readonly costs: Costs;
  readonly submissionToken: string;
  readonly unsignedTransaction: string;
  readonly estimates: { readonly inputAmountRaw: string; readonly outputAmountRaw: string };
}

interface Submitted extends Omit<DemoTrade, "inputAmount" | "outputAmount" | "inputAmountRaw" | "outputAmountRaw"> {
  readonly tradeResult: Pick<DemoTrade, "inputAmount" | "outputAmount" | "inputAmountRaw" | "outputAmountRaw"> | null;
}

/** One request to the service. */
interface Step {
  readonly what: string;
  readonly path: "buy" | "sell" | "swap";
  readonly body: Record<string, unknown>;
}

const dataDir = mkdtempSync(join(tmpdir(), "tradewire-demo-"));
const rows: Row[] = [];
const trades: DemoTrade[] = [];
let app: App | undefined;
try {
  say("Starting the embedded chain and the service …");
  app = await startApp({
    now: Date.now,
    config: parseConfig({
      PORT: "0",
      SANDBOX_PORT: "0",
      SANDBOX_SLOT_MS: "100",
      ...process.env,
      DATA_DIR: dataDir,
    }),
    logger: {
      info: () => undefined,
      warn: (_facts, message) => say(`  ! ${message}`),
      error: (_facts, message) => say(`  ! ${message}`),
    },
  });
  if (app.sandbox === undefined) throw new Error("The demo runs on the embedded chain: unset SOLANA_RPC_URL.");
  say(`Ready: service at ${app.url}, chain at ${app.sandbox.rpcUrl}`);

  const symbols = new Map(
    app.sandbox.world.tokens
      .filter(({ quoteMint }) => quoteMint === SOL_MINT)
      .map(({ mint, symbol }) => [mint.toString(), symbol]),
  );
  for (const [mint, symbol] of symbols) {
    const wallet = await registerWallet(app);
    say(`\n${symbol}: wallet ${wallet.address} registered`);
    for (const step of stepsOf(mint, symbol)) await trade(app, wallet, step);
  }
  await showLargeTrades(app);
  await showGraduation(app);

  say(`\n${table(rows)}\n`);
  const unequal = rows.filter(({ equal }) => !equal);
  say(`${rows.length - unequal.length} of ${rows.length} trades equal, amounts and costs`);
  if (process.argv.includes("--json")) say(JSON.stringify({ trades }));
  if (unequal.length > 0) {
    process.stderr.write(`Estimate and chain differ: ${unequal.map(({ what }) => what).join(", ")}\n`);
    process.exitCode = 1;
  }
} catch (error) {
  process.stderr.write(`The demo failed: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await app?.close();
  rmSync(dataDir, { recursive: true, force: true });
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Builds, signs and submits one trade; records estimate and result. */
async function trade({ url, sandbox }: App, wallet: DemoWallet, step: Step): Promise<void> {
  const built = await call<Built>(url, `/v1/tx/${step.path}`, { ...step.body, slippage: SLIPPAGE }, wallet.apiKey);
  const signedTransaction = signWire(wallet.key, built.unsignedTransaction);
  const submitted = await call<Submitted>(
    url,
    "/v1/tx/submit",
    { submissionToken: built.submissionToken, signedTransaction },
    wallet.apiKey,
  );
  const { tradeResult, ...landed } = submitted;
  if (tradeResult === null)
    throw new Error(`${step.what}: landed as ${landed.signature}, but its amounts could not be read`);
  const estimated = `${built.estimates.inputAmountRaw} → ${built.estimates.outputAmountRaw}`;
  const onChain = `${tradeResult.inputAmountRaw} → ${tradeResult.outputAmountRaw}`;
  const costs = describeCosts(built.costs);
  const charged = await readCharged(sandbox!.rpcUrl, landed.signature);
  const equal =
    estimated === onChain &&
    costs === describeCosts(landed.costs) &&
    charged === BigInt(built.costs.baseFee) + BigInt(built.costs.priorityFee);
  rows.push({ what: step.what, platform: landed.platform, estimated, onChain, costs, equal });
  trades.push({ ...landed, ...tradeResult });
  say(`  ${step.what.padEnd(34)} ${landed.platform.padEnd(16)} ${landed.status} in slot ${landed.slot}`);
}

/** Lamports: fees and tip, rent paid, rent returned. */
function describeCosts({ baseFee, priorityFee, tip, rentPaid, rentReturned }: Costs): string {
  return `${BigInt(baseFee) + BigInt(priorityFee) + BigInt(tip)} + ${rentPaid} - ${rentReturned}`;
}

/** The transaction fee in the chain's record. Lamports. */
async function readCharged(rpcUrl: string, signature: string): Promise<bigint> {
  const { meta } = await callNode<{ meta: { fee: number } }>(rpcUrl, "getTransaction", [
    signature,
    { commitment: "confirmed", maxSupportedTransactionVersion: 1 },
  ]);
  return BigInt(meta.fee);
}

/** Two wallets buy a coin until its curve completes; one of them migrates it; the next buy trades on the pool. */
async function showGraduation(app: App): Promise<void> {
  const { rpcUrl, world } = app.sandbox!;
  const coin = world.tokens.find(({ symbol }) => symbol === GRADUATE)!;
  const mint = coin.mint.toString();
  const [first, second] = [await registerWallet(app), await registerWallet(app)];
  say(`\n${GRADUATE}, to the end of its curve and on: wallets ${first.address} and ${second.address}`);
  const buyExactly = (wallet: DemoWallet, amount: bigint, what: string) =>
    trade(app, wallet, {
      what,
      path: "swap",
      body: {
        inputMint: "SOL",
        outputMint: mint,
        amount: toWholeUnits(amount, coin.decimals),
        swapMode: "exactOut",
        priority: "fast",
      },
    });
  await buyExactly(first, (await readTokensLeft(rpcUrl, coin.market)) / 2n, `buy half of all ${GRADUATE} left`);
  await buyExactly(second, await readTokensLeft(rpcUrl, coin.market), `buy the last ${GRADUATE}`);

  const buy: Step = {
    what: `buy ${GRADUATE} for 0.1 SOL, migrated`,
    path: "buy",
    body: { mint, solAmount: 0.1, priority: "fast" },
  };
  const between = await trade(app, first, buy).then(
    () => "traded, although no market was open",
    (error: Error) => error.message,
  );
  if (!between.includes("NO_ROUTE")) throw new Error(`Between curve and pool: ${between}`);
  say(`  between curve and pool: ${between}`);
  say(`  migrated by ${second.address}: ${await migrate(rpcUrl, coin, second)}`);
  await tradeOnceFound(app, first, buy);
}

/** Retries until the pool is found: the first refusal starts the search. */
async function tradeOnceFound(app: App, wallet: DemoWallet, step: Step): Promise<void> {
  for (const end = Date.now() + FOUND_WITHIN_MS; ; await sleep(250)) {
    try {
      await trade(app, wallet, step);
      return;
    } catch (error) {
      if (Date.now() > end || !(error instanceof Error && error.message.includes("NO_ROUTE"))) throw error;
    }
  }
}

/** Buys and sells one token, exact in and exact out. */
function stepsOf(mint: string, symbol: string): Step[] {
  return [
    { what: `buy ${symbol} for 0.1 SOL`, path: "buy", body: { mint, solAmount: 0.1, priority: "fast" } },
    {
      what: `swap SOL for exactly 2 ${symbol}`,
      path: "swap",
      body: { inputMint: "SOL", outputMint: mint, amount: 2, swapMode: "exactOut", priority: "faster" },
    },
    { what: `sell 1 ${symbol}`, path: "sell", body: { mint, tokenAmount: 1, priority: "economy" } },
    {
      what: `swap 0.5 ${symbol} for SOL`,
      path: "swap",
      body: { inputMint: mint, outputMint: "SOL", amount: 0.5, swapMode: "exactIn", priority: "fastest" },
    },
    {
      what: `swap ${symbol} for exactly 0.00001 SOL`,
      path: "swap",
      body: { inputMint: mint, outputMint: "SOL", amount: 0.00001, swapMode: "exactOut", priority: "fast" },
    },
  ];
}

/** Trades over two markets, from a wallet without token accounts: they fit into a transaction only with a lookup table. */
async function showLargeTrades(app: App): Promise<void> {
  const mintOf = (symbol: string): string =>
    app.sandbox!.world.tokens.find((token) => token.symbol === symbol)!.mint.toString();
  const wallet = await registerWallet(app);
  say(`\nOver two markets: wallet ${wallet.address}`);
  const order = { slippage: SLIPPAGE, priority: "fast" };
  for (const symbol of ["DIME", "NOVA", "LEVEL"]) {
    const mint = mintOf(symbol);
    const what = `buy ${symbol} for 0.1 SOL, via USDC`;
    await trade(app, wallet, { what, path: "buy", body: { ...order, mint, solAmount: 0.1 } });
    const sale = { ...order, mint, tokenAmount: 1 };
    await trade(app, wallet, { what: `sell 1 ${symbol}, via USDC`, path: "sell", body: sale });
  }
  await trade(app, wallet, {
    what: "buy KITE for 0.1 SOL",
    path: "buy",
    body: { ...order, mint: mintOf("KITE"), solAmount: 0.1 },
  });
  for (const [from, to, amount] of [
    ["KITE", "ORBIT", 100],
    ["ORBIT", "DEBUT", 10],
    ["KITE", "USDC", 100],
  ] as const) {
    await trade(app, wallet, {
      what: `swap ${amount} ${from} for ${to}`,
      path: "swap",
      body: { ...order, inputMint: mintOf(from), outputMint: mintOf(to), amount, swapMode: "exactIn" },
    });
  }
}

async function registerWallet({ url, sandbox }: App): Promise<DemoWallet> {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const address = bs58.encode(Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url"));
  await airdrop(sandbox!.rpcUrl, address);
  const { message } = await call<{ message: string }>(url, "/v1/auth/challenge", { walletAddress: address });
  const signature = bs58.encode(sign(null, Buffer.from(message), privateKey));
  const { apiKey } = await call<{ apiKey: string }>(url, "/v1/auth/register", {
    walletAddress: address,
    message,
    signature,
  });
  return { address, key: privateKey, apiKey };
}

async function airdrop(rpcUrl: string, address: string): Promise<void> {
  await callNode(rpcUrl, "requestAirdrop", [address, 10_000_000_000]);
  for (let tries = 0; tries < 100; tries++) {
    const { value } = await callNode<{ value: number }>(rpcUrl, "getBalance", [address, { commitment: "processed" }]);
    if (value > 0) return;
    await sleep(20);
  }
  throw new Error("The faucet of the embedded chain gave nothing.");
}

/** Writes the wallet's signature into the transaction's only signature slot; the message stays unchanged. */
function signWire(key: KeyObject, unsignedTransaction: string): string {
  const wire = Buffer.from(unsignedTransaction, "base64");
  wire.set(sign(null, wire.subarray(65), key), 1);
  return wire.toString("base64");
}

async function call<T>(url: string, path: string, body: object, apiKey?: string): Promise<T> {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as
    | { success: true; data: T }
    | { success: false; error: { code: string; message: string } };
  if (!answer.success)
    throw new Error(`${path} answered ${response.status} ${answer.error.code}: ${answer.error.message}`);
  return answer.data;
}

function table(rows: readonly Row[]): string {
  const lines = [
    ["trade", "platform", "estimate (in → out, base units)", "on chain", "fees + rent - rent back", ""],
    ...rows.map(({ what, platform, estimated, onChain, costs, equal }) => [
      what,
      platform,
      estimated,
      onChain,
      costs,
      equal ? "equal" : "DIFFERS",
    ]),
  ];
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
