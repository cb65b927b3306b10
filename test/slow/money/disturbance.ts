import { readBaseInstruction } from "../../../src/client/verify/base-instruction.ts";
import { addressWithSeed, tokenAccountAddress } from "../../../src/client/verify/derived-address.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { TradewireError } from "../../../src/errors/tradewire-error.ts";
import { Address } from "../../../src/primitives/address.ts";
import { readU64, writeU64 } from "../../../src/primitives/bytes.ts";
import type { Random } from "../../../src/primitives/random.ts";
import type { Account } from "../../../src/solana/account.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import { isTokenAccount } from "../../../src/solana/token/token-account.ts";
import { transferLamports } from "../../../src/solana/token/token-instructions.ts";
import type { BuildPorts } from "../../../src/trade/build/build-trade.ts";
import { buildTrade } from "../../../src/trade/build/build-trade.ts";
import type { BuiltTrade, TradeRequest } from "../../../src/trade/trade.ts";
import type { Svm } from "../../support/svm.ts";
import { drawOrder } from "./drawn-order.ts";
import { openAccount } from "./drawn-wallet.ts";
import type { DrawnWorld } from "./drawn-world.ts";
import { type Disturbance, executeAndJudge, executed } from "./executed-trade.ts";

const DUST = [1n, 650_240n, 890_880n, 1_488_440n, 3_000_000n] as const;
const GIFTS = [1n, 5_000n, 2_000_000n] as const;
/** Places in a token account. */
const AT = { mint: 0, owner: 32, amount: 64 } as const;

/** What happened, and what is wrong with a trade that the wallet made meanwhile. */
interface Disturbed {
  readonly since: Disturbance;
  readonly found: readonly string[];
}

/**
 * Lets time pass and another wallet trade, the wallet itself make another trade, or strangers send lamports and tokens; most builds land
 * undisturbed.
 */
export async function disturb(
  world: DrawnWorld,
  portsNow: (random: Random) => BuildPorts,
  request: TradeRequest,
  built: BuiltTrade,
  random: Random,
): Promise<Disturbed> {
  const since = random.pick(["none", "none", "none", "market", "own", "strangers"] as const);
  if (since === "market")
    for (let left = random.pick([1, 1, 1, 3]); left > 0; left--)
      await moveMarket(world, portsNow, request, built, random);
  if (since === "strangers") actAsStrangers(world, built, random);
  return { since, found: since === "own" ? await tradeMeanwhile(world, portsNow, request, random) : [] };
}

/** Another trade of the wallet, built beside the one that waits, lands before it. @returns what differs, in words */
async function tradeMeanwhile(
  world: DrawnWorld,
  portsNow: (random: Random) => BuildPorts,
  { principal }: TradeRequest,
  random: Random,
): Promise<readonly string[]> {
  const ports = portsNow(random);
  const order = drawOrder(world, principal.wallet, random);
  try {
    const other = await buildTrade(ports, order);
    const sealed = ports.sealer.open(other.submissionToken, principal.accountId);
    return executeAndJudge(world.svm, other, sealed, order, "none").map(
      (fault) => `its own ${other.platform}: ${fault}`,
    );
  } catch (error) {
    if (!(error instanceof TradewireError)) throw error;
    return [];
  }
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
  const part = (isSame ? estimates.inAmount : estimates.outAmount) / random.pick([1_000n, 100n, 10n, 3n, 1n]) + 1n;
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
 * accounts, seldom to one that it closes, which then fails. Accounts that it opens may be open by then.
 */
function actAsStrangers(world: DrawnWorld, { unsignedTransaction }: BuiltTrade, random: Random): void {
  const { svm, mints } = world;
  const { accounts, instructions } = readTransaction(unsignedTransaction);
  const wallet = accounts[0]!.address;
  const bases = instructions.map((instruction) => readBaseInstruction(instruction));
  const temporary = bases.flatMap((base) =>
    base?.kind === "createWithSeed" ? [addressWithSeed(base.base, base.seed, base.owner)] : [],
  );
  const closed = bases.flatMap((base) => (base?.kind === "closeTokenAccount" ? [base.account.address] : []));
  for (const { address, index, writable } of accounts) {
    if (!writable || index === 0 || temporary.includes(address) || random.chance(0.4)) continue;
    const account = svm.get(address);
    const opens = mints.find((mint) => tokenAccountAddress(wallet, mint, svm.get(mint)!.owner) === address);
    if (account === null && opens !== undefined && random.chance(0.5))
      openAccount(world, random, wallet, opens, random.pick([0n, ...GIFTS]));
    else if (account !== null && isOwnToken(account, wallet) && (!closed.includes(address) || random.chance(0.2))) {
      const { data } = account;
      writeU64(data, AT.amount, readU64(data, AT.amount) + random.pick(GIFTS));
      svm.setAccount(account);
    } else if (account !== null) svm.setAccount({ ...account, lamports: account.lamports + random.pick(GIFTS) });
    else sendLamports(svm, address, random.pick(DUST));
  }
}

/** A transfer by a stranger. The runtime refuses one that would leave less than the rent at an address without an account. */
function sendLamports(svm: Svm, to: Address, amount: bigint): void {
  const stranger = svm.newWallet();
  svm.send(stranger, [transferLamports(stranger, to, amount)]);
}

/** True of an account of the wallet with tokens that are not lamports of the account. */
function isOwnToken(account: Account, wallet: Address): boolean {
  const { data } = account;
  return isTokenAccount(account) && Address.from(data, AT.owner) === wallet && Address.from(data, AT.mint) !== SOL_MINT;
}
