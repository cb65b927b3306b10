import { expectTrade, type TradeOrder } from "../../../src/client/verify/trade-expectation.ts";
import { TradewireError } from "../../../src/errors/tradewire-error.ts";
import { Address } from "../../../src/primitives/address.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { associatedTokenAddress } from "../../../src/solana/pda.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import { type BuildPorts, buildTrade } from "../../../src/trade/build/build-trade.ts";
import type { BuiltTrade, TradeRequest } from "../../../src/trade/trade.ts";
import { alwaysLean } from "../../support/lean-venue.ts";
import { memoryPorts } from "../../support/memory-ports.ts";
import { readSampleMarkets } from "../../support/sample-markets.ts";
import { answerOf, type HonestBuild } from "./honest-builds.ts";
import { planOf, wireOf } from "./mutations.ts";

const { mint, clock, markets } = readSampleMarkets();
const wallet = Address.from(createRandom(77).bytes(32));
const held = { address: associatedTokenAddress(wallet, mint, TOKEN_PROGRAM), amount: 1n << 50n };
const TIP_ACCOUNT = Address.of("96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5");
const TABLE = Address.from(createRandom(78).bytes(32));

/** How a build differs from the plainest one. */
type Form =
  | "plain"
  | "first buy"
  | "tip"
  | "version 1"
  | "lookup table"
  | "own wrapped SOL"
  | "sell everything"
  | "lean";
const FORMS: readonly Form[] = [
  "plain",
  "first buy",
  "tip",
  "version 1",
  "lookup table",
  "own wrapped SOL",
  "sell everything",
  "lean",
];

export interface SampleBuild extends HonestBuild {
  readonly form: Form;
}

/** The venues there are samples of. */
export const sampleVenues: readonly string[] = [...new Set(markets.map(({ venue }) => venue.id))];

/** A random trade on a random market of the venue, built by the service's own builder; undefined when it refuses the amount. */
export async function buildSample(random: Random, venue: string): Promise<SampleBuild | undefined> {
  const { hot: plain } = random.pick(markets.filter((sample) => sample.venue.id === venue));
  const form = random.pick(FORMS);
  const hot = form === "lean" ? { ...plain, venue: alwaysLean(plain.venue) } : plain;
  const ports = portsFor(form, hot, random);
  const selling = form === "sell everything" || random.chance(0.5);
  const exactIn = form === "sell everything" || random.chance(0.6);
  const amount = Number(random.magnitude(1_000_000_000_000n)) / 1e9;
  const slippage = random.pick([0, 0.000000001, 0.001, 0.01, 0.05, 0.333333333, 0.99]);
  const order = {
    inputMint: (selling ? mint : SOL_MINT).toString(),
    outputMint: (selling ? SOL_MINT : mint).toString(),
    swapMode: exactIn ? "exactIn" : "exactOut",
    amount: form === "sell everything" ? undefined : amount,
    slippage,
    sellPercent: form === "sell everything" ? 100 : undefined,
  } as const;
  const build = await buildOrder(ports, order, amount);
  return build && { ...(form === "lookup table" ? throughTable(build) : build), venue, form };
}

/** A purchase with SOL that the builder divides over two venues. */
export async function buildDividedPurchase(swapMode: "exactIn" | "exactOut"): Promise<HonestBuild> {
  const both = ["raydium_cpmm", "meteora_damm_v2"].map((id) => markets.find(({ venue }) => venue.id === id)!.hot);
  const ports = memoryPorts({ mint, clock, wallet, markets: both, tokens: held });
  const terms = { inputMint: SOL_MINT.toString(), outputMint: mint.toString(), swapMode, slippage: 0.01 };
  const build = await buildOrder(ports, { ...terms, amount: 0.2 }, 0.2);
  if (build?.answer.route.length !== 2) throw new Error("the purchase is not divided");
  return build;
}

async function buildOrder(ports: BuildPorts, order: TradeOrder, amount: number): Promise<HonestBuild | undefined> {
  const request: TradeRequest = {
    principal: { accountId: "test", keyId: "test", wallet },
    inMint: Address.of(order.inputMint),
    outMint: Address.of(order.outputMint),
    mode: order.swapMode,
    amount,
    sellPercent: order.sellPercent,
    slippage: order.slippage,
    priority: "fast",
    maxPriceImpact: undefined,
    maxPriorityCost: undefined,
    maxTransactionVersion: 1,
    totalGuard: true,
  };
  let built: BuiltTrade;
  try {
    built = await buildTrade(ports, request);
  } catch (error) {
    if (error instanceof TradewireError) return undefined;
    throw error;
  }
  return {
    venue: built.platform,
    wallet,
    order,
    answer: answerOf(built),
    wire: built.unsignedTransaction,
    decimals: { input: built.inDecimals, output: built.outDecimals },
    lookupTables: new Map(),
  };
}

/** The same trade with all accounts in a lookup table that may be there. The service has no need of one for a trade on one market. */
function throughTable(build: HonestBuild): HonestBuild {
  const plan = planOf(build.wire);
  const named = plan.instructions.flatMap(({ accounts }) => accounts.map(({ address }) => address));
  const entries = [...new Set(named)].filter((address) => address !== wallet);
  return { ...build, wire: wireOf(plan, [{ address: TABLE, entries }]), lookupTables: new Map([[TABLE, entries]]) };
}

/** Ports are costly to make, and the same for every build of a market in a form. */
const knownPorts = new Map<string, BuildPorts>();
/** What a wallet that sells everything may hold. */
const BALANCES = [1_000_003n, 123_456_789_012n, 1n << 38n];

function portsFor(form: Form, hot: (typeof markets)[number]["hot"], random: Random): BuildPorts {
  const amount = form === "sell everything" ? random.pick(BALANCES) : form === "first buy" ? undefined : held.amount;
  const key = `${hot.market.address} ${amount} ${form === "lean"}`;
  const tokens = amount === undefined ? {} : { tokens: { ...held, amount } };
  const ports = knownPorts.get(key) ?? memoryPorts({ mint, clock, wallet, markets: [hot], ...tokens });
  knownPorts.set(key, ports);
  switch (form) {
    case "tip":
      return {
        ...ports,
        senders: {
          choose: () => ({
            senders: ["relay"],
            tips: [{ to: TIP_ACCOUNT, lamports: random.between(1_000n, 4_900_000n) }],
          }),
        },
      };
    case "version 1":
      return { ...ports, settings: { ...ports.settings, transactionV1: true } };
    default:
      return ports;
  }
}

/** What the build is held against. */
export const expectationOf = ({ wallet: owner, order, answer, decimals }: HonestBuild) =>
  expectTrade(owner, order, answer, { decimals }, "caller");
