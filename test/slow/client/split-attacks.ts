import { tokenAccountAddress } from "../../../src/client/verify/derived-address.ts";
import { findSwapTable, swapBounds } from "../../../src/client/verify/match-swap.ts";
import type { SwapTable } from "../../../src/client/verify/venues/swap-table.ts";
import { Address } from "../../../src/primitives/address.ts";
import { writeU64 } from "../../../src/primitives/bytes.ts";
import { type Instruction, writable, writableSigner } from "../../../src/solana/instruction.ts";
import { SYSTEM_PROGRAM, TOKEN_PROGRAM, USDC_MINT } from "../../../src/solana/programs.ts";
import type { Attack } from "./attacks.ts";
import type { HonestBuild } from "./honest-builds.ts";
import { type Plan, planOf, wireOf } from "./mutations.ts";

const STRANGER = Address.from(new Uint8Array(32).fill(0x66));

/** A lie about a divided trade, and the check that stops it. */
export type SplitAttack = Pick<Attack, "name" | "answer" | "wire" | "stopped">;

/** One swap of a plan. */
interface Swap {
  readonly at: number;
  readonly table: SwapTable;
  readonly mostIn: bigint;
  readonly leastOut: bigint;
}

/** Attacks on a divided trade: direct over one market, and beside it over another one, or over two of them in a row. */
export function splitAttacks({ wire, wallet, answer, order }: HonestBuild): SplitAttack[] {
  const plan = planOf(wire);
  const swaps = swapsOf(plan);
  const [one, next] = swaps as [Swap, Swap];
  const last = swaps.at(-1)!;
  const estimates = answer.estimates!;
  const { route } = answer;
  const isExactIn = order.swapMode === "exactIn";

  const bounded = (swap: Swap, { mostIn = swap.mostIn, leastOut = swap.leastOut }): Instruction => {
    const data = plan.instructions[swap.at]!.data.slice();
    writeU64(data, swap.table.inAt, mostIn);
    writeU64(data, swap.table.outAt, leastOut);
    return { ...plan.instructions[swap.at]!, data };
  };
  const replaced = (...changes: readonly (readonly [Swap, Instruction])[]) =>
    wireOf({
      ...plan,
      instructions: plan.instructions.map((old, at) => changes.find(([swap]) => swap.at === at)?.[1] ?? old),
    });
  const withAccount = (swap: Swap, kind: string, address: Address) => {
    const place = swap.table.accounts.findIndex(({ rule }) => rule.kind === kind);
    const old = plan.instructions[swap.at]!;
    return { ...old, accounts: old.accounts.map((account, at) => (at === place ? { ...account, address } : account)) };
  };
  const accountOf = (swap: Swap, kind: string) =>
    plan.instructions[swap.at]!.accounts[swap.table.accounts.findIndex(({ rule }) => rule.kind === kind)]!.address;
  const inserted = (at: number, ...more: Instruction[]) =>
    wireOf({ ...plan, instructions: plan.instructions.toSpliced(at, 0, ...more) });
  const without = (at: number) => wireOf({ ...plan, instructions: plan.instructions.toSpliced(at, 1) });
  const moved = (from: number, to: number) =>
    wireOf({ ...plan, instructions: plan.instructions.toSpliced(from, 1).toSpliced(to, 0, plan.instructions[from]!) });
  const transfer = (to: Address, lamports: bigint): Instruction => {
    const data = new Uint8Array(12);
    data[0] = 2;
    writeU64(data, 4, lamports);
    return { program: SYSTEM_PROGRAM, accounts: [writableSigner(wallet), writable(to)], data };
  };
  const routeWith = (at: number, change: object) => ({
    answer: { route: route.map((leg, index) => (index === at ? { ...leg, ...change } : leg)) },
  });
  const lie = (name: string, legs: typeof route, stopped: RegExp): SplitAttack => ({
    name,
    answer: { route: legs, platform: legs.map(({ venue }) => venue).join("+") },
    stopped,
  });
  const raw = (text: string, factor: bigint) => (BigInt(text) * factor).toString();
  const shift = one.mostIn / 10n;

  const shares: SplitAttack[] = [
    {
      name: "a tenth of the first path's input moves to the other",
      wire: replaced(
        [one, bounded(one, { mostIn: one.mostIn - shift })],
        [next, bounded(next, { mostIn: next.mostIn + shift })],
      ),
      stopped: /announced|guarantee only|up to/,
    },
    {
      name: "a base unit moves from one path to the other",
      wire: replaced(
        [one, bounded(one, { mostIn: one.mostIn - 1n })],
        [next, bounded(next, { mostIn: next.mostIn + 1n })],
      ),
      stopped: /announced|guarantee only|up to/,
    },
    {
      name: "the first path takes the whole input",
      wire: replaced([one, bounded(one, { mostIn: one.mostIn + next.mostIn })], [next, bounded(next, { mostIn: 0n })]),
      stopped: /announced|up to/,
    },
    {
      name: "both paths take the whole input",
      wire: replaced(
        [one, bounded(one, { mostIn: BigInt(estimates.inputAmountRaw) })],
        [next, bounded(next, { mostIn: BigInt(estimates.inputAmountRaw) })],
      ),
      stopped: /announced|up to/,
    },
    {
      name: "one path takes ten times its share",
      wire: replaced([one, bounded(one, { mostIn: one.mostIn * 10n })]),
      stopped: /announced|together/,
    },
    {
      name: "one path takes all that 64 bits hold",
      wire: replaced([one, bounded(one, { mostIn: 2n ** 64n - 1n })]),
      stopped: /announced|together/,
    },
    {
      name: "the inputs of the paths overflow 64 bits together",
      wire: replaced(
        [one, bounded(one, { mostIn: 2n ** 63n })],
        [next, bounded(next, { mostIn: 2n ** 63n + one.mostIn })],
      ),
      stopped: /announced|together/,
    },
    {
      name: "one path takes nothing",
      wire: replaced([one, bounded(one, { mostIn: 0n })]),
      stopped: /announced|together/,
    },
    {
      name: "the input is moved in answer and bytes, the estimate is not",
      ...routeWith(0, { inputAmountRaw: raw(route[0]!.inputAmountRaw, 2n) }),
      wire: replaced([one, bounded(one, { mostIn: one.mostIn * 2n })]),
      stopped: /amounts of the response's route/,
    },
  ];
  const outs = swaps.filter((swap) =>
    route.some((leg) => leg.outputMint === order.outputMint && marketOf(plan, swap, leg.market)),
  );
  const [outOne, outTwo] = outs as [Swap, Swap];
  const bounds: SplitAttack[] = [
    {
      name: "no path has a minimum",
      wire: replaced(...outs.map((swap) => [swap, bounded(swap, { leastOut: 0n })] as const)),
      stopped: /together/,
    },
    {
      name: "one path has no minimum",
      wire: replaced([outOne, bounded(outOne, { leastOut: 0n })]),
      stopped: /together/,
    },
    {
      name: "the last path has no minimum",
      wire: replaced([last, bounded(last, { leastOut: 0n })]),
      stopped: /together|guarantee/,
    },
    {
      name: "a path's minimum is a few units lower",
      wire: replaced([outOne, bounded(outOne, { leastOut: outOne.leastOut - BigInt(swaps.length) })]),
      stopped: /together/,
    },
    {
      name: "one path's minimum moves to the other: the total looks right, and no market can meet it",
      wire: replaced(
        [outOne, bounded(outOne, { leastOut: 0n })],
        [outTwo, bounded(outTwo, { leastOut: outOne.leastOut + outTwo.leastOut })],
      ),
      stopped: /announced/,
    },
    {
      name: "both minimums together exceed 64 bits",
      wire: replaced([outOne, bounded(outOne, { leastOut: 2n ** 64n - 1n })]),
      stopped: /announced/,
    },
    {
      name: "the estimate is tiny, so that no path needs a minimum",
      answer: { estimates: { ...estimates, outputAmountRaw: "2", outputAmount: 2e-9 } },
      stopped: /amounts of the response's route|which is another amount|ordered/,
    },
  ];
  const destination = accountOf(outOne, "destination");
  const strangers = tokenAccountAddress(STRANGER, Address.of(answer.outputMint), TOKEN_PROGRAM);
  const accounts: SplitAttack[] = [
    {
      name: "one path pays a stranger's account",
      wire: replaced([outOne, withAccount(outOne, "destination", strangers)]),
      stopped: /output mint/,
    },
    {
      name: "the last path pays a stranger's account",
      wire: replaced([last, withAccount(last, "destination", strangers)]),
      stopped: /output mint/,
    },
    {
      name: "one path spends from a stranger's account",
      wire: replaced([one, withAccount(one, "source", strangers)]),
      stopped: /input mint/,
    },
    {
      name: "the other path spends from where the output arrives",
      wire: replaced([next, withAccount(next, "source", destination)]),
      stopped: /input mint/,
    },
    {
      name: "one path pays into the account it spends from",
      wire: replaced([outOne, withAccount(outOne, "destination", accountOf(one, "source"))]),
      stopped: /output mint/,
    },
    {
      name: "one path trades on a market nobody announced",
      wire: replaced([one, withAccount(one, "market", STRANGER)]),
      stopped: /announced market|not derived/,
    },
    {
      name: "both paths trade on one market",
      wire: replaced([next, plan.instructions[one.at]!]),
      stopped: /more swaps|announced|not the wallet|neither mint|up to|guarantee/,
    },
    {
      name: "another wallet signs one path",
      wire: replaced([one, withAccount(one, "wallet", STRANGER)]),
      stopped: /not the wallet/,
    },
  ];
  const order_: SplitAttack[] = [
    { name: "a path is left out", wire: without(outOne.at), stopped: /contains \d swaps, but the route has/ },
    {
      name: "a path is left out of answer and bytes, at its full estimate",
      wire: without(last.at),
      answer: { route: route.filter(({ path }) => path === 0), platform: route[0]!.venue },
      stopped: /amounts of the response's route|does not lead/,
    },
    {
      name: "a path runs twice",
      wire: inserted(one.at, plan.instructions[one.at]!),
      stopped: /more swaps|announced|neither|account|up to/,
    },
    {
      name: "a third path nobody announced",
      wire: inserted(last.at + 1, bounded(last, { mostIn: 1n })),
      stopped: /more swaps/,
    },
    // Before a swap for lamports it is closed already.
    ...(closeOf(plan) < next.at
      ? []
      : [
          {
            name: "the temporary account is closed between two paths",
            wire: moved(closeOf(plan), next.at),
            stopped: /not open when the swap runs|before the swap|no route|closes an account|leaves/,
          },
        ]),
    {
      name: "the temporary account is opened for a second path again",
      wire: inserted(next.at, ...plan.instructions.slice(openOf(plan), openOf(plan) + 1)),
      stopped: /only once|second wrapped-SOL/,
    },
    {
      name: "more SOL is wrapped between two paths",
      wire: inserted(next.at, transfer(accountOf(one, "source"), 10n ** 9n)),
      stopped: /transfers 1 SOL/,
    },
    {
      name: "SOL to a stranger between two paths",
      wire: inserted(next.at, transfer(STRANGER, 10n ** 9n)),
      stopped: /transfers 1 SOL/,
    },
  ];
  const first = route[0]!;
  const second = route.at(-1)!;
  const routes: SplitAttack[] = [
    lie(
      "paths out of order",
      route.map((leg) => ({ ...leg, path: 1 - (leg.path ?? 0) })),
      /paths in order/,
    ),
    lie(
      "a path before the first",
      route.map((leg) => ({ ...leg, path: (leg.path ?? 0) - 1 })),
      /paths in order/,
    ),
    lie(
      "half a path",
      route.map((leg) => ({ ...leg, path: (leg.path ?? 0) / 2 })),
      /paths in order/,
    ),
    lie(
      "a path number is left out",
      route.map((leg) => ({ ...leg, path: (leg.path ?? 0) * 2 })),
      /paths in order/,
    ),
    lie(
      "five paths",
      [...Array(5).keys()].map((path) => ({ ...first, path })),
      /paths|two ways|amounts/,
    ),
    lie(
      "a path of four markets",
      [first, ...[...Array(4).keys()].map(() => ({ ...second, path: 1 }))],
      /in a row|does not lead/,
    ),
    lie(
      "a path ends at another mint",
      route.map((leg, at) => (at === route.length - 1 ? { ...leg, outputMint: STRANGER.toString() } : leg)),
      /does not lead/,
    ),
    lie(
      "a path begins at another mint",
      route.map((leg) => (leg.path === 1 ? { ...leg, inputMint: STRANGER.toString() } : leg)),
      /does not lead/,
    ),
    lie(
      "a path through a mint that nobody allowed",
      [
        first,
        { ...second, path: 1, inputMint: first.inputMint, outputMint: STRANGER.toString() },
        { ...second, path: 1, inputMint: STRANGER.toString() },
      ],
      /two ways/,
    ),
    lie(
      "a path that passes the output mint",
      [
        first,
        { ...second, path: 1, inputMint: first.inputMint, outputMint: first.outputMint },
        { ...second, path: 1, inputMint: first.outputMint },
      ],
      /middleMints|does not lead|two ways/,
    ),
    lie(
      "a path that returns to the input mint",
      [
        first,
        { ...second, path: 1, inputMint: first.inputMint, outputMint: first.inputMint },
        { ...second, path: 1, inputMint: first.inputMint },
      ],
      /middleMints|two ways/,
    ),
    lie(
      "one market in both directions",
      [
        first,
        { ...first, path: 1, inputMint: first.inputMint, outputMint: USDC_MINT.toString() },
        { ...first, path: 1, inputMint: USDC_MINT.toString() },
      ],
      /two ways/,
    ),
    lie(
      "the announced shares are swapped",
      route.map((leg, at) => (at === 0 ? { ...leg, inputAmountRaw: second.inputAmountRaw } : leg)),
      /amounts of the response's route/,
    ),
    lie(
      "a path keeps half of what it yields",
      route.map((leg, at) => (at === 0 ? { ...leg, outputAmountRaw: raw(leg.outputAmountRaw, 2n) } : leg)),
      /amounts of the response's route/,
    ),
  ];
  const kept: SplitAttack[] = swaps.length < 3 ? [] : middleAttacks();

  /** Of a path over two markets: what passes between them. */
  function middleAttacks(): SplitAttack[] {
    const [feeding, fed] = [swaps.at(-2)!, swaps.at(-1)!];
    return [
      {
        name: "the second market of a path takes more than the first yields",
        wire: replaced([fed, bounded(fed, { mostIn: feeding.leastOut + 1n })]),
        stopped: /guarantee only/,
      },
      {
        name: "the second market of a path takes all that the wallet holds",
        wire: replaced([fed, bounded(fed, { mostIn: 2n ** 63n })]),
        stopped: /guarantee only/,
      },
      {
        name: "the first market of a path guarantees nothing",
        wire: replaced([feeding, bounded(feeding, { leastOut: 0n })]),
        stopped: /guarantee only/,
      },
      { name: "a path's markets run in the wrong order", wire: moved(fed.at, feeding.at), stopped: /guarantee only/ },
      {
        name: "what passes between two markets goes to a stranger",
        wire: replaced([
          feeding,
          withAccount(feeding, "destination", tokenAccountAddress(STRANGER, USDC_MINT, TOKEN_PROGRAM)),
        ]),
        stopped: /output mint/,
      },
      {
        name: "the second market is paid from a stranger's account",
        wire: replaced([fed, withAccount(fed, "source", tokenAccountAddress(STRANGER, USDC_MINT, TOKEN_PROGRAM))]),
        stopped: /input mint/,
      },
      {
        name: "the remainder between two markets stays with the service's route",
        ...routeWith(route.length - 1, { inputAmountRaw: raw(second.inputAmountRaw, 3n) }),
        stopped: /amounts of the response's route/,
      },
      {
        name: "the shares of two paths are exchanged",
        wire: replaced(
          [one, bounded(one, { mostIn: feeding.mostIn })],
          [feeding, bounded(feeding, { mostIn: one.mostIn })],
        ),
        stopped: /guarantee|announced|more swaps|market/,
      },
    ];
  }
  return [
    ...shares.filter(({ name }) => isExactIn || !/^a (tenth|base unit)/.test(name)),
    ...bounds,
    ...accounts,
    ...order_,
    ...routes,
    ...kept,
  ];
}

function swapsOf(plan: Plan): Swap[] {
  return plan.instructions.flatMap((instruction, at) => {
    const table = findSwapTable(instruction as never);
    return table === undefined ? [] : [{ at, table, ...swapBounds(table, instruction.data) }];
  });
}

function marketOf(plan: Plan, { at }: Swap, market: string): boolean {
  return plan.instructions[at]!.accounts.some(({ address }) => address.toString() === market);
}

const openOf = ({ instructions }: Plan): number =>
  instructions.findIndex(({ program, data }) => program === SYSTEM_PROGRAM && data[0] === 3);
const closeOf = ({ instructions }: Plan): number =>
  instructions.findLastIndex(({ program, data }) => program === TOKEN_PROGRAM && data[0] === 9);
