import { Address } from "../../primitives/address.ts";
import { formatAmount, parseAmount } from "../../primitives/amount.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { rest } from "../proof/pause.ts";
import { publicKeyOf } from "../signature/ed25519.ts";
import { type CliIo, type Command, type CommandLine, EXIT, parseNumber, UsageError } from "./command.ts";
import { print } from "./print.ts";
import { readConfig } from "./settings/config.ts";
import { callNode, nodeNetwork } from "./settings/network.ts";
import { defaultKeyPath, readSettings, readWallet } from "./settings/session.ts";
import { findToken } from "./settings/tokens.ts";

const SOL_DECIMALS = 9;
/** How long to wait for an airdrop. Milliseconds. */
const AIRDROP_PAUSE_MS = 250;
const AIRDROP_TRIES = 120;

const wallet: Command = {
  name: "wallet",
  usage: "wallet <new|show|balance> [FILE]",
  summary: "makes a wallet, shows its address, or reads its balances from your node",
  flags: ["node"],
  help: `new writes a new private key to FILE, or to ~/.config/solana/id.json, and never over a file that exists.

  tradewire wallet new
  tradewire wallet show
  tradewire wallet balance --node http://127.0.0.1:8899`,
  async run(line, io) {
    const [action, file] = line.words;
    if (file !== undefined && action !== "new") throw new UsageError(`wallet ${action} takes no FILE: use --key-file.`);
    if (action === "new") return createWallet(line, io, file ?? defaultKeyPath(io));
    if (action === "show") {
      const { publicKey } = await readWallet(line, io, await readConfig(line, io));
      print(line, io, { address: publicKey.toString() }, [publicKey.toString()]);
      return EXIT.done;
    }
    if (action === "balance") return showBalance(line, io);
    throw new UsageError(`wallet ${action}: use new, show or balance.`);
  },
};

const airdrop: Command = {
  name: "airdrop",
  usage: "airdrop <SOL>",
  summary: "asks the embedded chain, or a test network, for SOL",
  flags: ["node"],
  help: "  tradewire airdrop 10 --node http://127.0.0.1:8899",
  async run(line, io) {
    const node = await requireNode(line, io);
    const lamports = parseAmount(parseNumber(line.words[0] ?? "", "SOL"), SOL_DECIMALS);
    if (lamports === undefined) throw new UsageError("SOL is an amount above zero.");
    if ((await nodeNetwork(node)) === "mainnet") throw new UsageError("There are no airdrops on mainnet.");
    const { publicKey } = await readWallet(line, io, await readConfig(line, io));
    const address = publicKey.toString();
    const signature = String(await callNode(node, "requestAirdrop", [address, Number(lamports)]));
    await landed(node, signature, io.signal);
    const sol = formatAmount(lamports, SOL_DECIMALS);
    print(line, io, { address, sol, signature }, [`${sol} SOL for ${address}.`, signature]);
    return EXIT.done;
  },
};

/** Commands about the wallet itself; none of them needs the service. */
export const WALLET_COMMANDS: readonly Command[] = [wallet, airdrop];

async function createWallet(line: CommandLine, io: CliIo, path: string): Promise<number> {
  const seed = crypto.getRandomValues(new Uint8Array(32));
  const key = publicKeyOf(seed);
  try {
    await io.createSecret(path, `${JSON.stringify([...seed, ...key])}\n`);
  } catch (error) {
    const exists = (error as { code?: string }).code === "EEXIST";
    throw new UsageError(exists ? `${path} exists: a wallet is never written over.` : `${path} cannot be written.`);
  }
  const address = Address.from(key).toString();
  print(line, io, { address, savedTo: path }, [
    address,
    `The private key is in ${path}. Anyone who reads that file controls the wallet; if the file is lost, so is the money.`,
  ]);
  return EXIT.done;
}

/** Waits until the node has confirmed the airdrop, so that the SOL can be spent. @throws UsageError; Error if it failed on the chain */
async function landed(node: string, signature: string, signal: AbortSignal): Promise<void> {
  for (let tries = 0; tries < AIRDROP_TRIES; tries++) {
    const { value } = (await callNode(node, "getSignatureStatuses", [[signature]])) as {
      readonly value: readonly ({ readonly confirmationStatus?: string; readonly err?: unknown } | null)[];
    };
    if (value[0]?.err != null) throw new Error(`The airdrop ${signature} failed: ${JSON.stringify(value[0].err)}.`);
    if (["confirmed", "finalized"].includes(value[0]?.confirmationStatus ?? "")) return;
    await rest(AIRDROP_PAUSE_MS, signal);
  }
  throw new UsageError(`The airdrop ${signature} is not confirmed yet.`);
}

interface TokenBalance {
  readonly mint: string;
  readonly symbol: string;
  readonly amount: string;
}

async function showBalance(line: CommandLine, io: CliIo): Promise<number> {
  const node = await requireNode(line, io);
  const config = await readConfig(line, io);
  const address = (await readWallet(line, io, config)).publicKey.toString();
  const { value } = (await callNode(node, "getBalance", [address, { commitment: "confirmed" }])) as { value: number };
  const tokens: TokenBalance[] = [];
  for (const programId of [TOKEN_PROGRAM, TOKEN_2022_PROGRAM].map(String)) {
    const query = [address, { programId }, { encoding: "jsonParsed", commitment: "confirmed" }];
    const found = (await callNode(node, "getTokenAccountsByOwner", query)) as {
      readonly value: readonly ParsedToken[];
    };
    for (const { account } of found.value) {
      const { mint, tokenAmount } = account.data.parsed.info;
      const amount = formatAmount(BigInt(tokenAmount.amount), tokenAmount.decimals);
      if (tokenAmount.amount !== "0") tokens.push({ mint, symbol: findToken(mint, config.tokens).symbol, amount });
    }
  }
  const sol = formatAmount(BigInt(value), SOL_DECIMALS);
  const lines = [`${sol} SOL`, ...tokens.map(({ amount, symbol, mint }) => `${amount} ${symbol}  ${mint}`)];
  print(line, io, { address, sol, tokens }, lines);
  return EXIT.done;
}

interface ParsedToken {
  readonly account: {
    readonly data: {
      readonly parsed: {
        readonly info: {
          readonly mint: string;
          readonly tokenAmount: { readonly amount: string; readonly decimals: number };
        };
      };
    };
  };
}

async function requireNode(line: CommandLine, io: CliIo): Promise<string> {
  const { node } = await readSettings(line, io);
  if (node !== undefined) return node;
  throw new UsageError("Balances and airdrops come from a node: pass --node URL, or set TRADEWIRE_NODE.");
}
