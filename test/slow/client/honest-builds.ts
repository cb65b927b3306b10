import { TradeError } from "../../../src/client/trade-error.ts";
import type { Tradewire } from "../../../src/client/tradewire.ts";
import type { BuildAnswer } from "../../../src/client/verify/build-answer.ts";
import type { TradeOrder } from "../../../src/client/verify/trade-expectation.ts";
import { TradewireError } from "../../../src/errors/tradewire-error.ts";
import { Address } from "../../../src/primitives/address.ts";
import { toWholeUnits } from "../../../src/primitives/amount.ts";
import type { Random } from "../../../src/primitives/random.ts";
import type { WorldToken } from "../../../src/sandbox/world/tokens/token.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import type { BuiltTrade } from "../../../src/trade/trade.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { lookupTablesOf } from "../../support/world.ts";

/** An honest build with what it was asked by. */
export interface HonestBuild {
  readonly venue: string;
  readonly wallet: Address;
  readonly order: TradeOrder;
  readonly answer: BuildAnswer;
  readonly wire: Uint8Array;
  /** The decimals that the caller knows. */
  readonly decimals: { readonly input: number; readonly output: number };
  /** What a reader of the wire knows of lookup tables. */
  readonly lookupTables: ReadonlyMap<Address, readonly Address[]>;
}

/** A service whose wallet holds plenty of SOL and of every token of the world. */
export interface Builder {
  readonly service: TestService;
  readonly client: Tradewire;
  /** The venues the world has tokens on. */
  readonly venues: readonly string[];
  /** A random order and what the service builds for it; undefined when it refuses the amount. */
  build(random: Random): Promise<HonestBuild | undefined>;
  close(): Promise<void>;
}

const terms = { swapMode: "exactIn", slippage: 0.5, priority: "fast" } as const;
const PRIORITIES = ["economy", "fast", "faster", "fastest"] as const;

/** Purchases that wait for their slots together. */
const AT_ONCE = 9;

/** Starts the service and buys some of every token. */
export async function startBuilder(): Promise<Builder> {
  const service = await startTestService({ BUILD_PER_SECOND: "1000", SUBMIT_PER_SECOND: "1000" });
  const { world } = service.sandbox;
  const { tokens } = world;
  const lookupTables = lookupTablesOf(world);
  const client = await service.newClient(2_000, { lookupTables });
  await acquireQuotes(client, tokens);
  for (let from = 0; from < tokens.length; from += AT_ONCE) {
    const purchases = tokens.slice(from, from + AT_ONCE).map(async ({ mint, quoteMint }) => {
      const amount = quoteMint === SOL_MINT ? 2 : 50;
      const order = { ...terms, inputMint: quoteMint.toString(), outputMint: mint.toString(), amount };
      await client.swap(order).catch(goWithout);
    });
    await Promise.all(purchases);
  }
  const wallet = client.wallet.publicKey;
  return {
    service,
    client,
    venues: [...new Set(tokens.map(({ venue }) => venue))],
    close: () => service.close(),
    async build(random) {
      // A warm build waits for nothing: without this the service would never receive the next slot.
      await new Promise((resolve) => setImmediate(resolve));
      const token = random.pick(tokens);
      const other = random.chance(0.1) ? random.pick(tokens).mint : token.quoteMint;
      const [inMint, outMint] = random.chance(0.5) ? [other, token.mint] : [token.mint, other];
      if (inMint === outMint) return undefined;
      const exactIn = random.chance(0.6);
      const amount =
        (exactIn ? inMint : outMint) === SOL_MINT
          ? toWholeUnits(random.magnitude(1_500_000_000n), 9)
          : Number(random.magnitude(10n ** 6n)) / 10 ** Number(random.below(7n));
      const slippage = random.pick([0, 0.001, 0.01, 0.05, 0.333333333, 0.99]);
      const swapMode = exactIn ? "exactIn" : "exactOut";
      let built: BuiltTrade;
      try {
        built = await service.app.trades.build({
          principal: { accountId: "test", keyId: "test", wallet: Address.of(wallet.toString()) },
          inMint,
          outMint,
          mode: swapMode,
          amount,
          slippage,
          priority: random.pick(PRIORITIES),
          maxPriceImpact: undefined,
          maxPriorityCost: undefined,
        });
      } catch (error) {
        if (error instanceof TradewireError) return undefined;
        throw error;
      }
      return {
        venue: built.platform,
        wallet: Address.of(wallet.toString()),
        order: { inputMint: inMint.toString(), outputMint: outMint.toString(), swapMode, amount, slippage },
        answer: answerOf(built),
        wire: built.unsignedTransaction,
        decimals: { input: built.inDecimals, output: built.outDecimals },
        lookupTables,
      };
    },
  };
}

/** A first buy that cannot be made, as where it would not fit into one transaction, leaves the wallet without that token. */
function goWithout(error: unknown): void {
  if (!(error instanceof TradeError)) throw error;
}

/** Buys what tokens are quoted in beside SOL: through a token that trades against both where there is no direct market. */
async function acquireQuotes(client: Tradewire, tokens: readonly WorldToken[]): Promise<void> {
  const quotes = new Set(tokens.map(({ quoteMint }) => quoteMint).filter((mint) => mint !== SOL_MINT));
  for (const quote of quotes) {
    const bridge = tokens.find(
      ({ mint, quoteMint }) =>
        quoteMint === quote && tokens.some((other) => other.mint === mint && other.quoteMint === SOL_MINT),
    );
    const order = { ...terms, inputMint: "SOL", outputMint: quote.toString(), amount: 20 };
    if (bridge === undefined) await client.swap(order);
    else {
      const bought = await client.swap({ ...order, outputMint: bridge.mint.toString() });
      const { outputAmount } = bought.tradeResult!;
      await client.swap({ ...order, inputMint: bridge.mint.toString(), amount: outputAmount });
    }
  }
}

/** A build as the wire states it. */
export function answerOf(built: BuiltTrade): BuildAnswer {
  const { estimates, costs } = built;
  return {
    inputMint: built.inMint.toString(),
    outputMint: built.outMint.toString(),
    platform: built.platform,
    priorityCost: Number(costs.priorityFee + costs.tip) / 1e9,
    estimates: {
      inputAmount: toWholeUnits(estimates.inAmount, built.inDecimals),
      outputAmount: toWholeUnits(estimates.outAmount, built.outDecimals),
      inputAmountRaw: estimates.inAmount.toString(),
      outputAmountRaw: estimates.outAmount.toString(),
      priceImpact: estimates.priceImpact,
    },
    costs: {
      baseFee: costs.baseFee.toString(),
      priorityFee: costs.priorityFee.toString(),
      tip: costs.tip.toString(),
      rentPaid: costs.rentPaid.toString(),
      rentReturned: costs.rentReturned.toString(),
    },
    route: built.route.map(({ venue, market, inMint, outMint, inAmount, outAmount, arrayNumbers, path = 0 }) => ({
      path,
      venue,
      market: market.toString(),
      inputMint: inMint.toString(),
      outputMint: outMint.toString(),
      inputAmountRaw: inAmount.toString(),
      outputAmountRaw: outAmount.toString(),
      arrayNumbers,
    })),
  };
}
