import { getTransactionDecoder } from "@solana/kit";
import { FailedTransactionMetadata } from "litesvm";
import { expect, test } from "vitest";
import { tokenAccountAddress } from "../../../src/client/verify/derived-address.ts";
import { TradewireError } from "../../../src/errors/tradewire-error.ts";
import type { PairMarkets } from "../../../src/market/port.ts";
import type { Address } from "../../../src/primitives/address.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM } from "../../../src/solana/programs.ts";
import { decodeMint } from "../../../src/solana/token/mint.ts";
import { type BuildPorts, buildTrade } from "../../../src/trade/build/build-trade.ts";
import { UNITS } from "../../../src/trade/build/parts/compute-units.ts";
import { type AccountExtension, withExtensions } from "../../support/extended-account.ts";
import { memoryPorts } from "../../support/memory-ports.ts";
import { type ProgramWorld, programWorld, WORLD_NAMES } from "./program-worlds.ts";

/**
 * Owners can set up their accounts of Token-2022 so that venues cannot take from them, or pay into them. What is built for such an
 * account must execute; the rest must be refused, and no more than would fail.
 */
const HELD = 10n ** 11n;
/** Base units. */
const AMOUNT = "1000000000";

const confidential = (takesPlain: number, balance: number): AccountExtension => {
  const value = new Uint8Array(295);
  value[262] = takesPlain;
  value[100] = balance;
  return [5, value];
};
const SETTINGS: readonly (readonly [name: string, more: readonly AccountExtension[]])[] = [
  ["none", []],
  ["memo", [[8, Uint8Array.of(1)]]],
  ["guard", [[11, Uint8Array.of(1)]]],
  ["confidential balance", [confidential(1, 9)]],
  ["no plain transfers", [confidential(0, 0)]],
];
const TRADES = ["buy", "sell", "sell everything"] as const;

const token2022In = ({ svm, pair }: ProgramWorld): Address | undefined =>
  pair.find((mint) => mint !== SOL_MINT && svm.get(mint)!.owner === TOKEN_2022_PROGRAM);
const worlds = WORLD_NAMES.filter((name) => token2022In(programWorld(name)) !== undefined);

/** Has a wallet hold both mints, that of Token-2022 in an account with these extensions beside the usual ones. */
function hold({ svm, pair }: ProgramWorld, wallet: Address, mint: Address, more: readonly AccountExtension[]): void {
  for (const side of pair) if (side !== SOL_MINT) svm.setTokens(wallet, side, HELD);
  const address = tokenAccountAddress(wallet, mint, TOKEN_2022_PROGRAM);
  const withheld: AccountExtension[] = decodeMint(svm.get(mint)!).transferFees ? [[2, new Uint8Array(8)]] : [];
  const data = withExtensions(svm.get(address)!.data, [[7, new Uint8Array(0)], ...withheld, ...more]);
  svm.setAccount({ address, owner: TOKEN_2022_PROGRAM, data });
}

function portsOf({ svm, pair, markets }: ProgramWorld, wallet: Address): BuildPorts {
  const marketsOf = ({ a, b }: { readonly a: Address; readonly b: Address }): PairMarkets => {
    const found = markets.filter(({ mints }) => mints.includes(a) && mints.includes(b)).map(({ hot }) => hot);
    return { markets: found, faults: [], searched: [] };
  };
  const base = memoryPorts({ mint: pair[1], clock: svm.clock(), wallet, markets: [] });
  const account = (address: Address) => svm.get(address);
  const mint = (address: Address) => {
    const found = svm.get(address);
    return found === null ? null : decodeMint(found);
  };
  return { ...base, markets: { ...base.markets, marketsOf, knownMarkets: marketsOf, mint, account } };
}

interface Outcome {
  /** "executes", or why not. */
  readonly became: string;
  readonly units: number;
}

/** What becomes of a trade of the wallet. */
async function outcome(
  world: ProgramWorld,
  wallet: Address,
  mint: Address,
  more: readonly AccountExtension[],
  trade: string,
): Promise<Outcome> {
  const { svm, pair } = world;
  const other = pair.find((side) => side !== mint)!;
  const [inMint, outMint] = trade === "buy" ? [other, mint] : [mint, other];
  hold(world, wallet, mint, more);
  try {
    const { unsignedTransaction, platform } = await buildTrade(portsOf(world, wallet), {
      principal: { accountId: "test", keyId: "test", wallet },
      inMint,
      outMint,
      mode: "exactIn",
      amount: Number.NaN,
      ...(trade === "sell everything" ? { sellPercent: 100 } : { amountRaw: AMOUNT }),
      slippage: 0.01,
      priority: "fast",
      maxPriceImpact: undefined,
      maxPriorityCost: undefined,
    });
    const done = svm.inner.simulateTransaction(getTransactionDecoder().decode(unsignedTransaction));
    const failed = done instanceof FailedTransactionMetadata ? done.meta().logs().slice(-4).join("; ") : undefined;
    const became = failed === undefined ? "executes" : `${platform} fails: ${failed}`;
    return { became, units: Number(done.meta().computeUnitsConsumed()) };
  } catch (error) {
    if (error instanceof TradewireError) return { became: error.code, units: 0 };
    throw error;
  }
}

/** Programs that send a memo before they pay. */
const SENDS_MEMOS = /^(orca_whirlpool|meteora_dlmm)/;

function expectedOf(world: string, setting: string, trade: string): string {
  const isBuy = trade === "buy";
  if (setting === "guard" && !isBuy) return "NO_ROUTE";
  if (setting === "no plain transfers" && isBuy) return "NO_ROUTE";
  if (setting === "memo" && isBuy && !SENDS_MEMOS.test(world)) return "NO_ROUTE";
  return "executes";
}

/** Without any world one name says why nothing is run. */
const names = worlds.length > 0 ? worlds : ["no program of a venue that trades Token-2022 is here"];
test.runIf(worlds.length > 0).each(names)(
  "%s: what is built for an account with settings of its owner executes",
  async (name) => {
    const world = programWorld(name);
    const mint = token2022In(world)!;
    const [became, expected]: [string[], string[]] = [[], []];
    for (const trade of TRADES) {
      // One wallet: what a program takes to derive its accounts depends on the address.
      const wallet = world.svm.newWallet(10n ** 13n);
      const plain = await outcome(world, wallet, mint, [], trade);
      // A young curve has nothing to sell into.
      if (plain.became === "INSUFFICIENT_LIQUIDITY") continue;
      for (const [setting, more] of SETTINGS) {
        const done = await outcome(world, wallet, mint, more, trade);
        became.push(`${trade}, ${setting}: ${done.became}`);
        // Over a hub, the wallet's account of it is opened too, for units that differ from wallet to wallet.
        if (setting === "memo" && done.became === "executes" && world.markets.length === 1)
          expect(done.units - plain.units).toBeLessThanOrEqual(UNITS.memo);
        expected.push(`${trade}, ${setting}: ${expectedOf(name, setting, trade)}`);
      }
    }
    expect(became).toEqual(expected);
    expect(became.length).toBeGreaterThanOrEqual(SETTINGS.length);
  },
);
