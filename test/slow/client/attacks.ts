import { MIDDLE_MINTS, type TradeLimits } from "../../../src/client/order/limits.ts";
import { addressWithSeed, tokenAccountAddress } from "../../../src/client/verify/derived-address.ts";
import type { TradeOrder } from "../../../src/client/verify/trade-expectation.ts";
import { Address } from "../../../src/primitives/address.ts";
import { toWholeUnits } from "../../../src/primitives/amount.ts";
import { concatBytes, textBytes, writeU32, writeU64 } from "../../../src/primitives/bytes.ts";
import {
  type Instruction,
  readonly,
  readonlySigner,
  writable,
  writableSigner,
} from "../../../src/solana/instruction.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  SOL_MINT,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../src/solana/programs.ts";
import type { HonestBuild } from "./honest-builds.ts";
import { planOf, wireOf } from "./mutations.ts";

/** A named attack on an honest build: what it would take, and the words of the check that stops it. */
export interface Attack {
  readonly name: string;
  readonly takes: string;
  readonly stopped: RegExp;
  readonly order?: Partial<TradeOrder>;
  readonly answer?: object;
  readonly limits?: TradeLimits | Record<string, unknown>;
  readonly wire?: Uint8Array;
}

const STRANGER = Address.from(new Uint8Array(32).fill(0x66)).toString();

const scaled = (text: string, factor: bigint): string => `${BigInt(text) * factor}`;

/** Lies in the answer of an honest exactIn buy with SOL, whose bytes are honest. */
export function liesAboutBuy({ answer, decimals, order }: HonestBuild): Attack[] {
  const estimates = answer.estimates!;
  const { output } = decimals;
  const known = { decimals: { output } };
  const estimate = (changes: object) => ({ estimates: { ...estimates, ...changes } });
  const costs = (changes: object) => ({ costs: { ...answer.costs, ...changes } });
  const leg = (changes: object) => ({ route: answer.route.map((one) => ({ ...one, ...changes })) });
  const scaledBy = (digits: number) =>
    estimate({ outputAmount: toWholeUnits(BigInt(estimates.outputAmountRaw), Math.max(0, output + digits)) });
  const shown = (factor: number) => estimate({ outputAmount: estimates.outputAmount * factor });
  const [first] = answer.route;
  const asked = /do not know|does not know the output token's decimals/;
  const middle = (mint: string) => ({
    platform: `${first!.venue}+${first!.venue}`,
    route: [
      { ...first!, outputMint: mint },
      { ...first!, inputMint: mint, inputAmountRaw: "1" },
    ],
  });
  return [
    {
      name: "decimals shifted up under a minimum output",
      takes: "all but a millionth of the output",
      stopped: asked,
      answer: scaledBy(-6),
      limits: { minOutputAmount: estimates.outputAmount * 1e6 },
    },
    {
      name: "decimals shifted down under a minimum output",
      takes: "the meaning of the limit",
      stopped: asked,
      answer: scaledBy(3),
      limits: { minOutputAmount: estimates.outputAmount / 1e3 },
    },
    {
      name: "honest decimals that nobody but the service knows",
      takes: "the meaning of the limit",
      stopped: asked,
      limits: { minOutputAmount: estimates.outputAmount / 2 },
    },
    {
      name: "output shown a thousandfold, decimals known",
      takes: "the owner's judgement",
      stopped: /which is another amount/,
      answer: shown(1000),
      limits: known,
    },
    {
      name: "output shown at a tenth, decimals known",
      takes: "the owner's judgement",
      stopped: /which is another amount/,
      answer: shown(0.1),
      limits: known,
    },
    {
      name: "output shown with other digits",
      takes: "the owner's judgement",
      stopped: /which is another amount/,
      answer: estimate({ outputAmount: estimates.outputAmount * 1.37 + 1 }),
    },
    {
      name: "output in base units above what the bytes require",
      takes: "the difference",
      stopped: /minimum output/,
      answer: {
        ...estimate({
          outputAmountRaw: scaled(estimates.outputAmountRaw, 10n),
          outputAmount: toWholeUnits(BigInt(estimates.outputAmountRaw) * 10n, output),
        }),
        ...leg({ outputAmountRaw: scaled(estimates.outputAmountRaw, 10n) }),
      },
    },
    {
      name: "SOL shown at a hundredth",
      takes: "99 % of the input unseen",
      stopped: /which is another amount/,
      answer: estimate({ inputAmount: estimates.inputAmount / 100 }),
    },
    {
      name: "SOL shown a hundredfold",
      takes: "the owner's judgement",
      stopped: /which is another amount/,
      answer: estimate({ inputAmount: estimates.inputAmount * 100 }),
    },
    {
      name: "an input above the order in both forms",
      takes: "ten times the input",
      stopped: /were ordered/,
      answer: {
        ...estimate({
          inputAmountRaw: scaled(estimates.inputAmountRaw, 10n),
          inputAmount: toWholeUnits(BigInt(estimates.inputAmountRaw) * 10n, decimals.input),
        }),
        ...leg({ inputAmountRaw: scaled(estimates.inputAmountRaw, 10n) }),
      },
    },
    {
      name: "an output of nothing",
      takes: "the whole input",
      stopped: /amount of nothing/,
      answer: estimate({ outputAmount: 0, outputAmountRaw: "0" }),
    },
    {
      name: "an input of nothing",
      takes: "the whole input",
      stopped: /amount of nothing/,
      answer: estimate({ inputAmount: 0, inputAmountRaw: "0" }),
    },
    {
      name: "an output that is no number",
      takes: "the check of the output",
      stopped: /not whole base units/,
      answer: estimate({ outputAmountRaw: "1e9" }),
    },
    {
      name: "a negative output",
      takes: "the check of the output",
      stopped: /not whole base units/,
      answer: estimate({ outputAmountRaw: "-5" }),
    },
    {
      name: "an output of 21 digits",
      takes: "the check of the output",
      stopped: /not whole base units/,
      answer: estimate({ outputAmountRaw: "9".repeat(21) }),
    },
    {
      name: "an output in hexadecimal",
      takes: "the check of the output",
      stopped: /not whole base units/,
      answer: estimate({ outputAmountRaw: "0xff" }),
    },
    {
      name: "no estimates",
      takes: "every check of amounts",
      stopped: /no estimates/,
      answer: { estimates: undefined },
    },
    {
      name: "an output shown as NaN",
      takes: "the owner's judgement",
      stopped: /which is another amount/,
      answer: estimate({ outputAmount: Number.NaN }),
    },
    {
      name: "an output shown as infinite",
      takes: "the owner's judgement",
      stopped: /which is another amount/,
      answer: estimate({ outputAmount: Number.POSITIVE_INFINITY }),
    },
    {
      name: "a price impact of NaN",
      takes: "the limit on it",
      stopped: /impossible/,
      answer: estimate({ priceImpact: Number.NaN }),
    },
    {
      name: "a negative price impact",
      takes: "the limit on it",
      stopped: /impossible/,
      answer: estimate({ priceImpact: -0.5 }),
    },
    {
      name: "a price impact above one",
      takes: "the owner's judgement",
      stopped: /impossible/,
      answer: estimate({ priceImpact: 1.5 }),
    },
    {
      name: "a price impact above the limit",
      takes: "the difference",
      stopped: /moves the price/,
      answer: estimate({ priceImpact: 0.9 }),
      limits: { maxPriceImpact: 0.1 },
    },
    {
      name: "another output mint",
      takes: "the whole input, for a token of the attacker",
      stopped: /which is not the order/,
      answer: { outputMint: STRANGER },
    },
    {
      name: "another input mint",
      takes: "another token",
      stopped: /which is not the order/,
      answer: { inputMint: STRANGER },
    },
    { name: "no route", takes: "every check of the swap", stopped: /does not lead/, answer: { route: [] } },
    {
      name: "three markets",
      takes: "rent of the attacker's accounts",
      stopped: /does not lead/,
      answer: { route: [first, first, first] },
    },
    {
      name: "twenty thousand markets",
      takes: "half a minute of processor time",
      stopped: /has 20000 markets/,
      answer: { route: Array.from({ length: 20_000 }, () => first) },
    },
    {
      name: "a route through a mint of the attacker",
      takes: "rent of an account for it",
      stopped: /two ways/,
      answer: middle(STRANGER),
    },
    {
      name: "a route through a mint that the caller did not list",
      takes: "rent of an account for it",
      stopped: /middleMints does not list/,
      answer: middle(STRANGER),
      limits: { middleMints: MIDDLE_MINTS },
    },
    {
      name: "a route through the output and back",
      takes: "two fees",
      stopped: /does not lead|middleMints/,
      answer: middle(answer.outputMint),
    },
    {
      name: "a route through the input and back",
      takes: "two fees",
      stopped: /middleMints|does not lead/,
      answer: middle(answer.inputMint),
    },
    {
      name: "a route through a mint that the caller struck off",
      takes: "rent",
      stopped: /middleMints does not list/,
      answer: middle("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"),
      limits: { middleMints: [] },
    },
    {
      name: "a route that ends elsewhere",
      takes: "the whole input",
      stopped: /does not lead/,
      answer: leg({ outputMint: STRANGER }),
    },
    {
      name: "a route that begins elsewhere",
      takes: "another token",
      stopped: /does not lead/,
      answer: leg({ inputMint: STRANGER }),
    },
    {
      name: "a route with other amounts in",
      takes: "the owner's judgement",
      stopped: /not those of its estimates/,
      answer: leg({ inputAmountRaw: "1" }),
    },
    {
      name: "a route with other amounts out",
      takes: "the owner's judgement",
      stopped: /not those of its estimates/,
      answer: leg({ outputAmountRaw: "1" }),
    },
    {
      name: "another platform's name",
      takes: "the owner's judgement",
      stopped: /names the platform/,
      answer: { platform: "orca_best_price" },
    },
    {
      name: "a terminal escape as the platform",
      takes: "the clipboard",
      stopped: /names the platform/,
      answer: { platform: "\u001b]52;c;AAAA\u0007" },
    },
    {
      name: "a venue that the bytes do not call",
      takes: "the owner's judgement",
      stopped: /it trades on/,
      answer: { platform: "elsewhere", ...leg({ venue: "elsewhere" }) },
    },
    {
      name: "another market than the bytes name",
      takes: "the price of the honest market",
      stopped: /is not the announced market|not derived/,
      answer: leg({ market: STRANGER }),
    },
    {
      name: "priority shown as nothing",
      takes: "the owner's judgement",
      stopped: /announced 0 SOL/,
      answer: { priorityCost: 0 },
    },
    {
      name: "priority shown twofold",
      takes: "the owner's judgement",
      stopped: /but the service announced/,
      answer: { priorityCost: answer.priorityCost * 2 + 1e-9 },
    },
    { name: "priority shown as NaN", takes: "the cap", stopped: /not an amount/, answer: { priorityCost: Number.NaN } },
    { name: "priority shown as negative", takes: "the cap", stopped: /not an amount/, answer: { priorityCost: -1 } },
    {
      name: "another priority fee among the costs",
      takes: "the owner's judgement",
      stopped: /but the service announced/,
      answer: costs({ priorityFee: "1" }),
    },
    {
      name: "a tip that is not there",
      takes: "the owner's judgement",
      stopped: /the service announced 0.000000001 SOL/,
      answer: costs({ tip: "1" }),
    },
    {
      name: "a base fee of one SOL",
      takes: "the owner's judgement",
      stopped: /base fee is too high/,
      answer: costs({ baseFee: "1000000000" }),
    },
    {
      name: "rent of one SOL",
      takes: "the owner's judgement",
      stopped: /announced 1 SOL of rent/,
      answer: costs({ rentPaid: "1000000000" }),
    },
    {
      name: "costs in words",
      takes: "the checks of costs",
      stopped: /not whole base units/,
      answer: costs({ tip: "none" }),
    },
    {
      name: "a limit on priority that the answer keeps and the bytes break",
      takes: "the cap",
      stopped: /more than the limit/,
      answer: { priorityCost: 0 },
      limits: { maxPriorityCost: 0 },
    },
    {
      name: "a typing error in a limit",
      takes: "everything the limit would keep",
      stopped: /Did you mean "maxPriceImpact"/,
      limits: { maxPriceImpct: 1e-10 },
    },
    {
      name: "a typing error in another limit",
      takes: "everything the limit would keep",
      stopped: /Did you mean "minOutputAmount"/,
      limits: { minOutputAmout: 1e10 },
    },
    {
      name: "a limit in other letters",
      takes: "everything the limit would keep",
      stopped: /Did you mean "maxInputRaw"/,
      limits: { maxInputRAW: "1" },
    },
    {
      name: "decimals under another name",
      takes: "the scale of a limit",
      stopped: /Did you mean "output"/,
      limits: { decimals: { ouput: 6 } },
    },
    {
      name: "a limit of NaN",
      takes: "everything the limit would keep",
      stopped: /is a number/,
      limits: { minOutputAmount: Number.NaN },
    },
    {
      name: "a limit as text",
      takes: "everything the limit would keep",
      stopped: /is a number/,
      limits: { maxPriceImpact: "0.1" },
    },
    {
      name: "a raw limit as a number",
      takes: "everything the limit would keep",
      stopped: /decimal string/,
      limits: { minOutputRaw: 5 },
    },
    {
      name: "a raw limit with a fraction",
      takes: "everything the limit would keep",
      stopped: /decimal string/,
      limits: { minOutputRaw: "1.5" },
    },
    {
      name: "an output below the raw minimum",
      takes: "the difference",
      stopped: /less than your minimum/,
      limits: { minOutputRaw: scaled(estimates.outputAmountRaw, 2n) },
    },
    {
      name: "an output below the minimum",
      takes: "the difference",
      stopped: /less than your minimum/,
      limits: { ...known, minOutputAmount: estimates.outputAmount * 2 },
    },
    {
      name: "an input above the raw maximum",
      takes: "the difference",
      stopped: /more than your maximum/,
      limits: { maxInputRaw: "1" },
    },
    {
      name: "an input above the maximum",
      takes: "the difference",
      stopped: /more than your maximum/,
      limits: { maxInputAmount: order.amount! / 2 },
    },
    {
      name: "the bytes of a larger order",
      takes: "half of the input",
      stopped: /were ordered/,
      order: { amount: order.amount! / 2 },
    },
    {
      name: "the bytes of a smaller order",
      takes: "nothing, but it is not the order",
      stopped: /were ordered|but the order is for/,
      order: { amount: order.amount! * 2 },
    },
    {
      name: "the bytes of a looser slippage",
      takes: "the difference",
      stopped: /minimum output/,
      order: { slippage: order.slippage / 2 },
    },
    {
      name: "the bytes of the other mode",
      takes: "the exactness",
      stopped: /were ordered|its input|does not know/,
      order: { swapMode: "exactOut" },
    },
  ];
}

const bytesOf = (...parts: readonly (number | bigint | Uint8Array)[]): Uint8Array =>
  concatBytes(
    ...parts.map((part) => {
      if (part instanceof Uint8Array) return part;
      const bytes = new Uint8Array(typeof part === "bigint" ? 8 : 4);
      if (typeof part === "bigint") writeU64(bytes, 0, part);
      else writeU32(bytes, 0, part);
      return bytes;
    }),
  );

/** Transactions around an honest buy that take SOL from the wallet, or leave it where the owner does not see it. */
export function thefts({ wire, wallet, answer }: HonestBuild): Attack[] {
  const plan = planOf(wire);
  const payer = writableSigner(wallet);
  const owner = readonlySigner(wallet);
  const wrapped = tokenAccountAddress(wallet, SOL_MINT, TOKEN_PROGRAM);
  const create = (account: Address, mint: Address, holder = wallet, program = TOKEN_PROGRAM): Instruction => ({
    program: ASSOCIATED_TOKEN_PROGRAM,
    accounts: [payer, writable(account), readonly(holder), readonly(mint), readonly(SYSTEM_PROGRAM), readonly(program)],
    data: Uint8Array.of(1),
  });
  const transfer = (to: Address, lamports: bigint): Instruction => ({
    program: SYSTEM_PROGRAM,
    accounts: [payer, writable(to)],
    data: bytesOf(2, lamports),
  });
  const sync: Instruction = { program: TOKEN_PROGRAM, accounts: [writable(wrapped)], data: Uint8Array.of(17) };
  const seeded = (seed: string, lamports: bigint): Instruction => ({
    program: SYSTEM_PROGRAM,
    accounts: [payer, writable(addressWithSeed(wallet, textBytes(seed), TOKEN_PROGRAM))],
    data: concatBytes(
      bytesOf(3),
      wallet.bytes,
      bytesOf(BigInt(seed.length)),
      textBytes(seed),
      bytesOf(lamports, 165n),
      TOKEN_PROGRAM.bytes,
    ),
  });
  const initialize = (seed: string): Instruction => ({
    program: TOKEN_PROGRAM,
    accounts: [writable(addressWithSeed(wallet, textBytes(seed), TOKEN_PROGRAM)), readonly(SOL_MINT)],
    data: concatBytes(Uint8Array.of(18), wallet.bytes),
  });
  const close = (account: Address, program = TOKEN_PROGRAM): Instruction => ({
    program,
    accounts: [writable(account), payer, owner],
    data: Uint8Array.of(9),
  });
  const budget = (tag: number, value: Uint8Array): Instruction => ({
    program: COMPUTE_BUDGET_PROGRAM,
    accounts: [],
    data: concatBytes(Uint8Array.of(tag), value),
  });
  const others = plan.instructions.filter(({ program }) => program !== COMPUTE_BUDGET_PROGRAM);
  const first = (...more: Instruction[]) => wireOf({ ...plan, instructions: [...more, ...plan.instructions] });
  const last = (...more: Instruction[]) => wireOf({ ...plan, instructions: [...plan.instructions, ...more] });
  const rent = 2_039_280n;
  const outside =
    /outside this trade|second wrapped-SOL|opens a wrapped-SOL|no swap uses|leaves the temporary|repeats|receives .* SOL, but needs|does not open|before the swap/;
  const outMint = Address.of(answer.outputMint);
  return [
    {
      name: "a second wrapped-SOL account, filled and left",
      takes: "1,899 SOL, wrapped out of sight",
      stopped: outside,
      wire: first(create(wrapped, SOL_MINT), transfer(wrapped, 1_899_000_000_000n), sync),
    },
    {
      name: "a second wrapped-SOL account with one lamport",
      takes: "its rent",
      stopped: outside,
      wire: first(create(wrapped, SOL_MINT), transfer(wrapped, 1n), sync),
    },
    {
      name: "a second wrapped-SOL account, empty",
      takes: "its rent",
      stopped: outside,
      wire: first(create(wrapped, SOL_MINT)),
    },
    {
      name: "a wrapped-SOL account after the swap",
      takes: "liquid SOL",
      stopped: outside,
      wire: last(create(wrapped, SOL_MINT), transfer(wrapped, 10n ** 12n), sync),
    },
    {
      name: "SOL sent to the wrapped-SOL account alone",
      takes: "liquid SOL",
      stopped: outside,
      wire: first(transfer(wrapped, 10n ** 12n)),
    },
    {
      name: "SOL sent to the wrapped-SOL account and synced",
      takes: "liquid SOL",
      stopped: outside,
      wire: first(transfer(wrapped, 10n ** 12n), sync),
    },
    {
      name: "a second seeded account",
      takes: "liquid SOL",
      stopped: outside,
      wire: first(seeded("second", rent + 10n ** 12n), initialize("second")),
    },
    {
      name: "a second seeded account, after the swap",
      takes: "liquid SOL",
      stopped: outside,
      wire: last(seeded("second", rent + 10n ** 12n), initialize("second")),
    },
    {
      name: "a seeded account that is never a token account",
      takes: "liquid SOL",
      stopped: outside,
      wire: first(seeded("bare", rent + 10n ** 12n)),
    },
    {
      name: "a seeded account opened and closed",
      takes: "nothing yet",
      stopped: outside,
      wire: last(seeded("x", rent), initialize("x"), close(addressWithSeed(wallet, textBytes("x"), TOKEN_PROGRAM))),
    },
    {
      name: "the wallet's wrapped SOL unwrapped",
      takes: "nothing, but it was not ordered",
      stopped: outside,
      wire: last(close(wrapped)),
    },
    {
      name: "SOL to a stranger",
      takes: "everything",
      stopped: /outside this trade/,
      wire: last(transfer(Address.of(STRANGER), 10n ** 12n)),
    },
    {
      name: "SOL to the mint bought",
      takes: "everything",
      stopped: /outside this trade/,
      wire: last(transfer(outMint, 10n ** 9n)),
    },
    {
      name: "SOL to the token account bought into",
      takes: "what is sent",
      stopped: /outside this trade/,
      wire: last(transfer(tokenAccountAddress(wallet, outMint, TOKEN_PROGRAM), 10n ** 9n)),
    },
    {
      name: "SOL to an incinerated address",
      takes: "what is sent",
      stopped: /outside this trade/,
      wire: last(transfer(Address.of("1nc1nerator11111111111111111111111111111111"), 10n ** 9n)),
    },
    {
      name: "a tip to a known account, unannounced",
      takes: "the tip",
      stopped: /the service announced/,
      wire: last(transfer(Address.of("96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5"), 10n ** 6n)),
    },
    {
      name: "an announced tip above the default cap",
      takes: "0.04 SOL on a small order",
      stopped: /more than the limit/,
      wire: last(transfer(Address.of("96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5"), 40_000_000n)),
      answer: { costs: { ...answer.costs, tip: "40000000" }, priorityCost: answer.priorityCost + 0.04 },
    },
    {
      name: "a priority fee of the old default cap",
      takes: "0.05 SOL on a 0.001 SOL order",
      stopped: /more than the limit/,
      wire: wireOf({
        ...plan,
        instructions: [budget(2, bytesOf(1_000_000)), budget(3, bytesOf(49_000_000_000n)), ...others],
      }),
      answer: { priorityCost: 0.049, costs: { ...answer.costs, priorityFee: "49000000" } },
    },
    {
      name: "a priority fee above what is announced",
      takes: "0.004 SOL",
      stopped: /the service announced/,
      wire: wireOf({
        ...plan,
        instructions: [budget(2, bytesOf(1_000_000)), budget(3, bytesOf(4_000_000_000n)), ...others],
      }),
    },
    {
      name: "an account for a mint of the attacker",
      takes: "its rent",
      stopped: /does not receive/,
      wire: first(create(tokenAccountAddress(wallet, Address.of(STRANGER), TOKEN_PROGRAM), Address.of(STRANGER))),
    },
    {
      name: "an account of the mint for the attacker",
      takes: "its rent",
      stopped: /another owner|repeats/,
      wire: first(
        create(tokenAccountAddress(Address.of(STRANGER), outMint, TOKEN_PROGRAM), outMint, Address.of(STRANGER)),
      ),
    },
    {
      name: "an account of the mint under the other token program",
      takes: "a failing transaction's fee",
      stopped: /repeats|of rent|token programs/,
      wire: first(
        create(tokenAccountAddress(wallet, outMint, TOKEN_2022_PROGRAM), outMint, wallet, TOKEN_2022_PROGRAM),
        create(tokenAccountAddress(wallet, outMint, TOKEN_PROGRAM), outMint),
      ),
    },
  ];
}
