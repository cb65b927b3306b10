import { tokenAccountAddress } from "../../../src/client/verify/derived-address.ts";
import { Address } from "../../../src/primitives/address.ts";
import { readU64 } from "../../../src/primitives/bytes.ts";
import type { Random } from "../../../src/primitives/random.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import { isTokenAccount } from "../../../src/solana/token/token-account.ts";
import type { TradeRequest } from "../../../src/trade/trade.ts";
import type { DrawnWorld } from "./drawn-world.ts";

const SHARES = [100, 100, 50, 33.333333333, 0.000001, 99.999999999, 7.7] as const;
const SLIPPAGES = [0, 0, 1e-9, 0.001, 0.01, 0.05, 0.5, 0.999999999] as const;
const PRIORITIES = ["economy", "fast", "faster", "fastest"] as const;
const U64_MAX = (1n << 64n) - 1n;

/** An order on the world's pair, its amount anywhere between one base unit and all there can be. */
export function drawOrder(world: DrawnWorld, wallet: Address, random: Random): TradeRequest {
  const [inMint, outMint] = random.chance(0.5) ? world.pair : [world.pair[1], world.pair[0]];
  const isShare = inMint !== SOL_MINT && random.chance(0.25);
  const mode = isShare || random.chance(0.55) ? "exactIn" : "exactOut";
  const amount = isShare
    ? { sellPercent: random.pick(SHARES) }
    : { amountRaw: drawUnits(world, wallet, random, mode === "exactIn" ? inMint : outMint, inMint).toString() };
  return {
    principal: { accountId: "money", keyId: "money", wallet },
    inMint,
    outMint,
    mode,
    amount: Number.NaN,
    ...amount,
    slippage: random.pick(SLIPPAGES),
    priority: random.pick(PRIORITIES),
    maxPriceImpact: undefined,
    maxPriorityCost: undefined,
    maxTransactionVersion: random.pick([0, 0, 1]),
    totalGuard: random.chance(0.7),
    ...(random.chance(0.2) ? { maxPaths: 1 } : {}),
    ...(random.chance(0.1) ? { directOnly: true } : {}),
  };
}

/** Base units of the exact side. */
function drawUnits(world: DrawnWorld, wallet: Address, random: Random, exact: Address, inMint: Address): bigint {
  const held = holdings(world, wallet, inMint);
  const deepest = deepestVault(world, exact);
  const units = random.pick([
    () => 1n,
    () => random.between(1n, 20n),
    () => random.magnitude(10n ** 12n),
    () => random.magnitude(10n ** 12n),
    () => random.magnitude(10n ** 12n),
    () => random.magnitude(1n << 63n),
    () => U64_MAX,
    () => (held > 0n ? random.between(1n, held) : 1n),
    () => held,
    // What markets share.
    () => deepest / random.between(2n, 300n),
    // All of a vault, or nearly.
    () => (deepest > 3n ? deepest - random.magnitude(deepest - 1n) + 1n : 1n),
  ])();
  return units < 1n ? 1n : units;
}

function holdings({ svm }: DrawnWorld, wallet: Address, mint: Address): bigint {
  if (mint === SOL_MINT) return svm.lamports(wallet);
  return svm.tokens(tokenAccountAddress(wallet, mint, svm.get(mint)!.owner));
}

/** The most of a mint that an account named by a market holds: markets name their vaults. */
function deepestVault({ svm, places }: DrawnWorld, mint: Address): bigint {
  let most = 0n;
  for (const { address } of places) {
    const { data } = svm.get(address)!;
    for (let at = 8; at + 32 <= data.length && at < 1_024; at++) {
      if (data[at] === 0) continue;
      const account = svm.get(Address.from(data, at));
      if (account === null || !isTokenAccount(account) || Address.from(account.data, 0) !== mint) continue;
      const amount = readU64(account.data, 64);
      if (amount > most) most = amount;
    }
  }
  return most;
}
