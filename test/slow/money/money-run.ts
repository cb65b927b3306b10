import { checkOnNode } from "../../../src/client/node/check-on-node.ts";
import { describeProblem } from "../../../src/client/verify/problem.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { expectTrade, type TradeOrder } from "../../../src/client/verify/trade-expectation.ts";
import { findProblems } from "../../../src/client/verify/verification.ts";
import { TradewireError } from "../../../src/errors/tradewire-error.ts";
import type { Address } from "../../../src/primitives/address.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { SOL_MINT, SYSTEM_PROGRAM } from "../../../src/solana/programs.ts";
import { type BuildPorts, buildTrade } from "../../../src/trade/build/build-trade.ts";
import type { BuiltTrade, TradeRequest } from "../../../src/trade/trade.ts";
import type { Svm } from "../../support/svm.ts";
import { answerOf } from "../client/honest-builds.ts";
import { worldNode } from "../client/world-node.ts";
import { disturb } from "./disturbance.ts";
import { drawOrder } from "./drawn-order.ts";
import { drawWallet } from "./drawn-wallet.ts";
import { type DrawnWorld, drawWorld } from "./drawn-world.ts";
import {
  AFTER_DEPOSIT,
  type Disturbance,
  executeAndJudge,
  OUT_OF_UNITS,
  simulated,
  WITHOUT_ACCOUNT,
} from "./executed-trade.ts";
import { isOfOlderBuild } from "./older-build.ts";
import { worldPorts } from "./world-ports.ts";

/** What became of the trades of a world. */
export interface MoneyReport {
  /** Trades by what became of them: "executed", or the code of the refusal. */
  readonly became: ReadonlyMap<string, number>;
  /** Executed trades by venue. */
  readonly venues: ReadonlyMap<string, number>;
  /** With what it takes to draw each again. */
  readonly faults: readonly string[];
}

/** Draws a world and this many orders on it, each built, checked as a client does, and executed. */
export async function tradeInWorld(seed: number, count: number): Promise<MoneyReport> {
  const became = new Map<string, number>();
  const venues = new Map<string, number>();
  const world = drawWorld(seed);
  if (world === undefined) return { became, venues, faults: [] };
  const random = createRandom(seed);
  const portsNow = worldPorts(world);
  const faults: string[] = [];
  const wallets: Address[] = [world.insider];
  for (let index = 0; index < count; index++) {
    passTime(world.svm, random);
    const isNew = random.chance(0.6);
    if (isNew) wallets.push(drawWallet(world, random));
    const wallet = isNew ? wallets.at(-1)! : random.pick(wallets);
    const request = drawOrder(world, wallet, random);
    const { end, found, on } = await trade(world, portsNow, request, random);
    became.set(end, (became.get(end) ?? 0) + 1);
    for (const one of on) venues.set(one, (venues.get(one) ?? 0) + 1);
    const { mode, inMint, outMint, amountRaw, sellPercent, slippage } = request;
    const ordered = `${mode} ${inMint} → ${outMint}, ${amountRaw ?? `${sellPercent} %`}, slippage ${slippage}`;
    for (const fault of found) faults.push(`${world.name}, trade ${index} (${ordered}): ${fault}`);
  }
  return { became, venues, faults };
}

function passTime(svm: Svm, random: Random): void {
  const { slot, epoch, unixTimestamp } = svm.clock();
  const seconds = random.pick([0n, 0n, 1n, 7n, 100n, 5_000n]);
  const next = random.chance(0.05) ? epoch + 1n : epoch;
  svm.setClock({ slot: slot + seconds * 3n, epoch: next, unixTimestamp: unixTimestamp + seconds });
}

interface TradeEnd {
  readonly end: string;
  /** The venues it was executed on. */
  readonly on: ReadonlySet<string>;
  readonly found: readonly string[];
}

const NONE: ReadonlySet<string> = new Set();

async function trade(
  world: DrawnWorld,
  portsNow: (random: Random) => BuildPorts,
  request: TradeRequest,
  random: Random,
): Promise<TradeEnd> {
  const ports = portsNow(random);
  let built: BuiltTrade;
  try {
    built = await buildTrade(ports, request);
  } catch (error) {
    if (!(error instanceof TradewireError)) return { end: "throws", on: NONE, found: [String((error as Error).stack)] };
    const isOurs = error.code === "INTERNAL_ERROR";
    const found = isOurs ? [error.message] : await neededFault(world, ports, request, error);
    return { end: error.code, on: NONE, found };
  }
  const refused = await clientFault(world, request, built, random);
  const sealed = ports.sealer.open(built.submissionToken, "money");
  const { since, found: foundBefore } = await disturb(world, portsNow, request, built, random);
  const differs = executeAndJudge(world.svm, built, sealed, request, since);
  if ([...refused, ...foundBefore, ...differs].some((fault) => isOfOlderBuild(world.svm, world.pair, fault)))
    return { end: "refused by an older build", on: NONE, found: [] };
  const mayFail = since === "market" || since === "own" || differs.some((fault) => AFTER_STRANGERS.test(fault));
  if (mayFail && differs.some((fault) => fault.startsWith("fails")))
    return {
      end: `failed after: ${since}`,
      on: NONE,
      found: [...refused, ...foundBefore, ...differs.flatMap((fault) => misnamed(built, since, fault))],
    };
  const found = [...refused, ...foundBefore, ...differs].map((text) => `${built.platform}: ${text}`);
  const isDivided = built.route.some(({ path }) => (path ?? 0) > 0);
  return { end: isDivided ? "executed in parts" : "executed", on: new Set(built.route.map((leg) => leg.venue)), found };
}

/** Of a trade that another one made impossible: prices moved, with them the ticks, bins or rounds it takes, or the market is complete. */
const AFTER_MARKET = new RegExp(
  `^fails: ((SLIPPAGE_EXCEEDED|INSUFFICIENT_LIQUIDITY|NO_ROUTE) |PROGRAM_ERROR${OUT_OF_UNITS})`,
);
/** Of one that closes an account into which strangers sent tokens. */
const AFTER_STRANGERS = new RegExp(`^fails: PROGRAM_ERROR${AFTER_DEPOSIT}`);
/** Also of one before which the wallet spent what it sells, bought what it sells all of, or closed an account that it had emptied. */
const AFTER_OWN = new RegExp(
  `${AFTER_MARKET.source}|^fails: ((INSUFFICIENT_SOL|INSUFFICIENT_TOKEN_BALANCE) |PROGRAM_ERROR(${AFTER_DEPOSIT}|${WITHOUT_ACCOUNT}))`,
);

/** A failure that names another cause than the one there is. */
function misnamed({ platform }: BuiltTrade, since: Disturbance, fault: string): readonly string[] {
  const known = { none: /^$/, market: AFTER_MARKET, own: AFTER_OWN, strangers: AFTER_STRANGERS }[since];
  return known.test(fault) ? [] : [`${platform}: after another's doing (${since}), ${fault}`];
}

/** Why the client refuses to sign the build, if it does. */
async function clientFault(world: DrawnWorld, request: TradeRequest, built: BuiltTrade, random: Random) {
  const { inMint, outMint, mode: swapMode, slippage, amountRaw, sellPercent } = request;
  const { wallet } = request.principal;
  const exact = sellPercent === undefined ? { amountRaw: amountRaw! } : { sellPercent };
  const order: TradeOrder = { inputMint: `${inMint}`, outputMint: `${outMint}`, swapMode, slippage, ...exact };
  const answer = answerOf(built);
  const wire = built.unsignedTransaction;
  try {
    const decimals = { input: built.inDecimals, output: built.outDecimals };
    const limits = { decimals, maxPriorityCost: 1, middleMints: world.mints.map(String) };
    const expected = expectTrade(wallet, order, answer, limits, "caller");
    const transaction = readTransaction(wire);
    const problems = findProblems(transaction, expected);
    if (problems.length > 0) return [`the client refuses: ${problems.map(describeProblem).join("; ")}`];
    const node = worldNode({ ...world, markets: [] });
    const rentPaid = BigInt(answer.costs!.rentPaid!);
    // A node reports lamports as JSON numbers.
    const most = world.svm.lamports(wallet) + built.estimates.inAmount + built.estimates.outAmount;
    if (most <= Number.MAX_SAFE_INTEGER && random.chance(0.25))
      await checkOnNode(node, { wire, transaction, expected, slippage, sellPercent, rentPaid }, undefined);
    return [];
  } catch (error) {
    const { message, problems } = error as Error & { readonly problems?: readonly { readonly reason: string }[] };
    return [`the client throws: ${message} ${(problems ?? []).map(({ reason }) => reason).join("; ")}`];
  }
}

/** Beyond what any wallet of the rig holds. Lamports. */
const MOST_NEEDED = 1n << 53n;

/** Every choice of recipients of Pump's fees that builds make by their number. */
const CHOICES = Array.from({ length: 40 }, (_, index) => (index % 5) + (Math.floor(index / 5) << 8));

/**
 * A wallet refused for SOL that gets what it lacks must be able to trade, whichever recipients of fees the next build names, and with less
 * it must not by the build that takes most.
 */
async function neededFault(world: DrawnWorld, ports: BuildPorts, request: TradeRequest, refusal: TradewireError) {
  const needed = neededOf(refusal);
  if (needed === undefined || needed > MOST_NEEDED) return [];
  const { svm } = world;
  const { wallet } = request.principal;
  const account = svm.get(wallet) ?? { address: wallet, owner: SYSTEM_PROGRAM, data: new Uint8Array(0), lamports: 0n };
  const give = (lamports: bigint) => svm.setAccount({ ...account, lamports });
  try {
    give(needed);
    let built: BuiltTrade | undefined;
    for (const nonce of CHOICES) {
      const other = await buildTrade({ ...ports, nextNonce: () => nonce }, request);
      if (built === undefined || other.costs.priorityFee > built.costs.priorityFee) built = other;
      if (!other.platform.includes("pump_")) break;
    }
    const error = simulated(svm, built!);
    if (error !== undefined)
      return isOfOlderBuild(svm, world.pair, error)
        ? []
        : [`with the ${needed} lamports asked for: ${built!.platform} ${error}`];
    // Without slippage nothing is kept for worse prices, but for what one market gives beyond what the next one takes. Of two of Pump's
    // markets, no one choice of recipients may take most on both.
    if (request.slippage !== 0 || built!.platform.split("pump_").length > 2) return [];
    const beyond = built!.estimates.remainders?.find(({ mint }) => mint === SOL_MINT)?.amount ?? 0n;
    give(needed - 1n - beyond);
    const isTooMuch = simulated(svm, built!) === undefined;
    return isTooMuch ? [`${built!.platform} does with less than the ${needed} lamports asked for`] : [];
  } catch (error) {
    if (!(error instanceof TradewireError)) throw error;
    return error.code === "INSUFFICIENT_SOL" ? [`refused with the ${needed} lamports asked for: ${error.message}`] : [];
  } finally {
    give(account.lamports);
  }
}

function neededOf({ code, facts }: TradewireError): bigint | undefined {
  const { neededLamports } = (facts.details ?? {}) as { readonly neededLamports?: string };
  return code !== "INSUFFICIENT_SOL" || neededLamports === undefined ? undefined : BigInt(neededLamports);
}
