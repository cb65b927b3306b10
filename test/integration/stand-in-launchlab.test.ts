import { describe, expect, it } from "vitest";
import type { Address } from "../../src/primitives/address.ts";
import { hex, writeU64 } from "../../src/primitives/bytes.ts";
import { ceilDiv, U64_MAX } from "../../src/primitives/integer.ts";
import { createRandom } from "../../src/primitives/random.ts";
import type { Instruction } from "../../src/solana/instruction.ts";
import { decodeTokenAccount } from "../../src/solana/token/token-account.ts";
import { raydiumLaunchlab } from "../../src/venues/raydium-launchlab/venue.ts";
import { readMarket } from "../conformance/trades.ts";
import { type Launch, type LaunchTrade, launchInstruction, readLaunch } from "../support/launchlab-instruction.ts";
import type { Executed } from "../support/svm.ts";
import { worldOnSvm } from "../support/world.ts";

const MILLION = 1_000_000n;
/** Rates of the world: trade, platform and creator, in parts per million. */
const [TRADE, PLATFORM, CREATOR] = [2_500n, 7_500n, 3_000n];
const FEE = TRADE + PLATFORM + CREATOR;
const SLOPE_UNIT = 1n << 65n;
const TRADES = 40;

/** What each curve gives and asks for, without fees. */
interface Formula {
  bought(launch: Launch, quote: bigint): bigint;
  cost(launch: Launch, base: bigint): bigint;
  given(launch: Launch, base: bigint): bigint;
  needed(launch: Launch, quote: bigint): bigint;
}

const FORMULAS: Readonly<Record<string, Formula>> = {
  DEBUT: {
    bought: (l, quote) => (quote * (l.virtualBase - l.sold)) / (l.virtualQuote + l.raised + quote),
    cost: (l, base) => ceilDiv(base * (l.virtualQuote + l.raised), l.virtualBase - l.sold - base),
    given: (l, base) => (base * (l.virtualQuote + l.raised)) / (l.virtualBase - l.sold + base),
    needed: (l, quote) => ceilDiv(quote * (l.virtualBase - l.sold), l.virtualQuote + l.raised - quote),
  },
  LEVEL: {
    bought: (l, quote) => (quote * l.virtualBase) / l.virtualQuote,
    cost: (l, base) => ceilDiv(base * l.virtualQuote, l.virtualBase),
    given: (l, base) => (base * l.virtualQuote) / l.virtualBase,
    needed: (l, quote) => ceilDiv(quote * l.virtualBase, l.virtualQuote),
  },
  SLOPE: {
    bought: (l, quote) => root(((l.raised + quote) * SLOPE_UNIT) / l.virtualBase) - l.sold,
    cost: (l, base) => ceilDiv(l.virtualBase * (l.sold + base) ** 2n, SLOPE_UNIT) - l.raised,
    given: (l, base) => l.raised - ceilDiv(l.virtualBase * (l.sold - base) ** 2n, SLOPE_UNIT),
    needed: (l, quote) => l.sold - root(((l.raised - quote) * SLOPE_UNIT) / l.virtualBase),
  },
};

/** The integer square root by halving. */
function root(value: bigint): bigint {
  let [low, high] = [0n, 1n << 64n];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (middle * middle <= value) low = middle;
    else high = middle;
  }
  return low;
}

const feeOn = (amount: bigint): bigint => ceilDiv(amount * FEE, MILLION);
const withFee = (net: bigint): bigint => ceilDiv(net * MILLION, MILLION - FEE);

/** What a trade of `amount` moves by the formulas: of the token and of the quote at the wallet, and on the curve. */
function expected(formula: Formula, launch: Launch, kind: LaunchTrade["kind"], amount: bigint) {
  if (kind === "buyExactIn") {
    const curve = amount - feeOn(amount);
    return { base: formula.bought(launch, curve), quote: amount, curve, bound: "base" } as const;
  }
  if (kind === "buyExactOut") {
    const curve = formula.cost(launch, amount);
    return { base: amount, quote: withFee(curve), curve, bound: "quote" } as const;
  }
  if (kind === "sellExactIn") {
    const curve = formula.given(launch, amount);
    return { base: amount, quote: curve - feeOn(curve), curve, bound: "quote" } as const;
  }
  const curve = withFee(amount);
  return { base: formula.needed(launch, curve), quote: amount, curve, bound: "base" } as const;
}

describe("the LaunchLab stand-in", () => {
  const { world, svm } = worldOnSvm(5);
  const addressOf = (symbol: string): Address => world.tokens.find((token) => token.symbol === symbol)!.market;
  const launchOf = (symbol: string): Launch => readLaunch(svm, addressOf(symbol));
  const newTrader = (launch: Launch): Address => {
    const wallet = svm.newWallet();
    for (const mint of launch.mints) svm.setTokens(wallet, mint, 1n << 60n);
    return wallet;
  };
  const change = (address: Address, edit: (data: Uint8Array) => void): void => {
    const account = svm.get(address)!;
    edit(account.data);
    svm.setAccount(account);
  };
  const held = (address: Address): bigint => (svm.get(address) === null ? 0n : svm.tokens(address));

  it.each(["DEBUT", "LEVEL", "SLOPE"])(
    "trades %s by its curve's formula, and pays each fee to its recipient",
    (symbol) => {
      const formula = FORMULAS[symbol]!;
      const wallet = newTrader(launchOf(symbol));
      const random = createRandom(3);
      const kinds = ["buyExactIn", "buyExactOut", "sellExactIn", "sellExactOut"] as const;
      let traded = 0;
      for (let index = 0; index < TRADES; index++) {
        const launch = launchOf(symbol);
        const kind = kinds[index % kinds.length]!;
        const inQuote = kind === "buyExactIn" || kind === "sellExactOut";
        const amount = random.magnitude((inQuote ? launch.raised : launch.sold) / 4n);
        const { base, quote, curve, bound } = expected(formula, launch, kind, amount);
        if (base <= 0n || quote <= 0n) continue;
        const buying = kind === "buyExactIn" || kind === "buyExactOut";
        const limit = bound === "base" ? base : quote;
        const tighter = kind.endsWith("In") ? limit + 1n : limit - 1n;
        expectError(
          svm.simulate(wallet, [launchInstruction(launch, wallet, { kind, amount, limit: tighter })]),
          6004,
          "ExceededSlippage",
        );
        const before = [...launch.vaults, launch.platformVault, launch.creatorVault].map(held);
        const done = svm.send(wallet, [launchInstruction(launch, wallet, { kind, amount, limit })]);
        expect(done.ok, done.logs.join("\n")).toBe(true);
        const after = [...launch.vaults, launch.platformVault, launch.creatorVault].map(held);
        const now = launchOf(symbol);
        const fee = buying ? quote - curve : curve - quote;
        const [platform, creator] = [(fee * PLATFORM) / FEE, (fee * CREATOR) / FEE];
        expect(now.sold - launch.sold).toBe(buying ? base : -base);
        expect(now.raised - launch.raised).toBe(buying ? curve : -curve);
        expect(now.protocolFee - launch.protocolFee).toBe(fee - platform - creator);
        expect(after.map((amount, at) => amount - before[at]!)).toEqual([
          buying ? -base : base,
          (buying ? quote : -quote) - platform - creator,
          platform,
          creator,
        ]);
        expect(svm.tokens(now.vaults[1])).toBe(now.raised + now.protocolFee);
        traded++;
      }
      expect(traded).toBeGreaterThan(TRADES / 2);
    },
  );

  it("creates the creator's fee vault with the first trade, at the wallet's expense", () => {
    const fresh = worldOnSvm(6);
    const launch = readLaunch(fresh.svm, fresh.world.tokens.find(({ symbol }) => symbol === "DEBUT")!.market);
    const wallet = fresh.svm.newWallet();
    for (const mint of launch.mints) fresh.svm.setTokens(wallet, mint, 1n << 60n);
    const buy = { kind: "buyExactIn", amount: 1_000_000n, limit: 0n } as const;
    expect(fresh.svm.get(launch.creatorVault)).toBeNull();
    const rent = fresh.svm.rent(165);
    const before = fresh.svm.lamports(wallet);
    expect(fresh.svm.send(wallet, [launchInstruction(launch, wallet, buy)]).ok).toBe(true);
    expect(before - fresh.svm.lamports(wallet)).toBe(rent + 5_000n);
    expect(decodeTokenAccount(fresh.svm.get(launch.creatorVault)!)).toMatchObject({
      mint: launch.mints[1],
      amount: 3_000n,
    });
  });

  it("charges the transfer fee of a Token-2022 mint when the token moves", () => {
    const launch = launchOf("TOLL");
    const wallet = newTrader(launch);
    const formula = FORMULAS.DEBUT!;
    const withheld = (amount: bigint): bigint => ceilDiv(amount * 150n, 10_000n);
    const token = (): bigint => svm.tokens(launchInstruction(launch, wallet, NONE).accounts[5]!.address);
    const send = (trade: LaunchTrade): void => {
      const done = svm.send(wallet, [launchInstruction(launch, wallet, trade)]);
      expect(done.ok, done.logs.join("\n")).toBe(true);
    };

    let start = token();
    const bought = formula.bought(launch, 50_000_000n - feeOn(50_000_000n));
    send({ kind: "buyExactIn", amount: 50_000_000n, limit: bought - withheld(bought) });
    expect(token() - start).toBe(bought - withheld(bought));
    expect(launchOf("TOLL").sold).toBe(launch.sold + bought);

    start = token();
    const { sold } = launchOf("TOLL");
    send({ kind: "buyExactOut", amount: 985_000n, limit: U64_MAX });
    expect(token() - start).toBe(985_000n);
    expect(launchOf("TOLL").sold).toBe(sold + 1_000_000n);

    const before = launchOf("TOLL");
    const given = formula.given(before, 1_000_000n - withheld(1_000_000n));
    send({ kind: "sellExactIn", amount: 1_000_000n, limit: given - feeOn(given) });
    expect(launchOf("TOLL").sold).toBe(before.sold - 985_000n);

    start = token();
    const needed = formula.needed(launchOf("TOLL"), withFee(777_777n));
    send({ kind: "sellExactOut", amount: 777_777n, limit: U64_MAX });
    const sent = start - token();
    expect(sent - withheld(sent)).toBe(needed);
  });

  it.each(["DEBUT", "SLOPE", "LEVEL"])(
    "ends the sale of %s with its last token, for no more than its cost",
    (symbol) => {
      const fresh = worldOnSvm(8);
      const address = fresh.world.tokens.find((token) => token.symbol === symbol)!.market;
      const launch = readLaunch(fresh.svm, address);
      const wallet = fresh.svm.newWallet();
      for (const mint of launch.mints) fresh.svm.setTokens(wallet, mint, 1n << 60n);
      const left = launch.forSale - launch.sold;
      const cost = withFee(FORMULAS[symbol]!.cost(launch, left));
      const buy = (trade: LaunchTrade): Executed => fresh.svm.send(wallet, [launchInstruction(launch, wallet, trade)]);
      const own = launchInstruction(launch, wallet, NONE).accounts[6]!.address;
      const before = fresh.svm.tokens(own);

      expectError(buy({ kind: "buyExactOut", amount: left + 1n, limit: U64_MAX }), 6002, "InvalidInput");
      expectError(buy({ kind: "buyExactIn", amount: 2n * cost, limit: left + 1n }), 6004, "ExceededSlippage");
      expect(buy({ kind: "buyExactIn", amount: 2n * cost, limit: left }).ok).toBe(true);
      expect(before - fresh.svm.tokens(own)).toBe(cost);
      expect(readLaunch(fresh.svm, address)).toMatchObject({ status: 1, sold: launch.forSale });
      expectError(buy({ kind: "sellExactIn", amount: 1_000_000n, limit: 0n }), 6006, "PoolMigrated");

      const pair = { a: launch.mints[0], b: launch.mints[1] };
      const { state } = readMarket(fresh.svm, raydiumLaunchlab, address, pair);
      const ask = {
        mode: "exactIn",
        inMint: pair.b,
        outMint: pair.a,
        amount: 1_000_000n,
        clock: fresh.svm.clock(),
      } as const;
      expect(() => raydiumLaunchlab.quote(state, ask)).toThrow("waits to migrate");
    },
  );

  it("also ends a sale that has reached its goal", () => {
    const launch = launchOf("LEVEL");
    const wallet = newTrader(launch);
    change(launch.address, (data) => writeU64(data, 69, launch.raised + 1_000n));
    const buy = (amount: bigint) => launchInstruction(launch, wallet, { kind: "buyExactIn", amount, limit: 0n });
    expect(svm.send(wallet, [buy(900n)]).ok).toBe(true);
    expect(launchOf("LEVEL").status).toBe(0);
    expect(svm.send(wallet, [buy(200n)]).ok).toBe(true);
    expect(launchOf("LEVEL").status).toBe(1);
  });

  it("pays the share fee out of the trade fee, up to the configured limit", () => {
    const launch = launchOf("SLOPE");
    const wallet = newTrader(launch);
    const receiver = svm.setTokens(svm.newWallet(), launch.mints[1], 0n);
    const trade = { kind: "buyExactIn", amount: 10_000_000n, limit: 0n } as const;
    const shared = (rate: bigint) => launchInstruction(launch, wallet, { ...trade, share: { rate, receiver } });
    expectError(svm.simulate(wallet, [shared(10_001n)]), 6002, "InvalidInput");
    expect(svm.send(wallet, [shared(5_000n)]).ok).toBe(true);
    expect(svm.tokens(receiver)).toBe(50_000n);
    expect(launchOf("SLOPE").raised - launch.raised).toBe(10_000_000n - 180_000n);
  });

  it("reports each refusal with its own error", () => {
    const launch = launchOf("DEBUT");
    const wallet = newTrader(launch);
    const whole: LaunchTrade = { kind: "buyExactIn", amount: 1_000_000n, limit: 0n };
    const good = launchInstruction(launch, wallet, whole);
    const run = (changed: Partial<Instruction>): Executed => svm.simulate(wallet, [{ ...good, ...changed }]);
    const trade = (changed: Partial<LaunchTrade>): Executed =>
      svm.simulate(wallet, [launchInstruction(launch, wallet, { ...whole, ...changed })]);
    const during = (at: number, bytes: Uint8Array, check: () => void): void => {
      const before = svm.get(launch.address)!.data;
      change(launch.address, (data) => data.set(bytes, at));
      check();
      change(launch.address, (data) => data.set(before));
    };
    const swapped = (at: number, by: number) =>
      good.accounts.map((account, index) => (index === at ? good.accounts[by]! : account));

    expect(run({}).ok).toBe(true);
    expectError(trade({ limit: U64_MAX }), 6004, "ExceededSlippage");
    expectError(trade({ kind: "buyExactOut", limit: 1n }), 6004, "ExceededSlippage");
    for (const kind of ["buyExactIn", "buyExactOut", "sellExactIn", "sellExactOut"] as const) {
      expectError(trade({ kind, amount: 0n }), 6002, "InvalidInput");
    }
    expectError(trade({ kind: "sellExactIn", amount: launch.sold + 1n }), 6008, "MathOverflow");
    for (const status of [1, 2]) {
      during(17, Uint8Array.of(status), () => expectError(run({}), 6006, "PoolMigrated"));
    }
    during(0, hex("0000000000000000"), () => expectError(run({}), 3002, "AccountDiscriminatorMismatch"));
    expectError(run({ data: new Uint8Array(32) }), 101, "InstructionFallbackNotFound");
    expectError(run({ data: good.data.slice(0, 24) }), 102, "InstructionDidNotDeserialize");
    expectError(run({ accounts: good.accounts.slice(0, 14) }), 3005, "AccountNotEnoughKeys");
    expectError(run({ accounts: good.accounts.slice(0, 17) }), 6018, "NotEnoughRemainingAccounts");
    expectError(run({ accounts: swapped(7, 8) }), 2012, "ConstraintAddress");
    expectError(run({ accounts: swapped(16, 17) }), 2006, "ConstraintSeeds");
  });
});

/** For the accounts alone. */
const NONE: LaunchTrade = { kind: "buyExactIn", amount: 0n, limit: 0n };

function expectError(executed: Executed, number: number, name: string): void {
  expect(executed.ok).toBe(false);
  const logs = executed.logs.join("\n");
  expect(logs).toMatch(
    new RegExp(`AnchorError .*Error Code: ${name}\\. Error Number: ${number}\\. Error Message: .+\\.`),
  );
  expect(logs).toContain(`custom program error: 0x${number.toString(16)}`);
}
