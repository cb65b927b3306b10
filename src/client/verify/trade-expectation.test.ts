import { describe, expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import type { BuildAnswer } from "./build-answer.ts";
import { expectTrade, type TradeOrder } from "./trade-expectation.ts";

const wallet = Address.from(new Uint8Array(32).fill(7));
const mint = Address.from(new Uint8Array(32).fill(8)).toString();
const market = Address.from(new Uint8Array(32).fill(9)).toString();

const order: TradeOrder = { inputMint: "SOL", outputMint: mint, swapMode: "exactIn", amountRaw: "1000", slippage: 0.1 };
const amounts = { inputAmountRaw: "1000", outputAmountRaw: "2000" };
const answer: BuildAnswer = {
  inputMint: "SOL",
  outputMint: mint,
  platform: "raydium_cpmm",
  priorityCost: 0,
  estimates: { inputAmount: 0.000001, outputAmount: 0.002, priceImpact: 0, ...amounts },
  route: [{ venue: "raydium_cpmm", market, inputMint: "SOL", outputMint: mint, ...amounts }],
};

describe("an order given to the verifier", () => {
  test("has one amount: the service's figure never takes its place", () => {
    expect(expectTrade(wallet, order, answer).amount).toBe(1000n);
    const { amountRaw, ...without } = order;
    const wrong: readonly TradeOrder[] = [
      without,
      { ...order, amount: 0.000001 },
      { ...order, sellPercent: 100 },
      { ...without, amount: 0.000001, sellPercent: 50 },
    ];
    for (const one of wrong) expect(() => expectTrade(wallet, one, answer), JSON.stringify(one)).toThrow(/exactly one/);
  });

  test("has a number where it has no base units: the service may read another text otherwise", () => {
    const { amountRaw, ...without } = order;
    const estimates = { ...answer.estimates!, inputAmount: 16, inputAmountRaw: "16000000000" };
    const told = { ...answer, estimates, route: [{ ...answer.route[0]!, inputAmountRaw: "16000000000" }] };
    for (const text of ["0x10", " 16", "16", "1.6e1", "１６", ["16"], 16n, { valueOf: () => 16 }]) {
      const amount = text as never;
      expect(() => expectTrade(wallet, { ...without, amount }, told)).toThrow("amount is a number");
    }
    for (const text of ["50", [50]]) {
      const share = { ...without, sellPercent: text as never };
      expect(() => expectTrade(wallet, share, answer, { maxInputRaw: "1000" })).toThrow("sellPercent is a number");
    }
    for (const slippage of ["0.1", null, [0.1]] as never[]) {
      expect(() => expectTrade(wallet, { ...order, slippage }, answer)).toThrow("slippage is a fraction");
    }
    for (const text of ["0x10", " 1000", "1e3", "１０００", "1000\n", "+1000", "01000", 1000]) {
      const raw = { ...order, amountRaw: text as never };
      expect(() => expectTrade(wallet, raw, answer), String(text)).toThrow("amountRaw is base units");
    }
  });

  test("sells a share between 0 and 100 % of what goes in", () => {
    const { amountRaw, ...without } = order;
    for (const sellPercent of [0, -1, 100.1, Number.NaN])
      expect(() => expectTrade(wallet, { ...without, sellPercent }, answer)).toThrow(/sellPercent/);
    expect(() => expectTrade(wallet, { ...without, sellPercent: 50, swapMode: "exactOut" }, answer)).toThrow(
      /sellPercent/,
    );
    expect(expectTrade(wallet, { ...without, sellPercent: 50 }, answer, { maxInputRaw: "1000" }).amount).toBe(1000n);
  });

  test("needs a bound where only the service says what goes in, unless the caller looks at it", () => {
    const { amountRaw, ...without } = order;
    for (const open of [
      { ...without, sellPercent: 50 },
      { ...order, amountRaw: "2000", swapMode: "exactOut" as const },
    ]) {
      expect(() => expectTrade(wallet, open, answer)).toThrow("needs a bound: give maxInputAmount");
      expect(() => expectTrade(wallet, open, answer, { maxInputRaw: "999" })).toThrow("more than your maximum of 999");
      expect(() => expectTrade(wallet, open, answer, { maxInputRaw: "1111" })).not.toThrow();
      expect(() => expectTrade(wallet, open, answer, {}, "caller")).not.toThrow();
      for (const other of ["Caller", "", null, true] as never[])
        expect(() => expectTrade(wallet, open, answer, {}, other)).toThrow("needs a bound");
    }
  });

  test("sells everything at 100 % alone, rounded as the service rounds: only then is the emptied account closed", () => {
    const { amountRaw, ...without } = order;
    const costs = { tip: "0", rentReturned: "1488440" };
    const closes = (sellPercent: number) =>
      expectTrade(wallet, { ...without, sellPercent }, { ...answer, costs }, { maxInputRaw: "1000" }).closesSource;
    expect([100, 99.9999999999, 99.999999999, 99].map(closes)).toEqual([true, true, false, false]);
  });

  test("has no other key, and a mode that exists", () => {
    const typo = { ...order, slipage: 0 } as TradeOrder;
    expect(() => expectTrade(wallet, typo, answer)).toThrow(
      'Unknown key "slipage" in the order. Did you mean "slippage"?',
    );
    const mode = { ...order, swapMode: "ExactIn" } as never;
    expect(() => expectTrade(wallet, mode, answer)).toThrow(/swapMode/);
  });

  test("lets an exact output be overshot by what one unit between two coarse markets is worth, and no more", () => {
    const middle = Address.from(new Uint8Array(32).fill(10)).toString();
    // One unit of the mint between buys 500 of the output: 2 is one unit's worth, and cannot be had alone.
    const [first, second] = [
      { ...answer.route[0]!, outputMint: middle, inputAmountRaw: "1000", outputAmountRaw: "1" },
      { ...answer.route[0]!, inputMint: middle, inputAmountRaw: "1", outputAmountRaw: "500" },
    ].map((leg, index) => ({ ...leg, market: Address.from(new Uint8Array(32).fill(20 + index)).toString() }));
    const estimates = { ...answer.estimates!, outputAmount: 0.0005, outputAmountRaw: "500" };
    const over = { ...answer, platform: "raydium_cpmm+raydium_cpmm", estimates, route: [first!, second!] };
    const exactOut: TradeOrder = { ...order, swapMode: "exactOut", amountRaw: "2" };
    const limits = { maxInputRaw: "1200" };
    expect(expectTrade(wallet, exactOut, over, limits).amount).toBe(2n);
    const finer = { ...second!, inputAmountRaw: "1000" };
    const fine = { ...over, route: [{ ...first!, outputAmountRaw: "1000" }, finer] };
    expect(() => expectTrade(wallet, exactOut, fine, limits)).toThrow("500 base units, but 2 were ordered");
  });

  test("lets an exact output be overshot by what shares of a vault are worth where a venue has some, and no more", () => {
    const over = (venue: string, outputAmountRaw: string) => ({
      ...answer,
      platform: venue,
      estimates: { ...answer.estimates!, outputAmount: Number(outputAmountRaw) / 1e6, outputAmountRaw },
      route: [{ ...answer.route[0]!, venue, inputAmountRaw: "1000", outputAmountRaw }],
    });
    const exactOut: TradeOrder = { ...order, swapMode: "exactOut", amountRaw: "900" };
    const limits = { maxInputRaw: "1200" };
    expect(expectTrade(wallet, exactOut, over("meteora_damm_v1", "990"), limits).amount).toBe(900n);
    for (const [venue, outputRaw] of [
      ["raydium_cpmm", "990"],
      ["meteora_damm_v1", "1100"],
    ] as const)
      expect(() => expectTrade(wallet, exactOut, over(venue, outputRaw), limits)).toThrow("900 were ordered");
  });

  test("has no more slippage than maxSlippage", () => {
    expect(() => expectTrade(wallet, order, answer, { maxSlippage: 0.09 })).toThrow("more than 0.09");
    expect(() => expectTrade(wallet, order, answer, { maxSlippage: 0 })).toThrow("more than 0.");
    expect(expectTrade(wallet, order, answer, { maxSlippage: 0.1 }).threshold).toBe(1800n);
    expect(() => expectTrade(wallet, order, answer, { maxSlippage: 1 })).toThrow("maxSlippage is a fraction");
  });

  test("allows priority that costs exactly maxPriorityCost", () => {
    // Times a billion, each of them is a little less than the lamports it stands for.
    for (const lamports of [15, 30, 1999998]) {
      const limits = { maxPriorityCost: lamports / 1e9 };
      const paid = { ...answer, priorityCost: lamports / 1e9 };
      expect(expectTrade(wallet, order, paid, limits).maxPriorityLamports).toBe(BigInt(lamports));
    }
  });

  test("needs at least minOutputAmount, and takes at most maxInputAmount, where a base unit is coarser than they are", () => {
    // Of a token without decimals 2 come out at least: less than 2.5.
    const coarse = {
      ...answer,
      estimates: { ...answer.estimates!, outputAmount: 2, outputAmountRaw: "2" },
      route: [{ ...answer.route[0]!, outputAmountRaw: "2" }],
    };
    const expects = (limits: object) => expectTrade(wallet, { ...order, slippage: 0 }, coarse, limits).threshold;
    const decimals = { output: 0 };
    expect(expects({ decimals, minOutputAmount: 2 })).toBe(2n);
    expect(expects({ decimals, minOutputAmount: 1.5 })).toBe(2n);
    expect(expects({ decimals, minOutputAmount: 0.25 })).toBe(2n);
    const little = "as little as 2 base units (its estimate less the slippage), less than your minimum of 3";
    expect(() => expects({ decimals, minOutputAmount: 2.5 })).toThrow(little);
    expect(expects({ decimals, maxInputAmount: 0.0000010001 })).toBe(2n);
    expect(() => expects({ decimals, maxInputAmount: 0.0000009999 })).toThrow("more than your maximum of 999");
    // Digits that a double holds are no fraction of a base unit.
    const fine = { ...answer, estimates: { ...answer.estimates!, outputAmount: 0.2, outputAmountRaw: "200000000" } };
    const leg = { ...answer.route[0]!, outputAmountRaw: "200000000" };
    const exact = { ...order, slippage: 0 };
    for (const minOutputAmount of [0.1, 0.2, 0.123456789, 0.199999999]) {
      const limits = { decimals: { output: 9 }, minOutputAmount };
      expect(expectTrade(wallet, exact, { ...fine, route: [leg] }, limits).threshold).toBe(200000000n);
    }
  });
});
