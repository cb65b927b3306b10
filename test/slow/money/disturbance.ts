import { readBaseInstruction } from "../../../src/client/verify/base-instruction.ts";
import { addressWithSeed } from "../../../src/client/verify/derived-address.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { TradewireError } from "../../../src/errors/tradewire-error.ts";
import { Address } from "../../../src/primitives/address.ts";
import { readU64, writeU64 } from "../../../src/primitives/bytes.ts";
import type { Random } from "../../../src/primitives/random.ts";
import type { Account } from "../../../src/solana/account.ts";
import { SOL_MINT, SYSTEM_PROGRAM } from "../../../src/solana/programs.ts";
import { isTokenAccount } from "../../../src/solana/token/token-account.ts";
import type { BuildPorts } from "../../../src/trade/build/build-trade.ts";
import { buildTrade } from "../../../src/trade/build/build-trade.ts";
import type { BuiltTrade, TradeRequest } from "../../../src/trade/trade.ts";
import type { DrawnWorld } from "./drawn-world.ts";
import { executed } from "./executed-trade.ts";

/** What happens between a build and its landing: nothing, something that may make it fail, or something that must not. */
export type Disturbance = "none" | "market" | "strangers";

const DUST = [1n, 650_240n, 890_880n, 1_488_440n, 3_000_000n] as const;
const GIFTS = [1n, 5_000n, 2_000_000n] as const;
/** Places in a token account. */
const AT = { mint: 0, owner: 32, amount: 64 } as const;

/** Lets time pass and another wallet trade, or strangers send lamports and tokens; most builds land undisturbed. */
export async function disturb(
  world: DrawnWorld,
  portsNow: (random: Random) => BuildPorts,
  request: TradeRequest,
  built: BuiltTrade,
  random: Random,
): Promise<Disturbance> {
  const kind = random.pick(["none", "none", "none", "market", "strangers"] as const);
  if (kind === "market") await moveMarket(world, portsNow, request, built, random);
  if (kind === "strangers") actAsStrangers(world, built, random);
  return kind;
}

async function moveMarket(
  { svm, mints }: DrawnWorld,
  portsNow: (random: Random) => BuildPorts,
  request: TradeRequest,
  { estimates }: BuiltTrade,
  random: Random,
): Promise<void> {
  const seconds = random.pick([0n, 1n, 30n]);
  const { slot, epoch, unixTimestamp } = svm.clock();
  svm.setClock({
    slot: slot + seconds * 4n,
    epoch: random.chance(0.3) ? epoch + 1n : epoch,
    unixTimestamp: unixTimestamp + seconds,
  });
  const wallet = svm.newWallet(1n << 52n);
  for (const mint of mints) if (mint !== SOL_MINT) svm.setTokens(wallet, mint, 1n << 60n);
  const isSame = random.chance(0.6);
  const part = (isSame ? estimates.inAmount : estimates.outAmount) / random.pick([1_000n, 100n, 10n, 3n]) + 1n;
  try {
    const other = await buildTrade(portsNow(random), {
      principal: { accountId: "other", keyId: "other", wallet },
      inMint: isSame ? request.inMint : request.outMint,
      outMint: isSame ? request.outMint : request.inMint,
      mode: "exactIn",
      amount: Number.NaN,
      amountRaw: part.toString(),
      slippage: 0.9,
      priority: "fast",
      maxPriceImpact: undefined,
      maxPriorityCost: undefined,
    });
    executed(svm, other);
  } catch (error) {
    if (!(error instanceof TradewireError)) throw error;
  }
}

/**
 * Lamports to every account that the trade writes, but for the temporary one, whose address nobody can know, and tokens to the wallet's
 * accounts, but for those that it closes: that a deposit keeps those from closing is known.
 */
function actAsStrangers({ svm }: DrawnWorld, { unsignedTransaction }: BuiltTrade, random: Random): void {
  const { accounts, instructions } = readTransaction(unsignedTransaction);
  const bases = instructions.map((instruction) => readBaseInstruction(instruction));
  const temporary = bases.flatMap((base) =>
    base?.kind === "createWithSeed" ? [addressWithSeed(base.base, base.seed, base.owner)] : [],
  );
  const closed = bases.flatMap((base) => (base?.kind === "closeTokenAccount" ? [base.account.address] : []));
  for (const { address, index, writable } of accounts) {
    if (!writable || index === 0 || temporary.includes(address) || random.chance(0.4)) continue;
    const account = svm.get(address);
    if (account !== null && isOwnToken(account, accounts[0]!.address) && !closed.includes(address)) {
      const { data } = account;
      writeU64(data, AT.amount, readU64(data, AT.amount) + random.pick(GIFTS));
      svm.setAccount(account);
    } else if (account !== null) svm.setAccount({ ...account, lamports: account.lamports + random.pick(GIFTS) });
    else svm.setAccount({ address, owner: SYSTEM_PROGRAM, data: new Uint8Array(0), lamports: random.pick(DUST) });
  }
}

/** True of an account of the wallet with tokens that are not lamports of the account. */
function isOwnToken(account: Account, wallet: Address): boolean {
  const { data } = account;
  return isTokenAccount(account) && Address.from(data, AT.owner) === wallet && Address.from(data, AT.mint) !== SOL_MINT;
}
