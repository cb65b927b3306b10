import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import bs58 from "bs58";
import type { App } from "../app/app.ts";
import { Address } from "../primitives/address.ts";
import { concatBytes } from "../primitives/bytes.ts";

/** A wallet with SOL on the embedded chain and an API key, for experiments. Worth nothing anywhere else. */
export interface DemoWallet {
  readonly address: Address;
  /** Base58 of the 64-byte secret key, as wallets import it. */
  readonly secretKey: string;
  readonly apiKey: string;
}

const DEMO_LAMPORTS = 100_000_000_000n;

/**
 * Creates a demo wallet: a fresh key pair, 100 SOL of the embedded chain, and an ordinary registration. Undefined without an
 * embedded chain.
 */
export async function createDemoWallet({ giveSol, accounts }: App): Promise<DemoWallet | undefined> {
  if (giveSol === undefined) return undefined;
  const { privateKey } = generateKeyPairSync("ed25519");
  const jwk = privateKey.export({ format: "jwk" });
  const publicBytes = Buffer.from(jwk.x!, "base64url");
  const wallet = Address.from(publicBytes);
  const { message } = await accounts.createChallenge(wallet);
  const signature = sign(null, Buffer.from(message), createPrivateKey({ key: jwk, format: "jwk" }));
  const registration = { wallet, message, signature, label: "demo", revokeOthers: false };
  const [{ apiKey }] = await Promise.all([accounts.register(registration), giveSol(wallet, DEMO_LAMPORTS)]);
  return {
    address: wallet,
    secretKey: bs58.encode(concatBytes(Buffer.from(jwk.d!, "base64url"), publicBytes)),
    apiKey,
  };
}

/**
 * Writes the line that sets the demo's variables to a file that only this user can read.
 *
 * @returns its path
 * @throws Error if the folder cannot be written to
 */
export function writeDemoFile(dataDir: string, app: App, demo: DemoWallet): string {
  const path = resolve(join(dataDir, "demo.env"));
  mkdirSync(dataDir, { recursive: true });
  // A file that is there already would keep its mode.
  rmSync(path, { force: true });
  writeFileSync(path, `${exportLine(app, demo)}\n`, { mode: 0o600, flag: "wx" });
  return path;
}

function exportLine({ url, chain }: App, demo: DemoWallet): string {
  const mint = chain?.tokens[0]?.mint ?? "";
  // NODE is taken: npm sets it for what it runs.
  const node = chain === undefined ? "" : ` NODE_URL=${chain.rpcUrl}`;
  return `export TRADEWIRE_URL=${url} API_KEY=${demo.apiKey} KEY=${demo.secretKey} MINT=${mint}${node}`;
}

/**
 * What `npm start` prints once the service is ready: its addresses, and commands to copy.
 *
 * @param demoFile where the demo's secrets are; absent: they are printed, which only a terminal may receive
 */
export function describeStart(app: App, demo: DemoWallet | undefined, demoFile?: string): string {
  const lines = ["", "Tradewire is ready.", "", ...addressLines(app), ...tokenLines(app)];
  if (demo !== undefined) lines.push(...demoLines(app, demo, demoFile));
  return `${lines.join("\n")}\n\n`;
}

function addressLines({ url, chain, admin }: App): readonly string[] {
  return [
    `  REST, Connect, gRPC-Web and gRPC   ${url}`,
    `  Trade in the browser               ${url}/trade`,
    `  Status, reference, registration    ${url}/  ${url}/docs  ${url}/register`,
    `  API document                       ${url}/v1/openapi.json`,
    `  Metrics, health, readiness         ${admin.url}/metrics  /healthz  /readyz`,
    ...(chain === undefined
      ? []
      : [
          `  Embedded chain, JSON-RPC           ${chain.rpcUrl}`,
          `  Embedded chain, WebSocket          ${chain.wsUrl}`,
          `  Embedded chain, stand-ins          ${chain.standIns.join(", ") || "none"}`,
          `  Embedded chain, real programs      ${chain.realPrograms.join(", ") || "none"}`,
        ]),
  ];
}

/** The tokens of the embedded chain, and where each is traded; nothing without one. */
function tokenLines({ chain }: App): readonly string[] {
  if (chain === undefined) return [];
  const tokens = chain.tokens.map(({ symbol, mint, markets }) => {
    const places = [...new Set(markets.map(({ venue, against }) => `${venue} for ${against}`))].join(", ");
    return `    ${symbol.padEnd(10)} ${mint.padEnd(44)}  ${places}`;
  });
  return ["", "  Tokens of the embedded chain", ...tokens];
}

/** The demo wallet, and calls to make with it; nothing without a token to trade. */
function demoLines(app: App, demo: DemoWallet, demoFile: string | undefined): readonly string[] {
  const { url, chain } = app;
  const token = chain?.tokens[0];
  if (token === undefined) return [];
  const body = `{"mint":"${token.mint}","solAmount":0.1,"slippage":0.05,"priority":"fast"}`;
  const authorization =
    demoFile === undefined ? `'Authorization: Bearer ${demo.apiKey}'` : '"Authorization: Bearer $API_KEY"';
  const { host, protocol } = new URL(url);
  const grpcurl = protocol === "https:" ? "grpcurl" : "grpcurl -plaintext";
  return [
    "",
    "  Demo wallet, worth nothing outside this chain",
    `    address     ${demo.address}`,
    ...(demoFile === undefined
      ? [`    secret key  ${demo.secretKey}`, `    API key     ${demo.apiKey}`]
      : [`    secrets     ${demoFile}`]),
    "",
    "  Try it: copy this line into another terminal, and any snippet of README.md and docs/guide.md runs there",
    demoFile === undefined ? `    ${exportLine(app, demo)}` : `    . '${demoFile.replaceAll("'", "'\\''")}'`,
    "",
    `    curl -s ${url}/v1/tx/buy -H ${authorization} -H 'Content-Type: application/json' -d '${body}'`,
    `    ${grpcurl} ${host} list`,
    `    ${grpcurl} -H ${authorization} -d '${body.replace('"fast"', '"PRIORITY_FAST"')}' ${host} tradewire.v1.TradeService/Buy`,
  ];
}
