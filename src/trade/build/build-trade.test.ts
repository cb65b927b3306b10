import { describe, expect, test, vi } from "vitest";
import { type AccountExtension, withExtensions } from "../../../test/support/extended-account.ts";
import { buyFor, FAKE_CLOCK, fakeMarket } from "../../../test/support/fake-market.ts";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { HotMarket } from "../../market/port.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import type { Account } from "../../solana/account.ts";
import { associatedTokenAccount } from "../../solana/derived-address.ts";
import { MAX_TRANSACTION_SIZE } from "../../solana/message.ts";
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Ask, Quote, SwapTerms } from "../../venues/venue.ts";
import type { TradeRequest } from "../trade.ts";
import { type BuildPorts, buildTrade } from "./build-trade.ts";
import { wrappedSolAccount } from "./wallet-accounts.ts";

const random = createRandom(71);
const address = () => Address.from(random.bytes(32));
const [WALLET, MINT, POOL, EXTRA] = [address(), address(), address(), address()];
const REQUEST = buyFor(WALLET, MINT);

/** A market of one price, whose swap instruction has `dataBytes` and creates `EXTRA` unless it exists. */
const market = (dataBytes = 8) =>
  fakeMarket({
    ...{ mint: MINT, address: POOL, program: POOL, priceImpact: 0.1, nativeSol: false },
    venue: {
      swap: (_state: unknown, _quote: Quote, terms: SwapTerms) => ({
        instructions: [{ program: POOL, accounts: [], data: new Uint8Array(dataBytes) }],
        computeUnits: 10_000,
        creates: terms.exists(EXTRA) ? [] : [{ address: EXTRA, space: 10 }],
      }),
    },
  });

const accountOf = (at: Address, lamports: bigint): Account => ({
  address: at,
  owner: SYSTEM_PROGRAM,
  lamports,
  data: new Uint8Array(0),
  executable: false,
  slot: 1n,
});

/** Ports on the market, with accounts in memory and others that only a read reveals; every read is noted. */
function portsOf(hot = market(), hidden: Record<string, Account | null> = {}, known: Record<string, Account> = {}) {
  const ports = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets: [hot] });
  const overrides = new Map<string, Account | null | undefined>(Object.entries(known));
  for (const at of Object.keys(hidden)) if (!overrides.has(at)) overrides.set(at, undefined);
  const reads: [kind: string, asked: readonly Address[]][] = [];
  const read = (kind: string) => async (asked: readonly Address[]) => {
    reads.push([kind, asked]);
    for (const at of asked) if (at.toString() in hidden) overrides.set(at.toString(), hidden[at.toString()]);
  };
  const account = (at: Address) => {
    const key = at.toString();
    return overrides.has(key) ? overrides.get(key) : ports.markets.account(at);
  };
  const markets = { ...ports.markets, account, warm: read("warm"), refresh: read("refresh") };
  return { ports: { ...ports, markets } as BuildPorts, reads };
}

const rentOf = (ports: BuildPorts) => ports.head.rentExemption(10);

async function refusal(built: () => unknown): Promise<TradewireError> {
  const error = await Promise.resolve()
    .then(built)
    .catch((thrown: unknown) => thrown);
  if (!(error instanceof TradewireError)) throw new Error(`not refused: ${String(error)}`);
  return error;
}

describe("a warm build", () => {
  test("runs to the end synchronously and reads nothing", () => {
    const { ports, reads } = portsOf();
    const built = buildTrade(ports, REQUEST);
    expect(built).not.toBeInstanceOf(Promise);
    expect(built).toMatchObject({ platform: "raydium_cpmm", estimates: { inAmount: 500_000_000n } });
    expect(reads).toEqual([]);
  });

  test("marks its stages in order", () => {
    const mark = vi.fn();
    void buildTrade(portsOf().ports, { ...REQUEST, stages: { mark } });
    expect(mark.mock.calls.flat()).toEqual(["snapshot", "route", "seal"]);
  });

  test("is another message each time", async () => {
    const { ports } = portsOf();
    const [first, second] = [await buildTrade(ports, REQUEST), await buildTrade(ports, REQUEST)];
    expect(first.unsignedTransaction).not.toEqual(second.unsignedTransaction);
  });

  test("takes one number, whether it searches or not: they come round after 2^14", async () => {
    const other = fakeMarket({ mint: MINT, address: address(), program: POOL, priceImpact: 0.1, nativeSol: false });
    for (const markets of [[market()], [market(), other]]) {
      const ports = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets });
      const nextNonce = vi.fn(ports.nextNonce);
      await buildTrade({ ...ports, nextNonce }, REQUEST);
      expect(nextNonce, `${markets.length} markets`).toHaveBeenCalledTimes(1);
    }
  });
});

describe("an account that may or may not exist", () => {
  test("does not exist because somebody sent lamports to its address", async () => {
    const receiving = associatedTokenAccount(WALLET, MINT, TOKEN_PROGRAM).address;
    const build = async (...known: readonly Account[]) =>
      buildTrade(
        portsOf(market(), {}, Object.fromEntries(known.map((one) => [one.address.toString(), one]))).ports,
        REQUEST,
      );
    const plain = await build();
    const funded = await build(accountOf(receiving, 650_240n), accountOf(EXTRA, 650_240n));
    // Such lamports pay for the account that is made there, as far as they go: nobody can take them away.
    expect(funded.costs.rentPaid).toBe(plain.costs.rentPaid - 2n * 650_240n);
    const rich = await build(accountOf(receiving, 10n ** 9n), accountOf(EXTRA, 10n ** 9n));
    expect(rich.costs.rentPaid).toBe(0n);
    expect(funded.unsignedTransaction.length).toBe(plain.unsignedTransaction.length);
    const open = await build({ ...accountOf(receiving, 890_880n), owner: TOKEN_PROGRAM });
    expect(open.costs.rentPaid).toBeLessThan(plain.costs.rentPaid);
  });

  test("is read before the costs are promised", async () => {
    const { ports, reads } = portsOf(market(), { [EXTRA.toString()]: { ...accountOf(EXTRA, 1n), owner: POOL } });
    const { costs } = await buildTrade(ports, REQUEST);
    expect(reads.map(([kind, asked]) => [kind, [...new Set(asked)]])).toEqual([["warm", [EXTRA]]]);
    const { costs: whenMissing } = await buildTrade(portsOf().ports, REQUEST);
    expect(whenMissing.rentPaid - costs.rentPaid).toBe(rentOf(ports));
  });

  test("counts as missing if no node answers", async () => {
    const { ports } = portsOf(market(), { [EXTRA.toString()]: null });
    const warm = async () => {
      throw new TradewireError("UPSTREAM_ERROR", "No node answers.");
    };
    const { costs } = await buildTrade({ ...ports, markets: { ...ports.markets, warm } }, REQUEST);
    const { costs: whenMissing } = await buildTrade(portsOf().ports, REQUEST);
    expect(costs).toEqual(whenMissing);
  });
});

test("the wallet's accounts may wait for a call of others if the token itself was not in memory, else not", async () => {
  const { ports } = portsOf();
  const { mint, account } = ports.markets;
  const waits: (boolean | undefined)[] = [];
  let isKnown = false;
  const markets: BuildPorts["markets"] = {
    ...ports.markets,
    account: (at) => (isKnown ? account(at) : undefined),
    async warm(_, mayWait) {
      waits.push(mayWait);
      isKnown = true;
    },
  };
  await buildTrade({ ...ports, markets: { ...markets, mint: async (at) => mint(at) } }, REQUEST);
  isKnown = false;
  await buildTrade({ ...ports, markets }, REQUEST);
  expect(waits).toEqual([true, false]);
});

describe("a wallet with too little SOL in memory", () => {
  const poor = { [WALLET.toString()]: accountOf(WALLET, 10n) };

  test("is read again, and trades if it has enough by now", async () => {
    const { ports, reads } = portsOf(market(), { [WALLET.toString()]: accountOf(WALLET, 1n << 40n) }, poor);
    expect(await buildTrade(ports, REQUEST)).toMatchObject({ platform: "raydium_cpmm" });
    expect(reads.map(([kind]) => kind)).toEqual(["refresh"]);
    expect(reads[0]![1]).toEqual(expect.arrayContaining([WALLET, wrappedSolAccount(WALLET).address]));
  });

  test("is refused if it still has too little", async () => {
    const { ports, reads } = portsOf(market(), {}, poor);
    expect(await refusal(() => buildTrade(ports, REQUEST))).toMatchObject({ code: "INSUFFICIENT_SOL" });
    expect(reads.map(([kind]) => kind)).toEqual(["refresh"]);
  });

  test("is not read again for a trade beyond the caller's limits", async () => {
    const { ports, reads } = portsOf(market(), {}, poor);
    const code = async (change: Partial<TradeRequest>) =>
      (await refusal(() => buildTrade(ports, { ...REQUEST, ...change }))).code;
    expect(await code({ maxPriceImpact: 0.05 })).toBe("PRICE_IMPACT_TOO_HIGH");
    expect(await code({ maxPriorityCost: 1e-9 })).toBe("PRIORITY_COST_TOO_HIGH");
    expect(reads).toEqual([]);
  });
});

describe("a wallet's account of the token", () => {
  const at = associatedTokenAccount(WALLET, MINT, TOKEN_PROGRAM).address;
  const holding = (owner: Address, state: number): Account => {
    const data = new Uint8Array(165);
    data.set(MINT.bytes);
    data.set(owner.bytes, 32);
    data.fill(1, 64, 71);
    data[108] = state;
    return { ...accountOf(at, 2_000_000n), owner: TOKEN_PROGRAM, data };
  };
  const SALE = { ...REQUEST, inMint: MINT, outMint: REQUEST.inMint, amount: 1 };
  const own = holding(WALLET, 1);

  test.each([
    ["is frozen", holding(WALLET, 2)],
    ["belongs to another wallet", holding(EXTRA, 1)],
  ])("that %s is never sold from or bought into: it is read again, and the trade refused", async (fault, bad) => {
    for (const request of [REQUEST, SALE]) {
      const { ports, reads } = portsOf(market(), {}, { [at.toString()]: bad });
      const refused = await refusal(() => buildTrade(ports, request));
      expect(refused).toMatchObject({ code: "NO_ROUTE", message: expect.stringContaining(fault) });
      expect(reads.map(([kind, asked]) => [kind, asked.includes(at)])).toEqual([["refresh", true]]);
    }
  });

  /** The wallet's account with one extension of Token-2022 more. */
  const extended = (...extension: AccountExtension): Account => ({
    ...own,
    data: withExtensions(own.data, [[7, new Uint8Array(0)], extension]),
  });
  const [guard, memo, closed] = [
    extended(11, Uint8Array.of(1)),
    extended(8, Uint8Array.of(1)),
    extended(5, new Uint8Array(295)),
  ];

  test.each([
    ["has its CPI guard on", guard, SALE],
    ["takes only transfers with a memo, and raydium_cpmm sends none", memo, REQUEST],
    ["takes confidential transfers only", closed, REQUEST],
  ])("that %s is refused where the trade would fail for it", async (fault, bad, request) => {
    const { ports, reads } = portsOf(market(), {}, { [at.toString()]: bad });
    const refused = await refusal(() => buildTrade(ports, request));
    expect(refused).toMatchObject({ code: "NO_ROUTE", message: expect.stringContaining(fault) });
    expect(reads.map(([kind]) => kind)).toEqual(["refresh"]);
  });

  test.each([
    ["a CPI guard", guard, REQUEST],
    ["a wish for memos", memo, SALE],
    ["no plain transfers taken", closed, SALE],
  ])("with %s is traded with in the other direction", async (_, account, request) => {
    const { ports } = portsOf(market(), { [at.toString()]: account });
    expect(await buildTrade(ports, request)).toMatchObject({ platform: "raydium_cpmm" });
  });

  test("that wants memos takes what a venue pays that sends them", async () => {
    const hot = market();
    const { ports } = portsOf(
      { ...hot, venue: { ...hot.venue, supports: { ...hot.venue.supports, memo: true } } },
      { [at.toString()]: memo },
    );
    expect(await buildTrade(ports, REQUEST)).toMatchObject({ platform: "raydium_cpmm" });
  });

  test("that was frozen and is no longer is traded with", async () => {
    for (const request of [REQUEST, SALE]) {
      const { ports } = portsOf(market(), { [at.toString()]: own }, { [at.toString()]: holding(WALLET, 2) });
      expect(await buildTrade(ports, request)).toMatchObject({ platform: "raydium_cpmm" });
    }
  });
});

describe("a message too large for a transaction", () => {
  /** The size of the plain form grows with the swap's data, byte by byte. */
  const built = async (dataBytes: number, change: (ports: BuildPorts) => BuildPorts = (ports) => ports) =>
    (await buildTrade(change(portsOf(market(dataBytes)).ports), { ...REQUEST, maxTransactionVersion: 1 }))
      .unsignedTransaction;
  const withV1 = (ports: BuildPorts): BuildPorts => ({
    ...ports,
    settings: { ...ports.settings, transactionV1: true },
  });

  test("wraps SOL in the wallet's own account once the plain form no longer fits", async () => {
    const base = (await built(200)).length - 200;
    const most = MAX_TRANSACTION_SIZE - base;
    expect((await built(most)).length).toBe(MAX_TRANSACTION_SIZE);
    const shorter = (await built(most + 1)).length;
    expect(shorter).toBeLessThan(MAX_TRANSACTION_SIZE - 50);
  });

  test("goes over the best of many markets whose transaction fits, though only the best was priced at first", async () => {
    // The better the price, the larger the instruction.
    const markets = Array.from({ length: 12 }, (_, index): HotMarket => {
      const hot = market(index < 10 ? 100 : 2_000);
      const better = (ask: Ask): Quote => {
        const outAmount = (ask.amount * BigInt(100 + index)) / 100n;
        return { ...ask, inAmount: ask.amount, outAmount, priceImpact: 0, fill: undefined };
      };
      const address = Address.from(new Uint8Array(32).fill(60 + index));
      return {
        ...hot,
        venue: { ...hot.venue, quote: (_: unknown, ask: Ask) => better(ask) },
        market: { ...hot.market, address },
      };
    });
    const built = await buildTrade(memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets }), REQUEST);
    expect(built.route.map((leg) => leg.market)).toEqual([markets[9]!.market.address]);
  });

  test("never becomes version 1 for a caller that does not say it can sign one", async () => {
    const { ports } = portsOf(market(2_000));
    const refusal = await (async () => buildTrade(withV1(ports), REQUEST))().catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "NO_ROUTE", facts: { details: { limitBytes: MAX_TRANSACTION_SIZE } } });
  });

  test("becomes version 1 if settings allow it, and is refused with its size if they do not", async () => {
    const large = await built(2_000, withV1);
    expect(large[0]).toBe(0x81);
    const { ports } = portsOf(market(2_000));
    const refused = await refusal(() => buildTrade(ports, REQUEST));
    expect(refused).toMatchObject({ code: "NO_ROUTE", facts: { details: { limitBytes: MAX_TRANSACTION_SIZE } } });
    expect(refused.facts.details!.transactionBytes).toBeGreaterThan(2_000);
    expect(await refusal(() => buildTrade(withV1(portsOf(market(5_000)).ports), REQUEST))).toMatchObject({
      code: "NO_ROUTE",
      facts: { details: { remedy: "LOOKUP_TABLES" } },
    });
  });
});

/** The seed of the temporary wrapped-SOL account in the transaction of a build. */
function seedOf(transaction: Uint8Array): string {
  const bytes = Buffer.from(transaction);
  const at = bytes.indexOf(Buffer.from([3, 0, 0, 0, ...WALLET.bytes])) + 36;
  expect(at).toBeGreaterThan(36);
  return bytes.toString("latin1", at + 8, at + 8 + Number(bytes.readBigUInt64LE(at)));
}

test("10,000 builds predict no seed of the next 10,000: a temporary account cannot be funded ahead (row 47)", async () => {
  const ports = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets: [market()] });
  const build = async () => seedOf((await buildTrade(ports, REQUEST)).unsignedTransaction);
  const seen: string[] = [];
  for (let i = 0; i < 10_000; i++) seen.push(await build());
  const guesses = new Set(seen);
  const numberOf = (seed: string) => [...seed].reduce((sum, sign) => sum * 64n + BigInt(ALPHABET.indexOf(sign)), 0n);
  const values = seen.map(numberOf);
  const known = new Set<bigint>();
  // An adversary's rules: seen before, one further, one back, the same step again.
  for (const [i, value] of values.entries()) {
    for (const guess of [value, value + 1n, value - 1n, 2n * value - (values[i - 1] ?? 0n)]) known.add(guess);
  }
  let predicted = 0;
  const ones = new Uint32Array(66);
  for (let i = 0; i < 10_000; i++) {
    const seed = await build();
    const value = numberOf(seed);
    if (guesses.has(seed) || known.has(value)) predicted++;
    expect(seed).toMatch(/^[\w-]{11}$/);
    for (let bit = 0; bit < ones.length; bit++) if ((value >> BigInt(bit)) & 1n) ones[bit]!++;
  }
  expect(predicted).toBe(0);
  // Every one of at least 64 bits is a fair coin: 6 standard deviations of 10,000 tosses.
  for (const count of ones) expect(Math.abs(count - 5_000)).toBeLessThan(300);
});

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
