import { getTransactionDecoder, address as kitAddress } from "@solana/kit";
import { FailedTransactionMetadata } from "litesvm";
import { tokenAccountAddress } from "../../../src/client/verify/derived-address.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import type { TradeOrder } from "../../../src/client/verify/trade-expectation.ts";
import { TradewireError } from "../../../src/errors/tradewire-error.ts";
import type { HotMarket, PairMarkets } from "../../../src/market/port.ts";
import { Address } from "../../../src/primitives/address.ts";
import type { Random } from "../../../src/primitives/random.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import { decodeMint } from "../../../src/solana/token/mint.ts";
import { type BuildPorts, buildTrade } from "../../../src/trade/build/build-trade.ts";
import type { BuiltTrade } from "../../../src/trade/trade.ts";
import { AMM_V4_PROGRAM } from "../../../src/venues/raydium-amm-v4/layout.ts";
import { alwaysLean } from "../../support/lean-venue.ts";
import { memoryPorts } from "../../support/memory-ports.ts";
import { asOlderInstruction } from "../venues/support/raydium-amm-v4.ts";
import type { Execution } from "./execution.ts";
import { answerOf, type HonestBuild } from "./honest-builds.ts";
import { planOf } from "./mutations.ts";
import type { ProgramWorld } from "./program-worlds.ts";
import { asVersion1, wireLike } from "./version-1.ts";

/** How a build differs from the plainest one. */
const FORMS = [
  "plain",
  "plain",
  "first buy",
  "tip",
  "version 1",
  "own wrapped SOL",
  "sell everything",
  "sell a share",
  "base units",
  "one path",
  "lean",
] as const;
type Form = (typeof FORMS)[number];

/** An honest build of a world, for one of the world's wallets. */
export interface WorldBuild extends HonestBuild {
  readonly world: ProgramWorld;
  readonly form: Form;
}

const PRIORITIES = ["economy", "fast", "faster", "fastest"] as const;
const TIP_ACCOUNT = Address.of("96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5");
const SLIPPAGES = [0, 0.000000001, 0.001, 0.01, 0.05, 0.333333333, 0.99, 0.999999999, 0.9999999995, 0.9999999999999999];
/** Base units of tokens and of SOL that a wallet holds. */
const HELD = 10n ** 13n;

/** Wallets of a world: with accounts of both mints, without any, with wrapped SOL of its own, and one whose balance is odd. */
type Kind = "rich" | "fresh" | "wrapped" | "odd" | "lean";
const KIND_OF: Readonly<Partial<Record<Form, Kind>>> = {
  "first buy": "fresh",
  "own wrapped SOL": "wrapped",
  "sell everything": "odd",
  lean: "lean",
};

const ports = new Map<string, BuildPorts & { readonly wallet: Address }>();

/** A random order on the world's markets and the service's honest build of it; undefined when it refuses the amount. */
export async function buildInWorld(random: Random, world: ProgramWorld): Promise<WorldBuild | undefined> {
  const form = random.pick(FORMS);
  const { wallet, ...base } = portsOf(form === "lean" ? asLean(world) : world, KIND_OF[form] ?? "rich");
  const [inMint, outMint] = random.chance(0.5) ? world.pair : [world.pair[1], world.pair[0]];
  const sellPercent = inMint === SOL_MINT ? undefined : shareOf(form, random);
  const swapMode = sellPercent !== undefined || random.chance(0.6) ? "exactIn" : "exactOut";
  const decimals = { input: decimalsIn(world, inMint), output: decimalsIn(world, outMint) };
  const scale = 10 ** (swapMode === "exactIn" ? decimals.input : decimals.output);
  const units = random.magnitude(10n ** 12n);
  const isRaw = form === "base units";
  const exact = isRaw ? { amountRaw: units.toString() } : { amount: Number(units) / scale };
  const slippage = random.pick(SLIPPAGES);
  let built: BuiltTrade;
  try {
    built = await buildTrade(formed(base, form, random), {
      principal: { accountId: "test", keyId: "test", wallet },
      inMint,
      outMint,
      mode: swapMode,
      amount: Number.NaN,
      ...(sellPercent === undefined ? exact : { sellPercent }),
      slippage,
      priority: random.pick(PRIORITIES),
      ...(form === "one path" ? { maxPaths: 1, maxLegs: Number(random.between(1n, 3n)) } : {}),
      maxPriceImpact: undefined,
      maxPriorityCost: undefined,
    });
  } catch (error) {
    if (error instanceof TradewireError) return undefined;
    throw error;
  }
  const order: TradeOrder = {
    inputMint: inMint.toString(),
    outputMint: outMint.toString(),
    swapMode,
    slippage,
    ...(sellPercent === undefined ? exact : { sellPercent }),
  };
  const wire = form === "version 1" ? asVersion1(built.unsignedTransaction) : built.unsignedTransaction;
  const answer = answerOf(built);
  return { world, form, venue: built.platform, wallet, order, answer, wire, decimals, lookupTables: new Map() };
}

/** Percent of the balance that a form sells. */
function shareOf(form: Form, random: Random): number | undefined {
  if (form === "sell everything") return 100;
  return form === "sell a share" ? random.pick([0.000001, 0.5, 1, 33.333333333, 50, 99.999999999]) : undefined;
}

function formed(base: BuildPorts, form: Form, random: Random): BuildPorts {
  if (form !== "tip") return base;
  // With the priority fee below what a client allows by default for the smallest order: 0.005 SOL.
  const tips = [{ to: TIP_ACCOUNT, lamports: random.between(1_000n, 4_900_000n) }];
  return { ...base, senders: { choose: () => ({ senders: ["relay"], tips }) } };
}

/** A world's markets with venues each swap of which is lean. */
function asLean(world: ProgramWorld): ProgramWorld {
  const lean = (hot: HotMarket): HotMarket => ({ ...hot, venue: alwaysLean(hot.venue) });
  return { ...world, markets: world.markets.map((market) => ({ ...market, hot: lean(market.hot) })) };
}

function decimalsIn({ svm }: ProgramWorld, mint: Address): number {
  return decodeMint(svm.get(mint)!).decimals;
}

function portsOf(world: ProgramWorld, kind: Kind): BuildPorts & { readonly wallet: Address } {
  const known = ports.get(`${world.name} ${kind}`);
  if (known !== undefined) return known;
  const { svm, markets } = world;
  const wallet = newWallet(world, kind);
  const none: PairMarkets = { markets: [], faults: [], searched: [] };
  const marketsOf = ({ a, b }: { readonly a: Address; readonly b: Address }): PairMarkets => {
    const found = markets.filter(({ mints }) => mints.includes(a) && mints.includes(b)).map(({ hot }) => hot);
    return found.length === 0 ? none : { ...none, markets: found };
  };
  const base = memoryPorts({ mint: world.pair[1], clock: svm.clock(), wallet, markets: [] });
  const accounts = new Map<Address, ReturnType<typeof svm.get>>();
  const account = (address: Address) => {
    const held = accounts.has(address) ? accounts.get(address)! : svm.get(address);
    accounts.set(address, held);
    return held;
  };
  const mint = (address: Address) => {
    const found = account(address);
    return found === null ? null : decodeMint(found);
  };
  const all = { ...base, wallet, markets: { ...base.markets, marketsOf, knownMarkets: marketsOf, mint, account } };
  ports.set(`${world.name} ${kind}`, all);
  return all;
}

function newWallet({ svm, pair, markets }: ProgramWorld, kind: Kind): Address {
  svm.setAccount({ address: TIP_ACCOUNT, owner: SYSTEM_PROGRAM, data: new Uint8Array(0) });
  const wallet = svm.newWallet(HELD);
  if (kind === "fresh") return wallet;
  const mints = new Set([...pair, ...markets.flatMap((market) => market.mints)]);
  for (const mint of mints) {
    if (mint !== SOL_MINT || kind === "wrapped") svm.setTokens(wallet, mint, kind === "odd" ? 123_456_789_012n : HELD);
  }
  return wallet;
}

/** Executes a transaction in the world without keeping the result, and reads the wallet's accounts before and after. */
export function executeInWorld({ world, wallet, answer }: WorldBuild, wire: Uint8Array): Execution {
  const { svm } = world;
  const mints = new Set(answer.route.flatMap((leg) => [leg.inputMint, leg.outputMint]).map((mint) => Address.of(mint)));
  const addresses = [wallet, ...[...mints].flatMap((mint) => tokenAccountsOf(wallet, mint))];
  const before = addresses.map((address) => readOf(svm.get(address)));
  const done = svm.inner.simulateTransaction(getTransactionDecoder().decode(forOlderAmm(wire)));
  if (done instanceof FailedTransactionMetadata) return { error: done.toString(), before, after: before };
  const changed = new Map(done.postAccounts().map((account) => [String(account.address), account]));
  const after = addresses.map((address, index) => {
    const account = changed.get(kitAddress(address.toString()));
    return account === undefined
      ? before[index]!
      : readOf({ lamports: account.lamports, data: Uint8Array.from(account.data) });
  });
  return { error: undefined, before, after };
}

/** Public builds of raydium_amm_v4 know the swaps of today by older numbers alone. */
export function forOlderAmm(wire: Uint8Array): Uint8Array {
  if (!readTransaction(wire).instructions.some(({ program }) => program === AMM_V4_PROGRAM)) return wire;
  const plan = planOf(wire);
  const instructions = plan.instructions.map((one) => (one.program === AMM_V4_PROGRAM ? asOlderInstruction(one) : one));
  return wireLike(wire, { ...plan, instructions });
}

function tokenAccountsOf(wallet: Address, mint: Address): readonly Address[] {
  const programs = mint === SOL_MINT ? [TOKEN_PROGRAM] : [TOKEN_PROGRAM, TOKEN_2022_PROGRAM];
  return programs.map((program) => tokenAccountAddress(wallet, mint, program));
}

const readOf = (account: { readonly lamports: bigint; readonly data: Uint8Array } | null) => ({
  lamports: account?.lamports ?? 0n,
  data: account?.data ?? new Uint8Array(0),
});
