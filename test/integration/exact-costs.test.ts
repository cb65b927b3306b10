import { afterAll, beforeAll, expect, test } from "vitest";
import type { Tradewire } from "../../src/client/tradewire.ts";
import { Address } from "../../src/primitives/address.ts";
import { createRandom } from "../../src/primitives/random.ts";
import type { WorldToken } from "../../src/sandbox/world/tokens/token.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { startFakeRelay } from "../support/fake-relay.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { isWhole } from "../support/whole.ts";
import { lookupTablesOf } from "../support/world.ts";

/**
 * What a build says it costs is what the chain takes: fee, tip and rent, first trade of a wallet included. The fast tests take one
 * market of each kind; `npm run slow:exhaustive` takes every market.
 */
let service: TestService;
let relay: Awaited<ReturnType<typeof startFakeRelay>>;
const TIP = 123_457;
const tipAccount = Address.from(createRandom(77).bytes(32)).toString();

beforeAll(async () => {
  relay = await startFakeRelay();
  service = await startTestService({
    BUILD_PER_SECOND: "1000",
    SUBMIT_PER_SECOND: "1000",
    ADDRESS_OPEN_PER_SECOND: "1000",
    RELAYS: JSON.stringify([{ name: "relay", url: relay.url, tipAccounts: [tipAccount], levels: { faster: TIP } }]),
  });
  await service.rpc("requestAirdrop", [tipAccount, 1_000_000_000]);
});
afterAll(async () => {
  await service?.close();
  await relay?.close();
});

interface ChainRecord {
  readonly meta: { readonly fee: number; readonly preBalances: number[]; readonly postBalances: number[] };
  readonly transaction: { readonly message: { readonly accountKeys: string[] } };
}

type Built = Awaited<ReturnType<Tradewire["buildBuy"] | Tradewire["buildSell"]>>;

/** Everything the record says of lamports, against everything the build said. */
async function problemsOf(what: string, wallet: Tradewire, built: Built): Promise<string[]> {
  const trade = await wallet.submit(
    built.submissionToken,
    await wallet.sign(built, { tipAccounts: "any", maxInputRaw: `${10n ** 18n}` }),
  );
  const { meta, transaction } = await service.rpc<ChainRecord>("getTransaction", [
    trade.signature,
    { encoding: "json", commitment: "confirmed", maxSupportedTransactionVersion: 0 },
  ]);
  const { accountKeys } = transaction.message;
  const changeOf = (address: string): number => {
    const at = accountKeys.indexOf(address);
    return at < 0 ? 0 : meta.postBalances[at]! - meta.preBalances[at]!;
  };
  const said = numbersOf(built.costs!);
  const { inputAmountRaw, outputAmountRaw } = built.estimates!;
  const isSale = built.outputMint === SOL_MINT.toString();
  const traded = isSale ? Number(outputAmountRaw) : -Number(inputAmountRaw);
  const { baseFee, priorityFee, tip, rentPaid, rentReturned } = said;
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ["costs of build and submit", said, numbersOf(trade.costs!)],
    ["input", inputAmountRaw, trade.tradeResult!.inputAmountRaw],
    ["output", outputAmountRaw, trade.tradeResult!.outputAmountRaw],
    ["fee", baseFee + priorityFee, meta.fee],
    ["tip", tip, changeOf(tipAccount)],
    [
      "lamports of the wallet",
      traded - baseFee - priorityFee - tip - rentPaid + rentReturned,
      changeOf(wallet.wallet.publicKey.toString()),
    ],
  ];
  return pairs.flatMap(([name, estimated, onChain]) =>
    JSON.stringify(estimated) === JSON.stringify(onChain)
      ? []
      : [`${what}: ${name}: said ${JSON.stringify(estimated)}, was ${JSON.stringify(onChain)}`],
  );
}

const KINDS = ["baseFee", "priorityFee", "tip", "rentPaid", "rentReturned"] as const;
type Lamports = Record<(typeof KINDS)[number], number>;

function numbersOf(costs: { readonly [kind in (typeof KINDS)[number]]: string | bigint }): Lamports {
  return Object.fromEntries(KINDS.map((kind) => [kind, Number(costs[kind])])) as Lamports;
}

/** What decides the accounts of a trade: the venue, the quote, and the program and fee of the token. */
const kindOf = ({ venue, quoteMint, program, transferFeeBps }: WorldToken) =>
  `${venue} ${quoteMint} ${program} ${transferFeeBps > 0}`;

/** Every market, or the first of each kind. */
function marketsIn(tokens: readonly WorldToken[]): readonly WorldToken[] {
  if (isWhole) return tokens;
  return [...new Map(tokens.toReversed().map((token) => [kindOf(token), token])).values()];
}

test("on each kind of market of the embedded chain, from a wallet's first trade to closing its account", async () => {
  const problems: string[] = [];
  let rentPaid = 0;
  let rentReturned = 0;
  const { world } = service.sandbox;
  const lookupTables = lookupTablesOf(world);
  for (const { mint, symbol, venue } of marketsIn(world.tokens)) {
    const wallet = await service.newClient(10, { lookupTables });
    const order = { mint: mint.toString(), slippage: 0.1, priority: "faster" } as const;
    const steps: readonly (readonly [string, () => Promise<Built>])[] = [
      ["first buy", () => wallet.buildBuy({ ...order, solAmount: 0.1 })],
      ["second buy", () => wallet.buildBuy({ ...order, solAmount: 0.05 })],
      ["sale of half", () => wallet.buildSell({ ...order, sellPercent: 50 })],
      ["sale of all", () => wallet.buildSell({ ...order, sellPercent: 100 })],
    ];
    for (const [step, build] of steps) {
      const built = await build();
      rentPaid += Number(built.costs!.rentPaid);
      rentReturned += Number(built.costs!.rentReturned);
      problems.push(...(await problemsOf(`${step} of ${symbol} on ${venue}`, wallet, built)));
    }
  }
  expect(problems).toEqual([]);
  expect(rentPaid).toBeGreaterThan(0);
  expect(rentReturned).toBeGreaterThan(0);
});

test("a build that does not know of an account opened meanwhile, as another machine's would not, lands and pays no rent", async () => {
  const wallet = await service.newClient();
  const order = { mint: service.mintOn("raydium_cpmm"), slippage: 0.05, priority: "fast" } as const;
  const first = await wallet.buildBuy({ ...order, solAmount: 0.1 });
  const second = await wallet.buildBuy({ ...order, solAmount: 0.2 });
  const rents = [first, second].map(({ costs }) => numbersOf(costs!).rentPaid);
  expect(rents[0]).toBeGreaterThan(0);
  expect(rents[1]).toBe(rents[0]);
  for (const built of [first, second]) {
    const bytes = await wallet.sign(built, { tipAccounts: "any", maxInputRaw: `${10n ** 18n}` });
    const trade = await wallet.submit(built.submissionToken, bytes);
    const { meta } = await service.rpc<ChainRecord>("getTransaction", [
      trade.signature,
      { encoding: "json", commitment: "confirmed", maxSupportedTransactionVersion: 0 },
    ]);
    const { baseFee, priorityFee, tip } = numbersOf(built.costs!);
    const rent = built === first ? rents[0]! : 0;
    const paid = Number(trade.tradeResult!.inputAmountRaw) + baseFee + priorityFee + tip + rent;
    expect(meta.preBalances[0]! - meta.postBalances[0]!).toBe(paid);
  }
  // Once the account is known, its rent is in no estimate.
  expect(numbersOf((await wallet.buildBuy({ ...order, solAmount: 0.1 })).costs!).rentPaid).toBe(0);
  wallet.close();
});
