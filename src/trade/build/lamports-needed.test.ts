import { expect, test } from "vitest";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import { readSampleMarkets } from "../../../test/support/sample-markets.ts";
import { Svm } from "../../../test/support/svm.ts";
import type { TradewireError } from "../../errors/tradewire-error.ts";
import type { HotMarket } from "../../market/port.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import type { Account } from "../../solana/account.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { closeTokenAccount, requireBalance, transferLamports } from "../../solana/token/token-instructions.ts";
import { openWrappedSol, seededAddress } from "../../solana/token/wrapped-sol.ts";
import type { Venue } from "../../venues/venue.ts";
import { shortfallOf } from "./balances.ts";
import { buildTrade } from "./build-trade.ts";

type Check = Parameters<typeof shortfallOf>[0] & Parameters<typeof shortfallOf>[1] & Parameters<typeof shortfallOf>[2];

/** Two signatures: the wallet's, and that of who stands for the market. */
const FEE = 10_000n;
const SEED = "temporary";
const TRADES = 30;

/**
 * Lamports of a trade: what it gives, and how much of that after it has closed its temporary account, what it gets, pays for accounts and
 * as a tip, and gets back from an emptied account.
 */
interface Flow {
  readonly given: bigint;
  readonly native: bigint;
  readonly received: bigint;
  readonly rentPaid: bigint;
  readonly tip: bigint;
  readonly wraps: boolean;
  readonly returned: bigint;
}

const NOTHING: Flow = { given: 0n, native: 0n, received: 0n, rentPaid: 0n, tip: 0n, wraps: false, returned: 0n };

/** Whether the chain executes the flow, in the order of a trade's instructions, for a wallet that holds so much. */
function executes(svm: Svm, flow: Flow, held: bigint): boolean {
  const { given, native, received, rentPaid, tip, wraps, returned } = flow;
  const [wallet, other] = [svm.newWallet(held), svm.newWallet()];
  const account = seededAddress(wallet, SEED, TOKEN_PROGRAM);
  const open = openWrappedSol({ account, wallet, seed: SEED, lamports: 0n, rent: svm.rent(165) });
  return svm.send(wallet, [
    transferLamports(wallet, other, rentPaid),
    ...(wraps ? open : []),
    transferLamports(wallet, other, given - native),
    transferLamports(other, wallet, received),
    ...(wraps ? [closeTokenAccount(account, wallet, TOKEN_PROGRAM)] : []),
    transferLamports(wallet, other, native),
    transferLamports(other, wallet, returned),
    transferLamports(wallet, other, tip),
  ]).ok;
}

/** Whether a build does not refuse the wallet. */
function allows(svm: Svm, flow: Flow, held: bigint): boolean {
  return shortfall(svm, flow, svm.get(svm.newWallet(held))) === undefined;
}

function shortfall(svm: Svm, flow: Flow, account: Account | null) {
  const { given, native, received, rentPaid, tip, wraps, returned } = flow;
  const token = { address: "a token account" };
  const check = {
    intent: { mode: "exactIn" },
    route: { inAmount: given, threshold: received, remainders: [] },
    accounts: {
      wallet: "wallet",
      source: given > 0n ? undefined : token,
      destination: received > 0n ? undefined : token,
    },
    assembly: { spareUnits: 0, temporaryRent: wraps ? svm.rent(165) : 0n, wrapped: given - native },
    costs: { baseFee: FEE - 1_000n, priorityFee: 1_000n, tip, rentPaid, rentReturned: returned },
    markets: { account: (address: unknown) => (address === "wallet" ? account : undefined) },
    head: { rentExemption: (space: number) => svm.rent(space) },
  } as unknown as Check;
  return shortfallOf(check, check, check);
}

test("a wallet is refused for SOL exactly if the chain would refuse its transaction", () => {
  const svm = new Svm();
  const random = createRandom(890_880);
  const rent = svm.rent(0);
  const amount = (share: number, most: bigint) => (random.below(100n) < BigInt(share) ? random.below(most) : 0n);
  let [both, neither] = [0, 0];
  for (let trade = 0; trade < TRADES; trade++) {
    const sells = trade % 2 === 0;
    const given = sells ? 0n : 1n + random.below(5_000_000n);
    const flow: Flow = {
      given,
      native: trade % 4 === 1 ? random.below(given + 1n) : 0n,
      received: sells ? 1n + amount(70, 5_000_000n) : 0n,
      rentPaid: amount(50, 4_000_000n),
      tip: amount(50, 2_000_000n),
      wraps: random.below(3n) > 0n,
      returned: sells ? amount(30, 2_100_000n) : 0n,
    };
    const { native, received, rentPaid, tip, returned } = flow;
    const most = FEE + given - native + rentPaid + (flow.wraps ? svm.rent(165) : 0n);
    const spent = FEE + given + rentPaid + tip - received - returned;
    for (const edge of [FEE, FEE + rent, most, most + tip, most + rent, spent, spent + rent, most + tip + rent]) {
      for (const held of [edge - 1n, edge, edge + 1n]) {
        // The chain has no account that holds less than its rent.
        if (held < rent) continue;
        // A sale brings the least it may at least: that a wallet ends with nothing at all cannot be planned.
        if (sells && held === spent) continue;
        const executed = executes(svm, flow, held);
        expect([flow, held, allows(svm, flow, held)]).toEqual([flow, held, executed]);
        if (executed) both++;
        else neither++;
      }
    }
  }
  expect(both).toBeGreaterThan(TRADES);
  expect(neither).toBeGreaterThan(TRADES);
});

test.each([
  ["was assigned to a program", TOKEN_PROGRAM, 0],
  ["holds data", SYSTEM_PROGRAM, 80],
])("a wallet that %s can pay for nothing, however much it holds", (_, owner, size) => {
  const svm = new Svm();
  const [wallet, other] = [svm.newWallet(), svm.newWallet()];
  const flow = { ...NOTHING, given: 1n };
  expect(svm.send(wallet, [transferLamports(wallet, other, 1n)]).ok).toBe(true);
  svm.setAccount({ address: wallet, owner, data: new Uint8Array(size), lamports: 10n ** 12n });
  expect(svm.send(wallet, [transferLamports(wallet, other, 1n)]).error).toContain("InvalidAccountForFee");
  expect(shortfall(svm, flow, svm.get(wallet))).toEqual({ kind: "payer", wallet: "wallet" });
});

test("a nonce account pays fees and nothing else, and keeps its rent", () => {
  const svm = new Svm();
  const [wallet, other] = [svm.newWallet(), svm.newWallet()];
  const mint = svm.newMint({ decimals: 6 });
  const account = svm.setTokens(wallet, mint, 9n);
  const data = new Uint8Array(80);
  data[4] = 1;
  const tokens = requireBalance({ account, mint, owner: wallet, amount: 9n, decimals: 6, tokenProgram: TOKEN_PROGRAM });
  const lamports = transferLamports(wallet, other, 1n);
  const ends = [tokens, lamports].map((paying) =>
    [svm.rent(80), svm.rent(80) + FEE - 1n, svm.rent(80) + FEE, 10n ** 9n].map((held) => {
      svm.setAccount({ address: wallet, owner: SYSTEM_PROGRAM, data, lamports: held });
      const flow = { ...NOTHING, given: paying === lamports ? 1n : 0n };
      const isAllowed = shortfall(svm, flow, svm.get(wallet)) === undefined;
      expect(svm.simulate(wallet, [transferLamports(other, wallet, 1n), paying]).ok).toBe(isAllowed);
      return isAllowed;
    }),
  );
  expect(ends).toEqual([
    [false, false, true, true],
    [false, false, false, false],
  ]);
});

/** Numbers of builds with which every pair of recipients of Pump's fees is named. */
const NONCES = Array.from({ length: 40 }, (_, index) => (index % 5) + (Math.floor(index / 5) << 8));

type Sample = ReturnType<typeof readSampleMarkets>["markets"][number];

/** A purchase on these sample markets, as a build of that number makes it for a wallet that holds so much. */
function builderOf(hotOf: (samples: readonly Sample[]) => readonly HotMarket[]) {
  const { mint, clock, markets } = readSampleMarkets();
  const wallet = Address.from(createRandom(77).bytes(32));
  const base = memoryPorts({ mint, clock, wallet, markets: hotOf(markets) });
  const ports = { ...base, fees: { ...base.fees, priceMicroLamportsPerCu: () => 50_000_000n } };
  const rich = ports.markets.account(wallet)!;
  return async (nonce: number, lamports = rich.lamports) => {
    const account = (address: Address) => (address === wallet ? { ...rich, lamports } : ports.markets.account(address));
    const request = {
      principal: { accountId: "test", keyId: "test", wallet },
      inMint: SOL_MINT,
      outMint: mint,
      mode: "exactIn",
      amount: 1,
      slippage: 0.01,
      priority: "fast",
      maxPriceImpact: undefined,
      maxPriorityCost: undefined,
      maxPaths: 1,
    } as const;
    return buildTrade({ ...ports, markets: { ...ports.markets, account }, nextNonce: () => nonce }, request);
  };
}

test.each(["pump_fun", "pump_swap"])(
  "what a refusal on %s asks for is enough whichever recipients of fees the next build names",
  async (id) => {
    const build = builderOf((samples) => [samples.find(({ venue }) => venue.id === id)!.hot]);
    const neededOf = (nonce: number) =>
      build(nonce, 2_000_000n).then(
        () => expect.unreachable(),
        ({ facts }: TradewireError) => BigInt((facts.details as { neededLamports: string }).neededLamports),
      );
    const needed = await neededOf(0);
    const fees = new Set<bigint>();
    for (const nonce of NONCES) {
      expect(await neededOf(nonce)).toBe(needed);
      fees.add((await build(nonce, needed)).costs.priorityFee);
    }
    expect(fees.size).toBeGreaterThan(1);
  },
);

test("all builds of an order take the same market, whichever recipients of fees they name", async () => {
  const taken: number[] = [];
  const pump = (samples: readonly Sample[]) => samples.find(({ venue }) => venue.id === "pump_fun")!.hot;
  const alone = builderOf((samples) => {
    const hot = pump(samples);
    const swap: Venue["swap"] = (...terms) => {
      const leg = hot.venue.swap(...terms);
      taken.push(leg.computeUnits);
      return leg;
    };
    return [{ ...hot, venue: { ...hot.venue, swap } }];
  });
  for (const nonce of NONCES) await alone(nonce);
  const middle = (Math.min(...taken) + Math.max(...taken)) / 2;
  // Another market gives the same, and takes as many units for any recipient of the fees.
  const both = builderOf((samples) => {
    const hot = pump(samples);
    const swap: Venue["swap"] = (...terms) => ({ ...hot.venue.swap(...terms), computeUnits: middle, spareUnits: 0 });
    return [
      hot,
      {
        ...hot,
        venue: { ...hot.venue, swap },
        market: { ...hot.market, address: Address.from(createRandom(1).bytes(32)) },
      },
    ];
  });
  const markets = new Set<string>();
  for (const nonce of NONCES) markets.add(`${(await both(nonce)).route[0]!.market}`);
  expect(markets.size).toBe(1);
});
