import { readTransaction } from "../../src/client/verify/read-transaction.ts";
import type { HotMarket, Markets, PairMarkets } from "../../src/market/port.ts";
import { Address } from "../../src/primitives/address.ts";
import type { Random } from "../../src/primitives/random.ts";
import { CPMM_PROGRAM, putCpmmConfigs, putCpmmPool } from "../../src/sandbox/world/cpmm.ts";
import { createWorldLedger } from "../../src/sandbox/world/genesis-ledger.ts";
import { setComputeUnitLimit } from "../../src/solana/compute-budget.ts";
import { HUB_MINTS } from "../../src/solana/hub-mints.ts";
import { MAX_TRANSACTION_ACCOUNTS } from "../../src/solana/message.ts";
import { associatedTokenAddress } from "../../src/solana/pda.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import { decodeMint } from "../../src/solana/token/mint.ts";
import type { BuildPorts } from "../../src/trade/build/build-trade.ts";
import { raydiumCpmm } from "../../src/venues/raydium-cpmm/venue.ts";
import type { Venue } from "../../src/venues/venue.ts";
import { readMarket } from "../conformance/trades.ts";
import { memoryPorts } from "./memory-ports.ts";
import { type Executed, Svm } from "./svm.ts";
import { WORLD_CLOCK, worldOnSvm } from "./world.ts";

const CONFIGS = 4;

/** Two tokens, the hubs, and up to four constant-product pools of every pair of them, on an SVM. */
export interface SplitWorld {
  readonly svm: Svm;
  readonly wallet: Address;
  /** Two tokens, then the hubs. */
  readonly mints: readonly Address[];
  /** What a build reads, as the chain is now. */
  ports(): BuildPorts;
  /** What the wallet holds of a mint; lamports of SOL. */
  held(mint: Address): bigint;
  /** Executes a built transaction. */
  execute(wire: Uint8Array): Executed;
}

/** Draws a world. Prices agree but for one percent, depths lie within two orders of magnitude. */
export function drawSplitWorld(random: Random): SplitWorld {
  const svm = new Svm(WORLD_CLOCK);
  const program = worldOnSvm(5).world.programs.find(({ id }) => id === CPMM_PROGRAM)!;
  svm.addProgram(CPMM_PROGRAM, program.bytes);
  const ledger = createWorldLedger();
  const owner = Address.from(random.bytes(32));
  const mints = [Address.from(random.bytes(32)), Address.from(random.bytes(32)), ...HUB_MINTS];
  for (const [index, mint] of mints.entries())
    if (mint !== SOL_MINT)
      ledger.mint({ mint, program: TOKEN_PROGRAM, decimals: 6, name: `T${index}`, symbol: `T${index}` });
  putCpmmConfigs(ledger, owner, owner);
  const pools: WorldPool[] = [];
  const priceOf = mints.map(() => random.between(1n, 50n));
  for (const [i, a] of mints.entries()) {
    for (const [j, b] of mints.entries()) {
      if (j <= i) continue;
      const count = Number(random.between(0n, BigInt(CONFIGS)));
      for (let config = 0; config < count; config++) {
        const depth = random.between(10n ** 10n, 10n ** 12n);
        const drift = random.between(9_950n, 10_050n);
        const sides = [
          { mint: a, decimals: a === SOL_MINT ? 9 : 6, amount: depth * priceOf[j]! },
          { mint: b, decimals: b === SOL_MINT ? 9 : 6, amount: (depth * priceOf[i]! * drift) / 10_000n },
        ] as const;
        const pool = putCpmmPool(ledger, { config, creator: owner, sides, openTime: 0n, epoch: 1_000n });
        pools.push({ a, b, pool, venue: raydiumCpmm });
      }
    }
  }
  for (const account of ledger.accounts()) svm.setAccount(account);
  const wallet = svm.newWallet(10n ** 15n);
  for (const mint of mints.slice(0, 2)) svm.setTokens(wallet, mint, 10n ** 15n);
  return {
    svm,
    wallet,
    mints,
    ports: () => portsOf(svm, wallet, mints, pools),
    held: (mint) => heldBy(svm, wallet, mint),
    execute: (wire) => executeWire(svm, wallet, wire),
  };
}

/** What a wallet holds of a mint of the Token program; lamports of SOL. */
export function heldBy(svm: Svm, wallet: Address, mint: Address): bigint {
  if (mint === SOL_MINT) return svm.lamports(wallet);
  const account = associatedTokenAddress(wallet, mint, TOKEN_PROGRAM);
  return svm.get(account) === null ? 0n : svm.tokens(account);
}

/** A market of a pair on an SVM. */
export interface WorldPool {
  readonly a: Address;
  readonly b: Address;
  readonly pool: Address;
  readonly venue: Venue;
}

/** What a build for `wallet` reads of these mints and pools, as the chain is now. */
export function portsOf(svm: Svm, wallet: Address, mints: readonly Address[], pools: readonly WorldPool[]): BuildPorts {
  const clock = svm.clock();
  const hot = pools.map(({ a, b, pool, venue }) => {
    const { market, state } = readMarket(svm, venue, pool, { a, b });
    return { a, b, hot: { venue, market, state, slot: clock.slot } as HotMarket };
  });
  const marketsOf = ({ a, b }: { readonly a: Address; readonly b: Address }): PairMarkets => ({
    markets: hot.filter((one) => (one.a === a && one.b === b) || (one.a === b && one.b === a)).map((one) => one.hot),
    faults: [],
    searched: [...new Set(pools.map(({ venue }) => venue.id))],
  });
  const markets: Markets = {
    marketsOf,
    knownMarkets: marketsOf,
    searchSoon: () => undefined,
    mint: (address) => (mints.includes(address) ? decodeMint(svm.get(address)!) : null),
    account: (address) => svm.get(address),
    warm: async () => undefined,
    refresh: async () => undefined,
  };
  const base = memoryPorts({ mint: mints[0]!, clock, wallet, markets: [] });
  return {
    ...base,
    markets,
    head: { ...base.head, rentExemption: (space) => svm.rent(space) },
    settings: { ...base.settings, transactionV1: true },
  };
}

/**
 * Runs the instructions of a wire transaction. What a message of version 1 says of its budget becomes an instruction. One that
 * names as many accounts as a transaction may lock has no room for the program of that instruction: what it used is compared with its limit.
 */
export function executeWire(svm: Svm, wallet: Address, wire: Uint8Array): Executed {
  const { accounts: locked, instructions, config } = readTransaction(wire);
  const units = config?.computeUnitLimit;
  const own = instructions.map(({ program, accounts, data }) => ({
    program,
    accounts: accounts.map(({ address, writable }) => ({ address, writable, signer: address === wallet })),
    data,
  }));
  if (units === undefined) return svm.send(wallet, own);
  if (locked.length < MAX_TRANSACTION_ACCOUNTS) return svm.send(wallet, [setComputeUnitLimit(units), ...own]);
  const done = svm.send(wallet, own);
  const isWithin = done.computeUnits <= units;
  return isWithin ? done : { ...done, ok: false, error: `used ${done.computeUnits} of ${units} units` };
}
