import { describe, it } from "vitest";
import { TradeError } from "../../../src/client/trade-error.ts";
import type { Tradewire } from "../../../src/client/tradewire.ts";
import { eventually } from "../../support/eventually.ts";
import { type MutationPlan, Mutator, OUTCOME_METHODS } from "../faults/mutation.ts";
import { startRpcProxy } from "../faults/rpc-proxy.ts";
import { codeOf, settleJudged, signBounded, submitJudged, UNDECIDED } from "./judged-trade.ts";
import { report } from "./table.ts";
import { findValidator } from "./validator.ts";
import { ValidatorBench } from "./validator-service.ts";
import { type PlannedTrade, tokenPerVenue, tokenTrades } from "./world-trades.ts";

const PART = "lies (row 41)";
const SEED = Number(process.env.SEED ?? 1);
const SHARE = 0.3;
/** Longest that a submit repeats while one node lies; what is undecided then is judged after the lies. Milliseconds. */
const PATIENCE_MS = 20_000;
/** Of each token. */
const TRADES = 3;

describe.skipIf(findValidator() === undefined)("one validator behind several nodes, one of which lies", () => {
  const cases = [
    { nodes: 2, methods: OUTCOME_METHODS, about: "outcomes" },
    { nodes: 3, methods: "all", about: "everything" },
  ] as const;
  for (const { nodes, methods, about } of cases)
    it(`one of ${nodes} lies about ${about}: no answer contradicts the ledger`, async () => {
      const bench = await ValidatorBench.start();
      const proxies = await Promise.all(Array.from({ length: nodes }, () => startRpcProxy(bench.validator)));
      try {
        const service = await bench.startService({
          SOLANA_RPC_URL: proxies.map(({ url }) => url).join(","),
          SOLANA_WS_URL: proxies.map(({ wsUrl }) => wsUrl).join(","),
          SUBMIT_TIMEOUT_MS: "3000",
        });
        // Each trade from a wallet of its own: one that lands late changes no other's balances.
        const workers = await Promise.all(
          tokenPerVenue(bench.made.world).map(async (token) => {
            const clients = await Promise.all(Array.from({ length: TRADES }, () => bench.newClient(service)));
            return { trade: tokenTrades(token)[0]!, clients };
          }),
        );
        const plan: MutationPlan = { seed: SEED, share: SHARE, methods };
        const mutator = new Mutator(plan);
        await proxies[SEED % nodes]!.set({ mutator });
        const judged = await Promise.all(workers.map(({ trade, clients }) => underLies(bench, trade, clients)));
        for (const proxy of proxies) await proxy.heal();
        const undecided = judged.flatMap((worker) => worker.undecided);
        const settled = await Promise.all(undecided.map((settle) => settle()));
        const faults = [...judged.flatMap((worker) => worker.faults), ...settled.flat()];
        if (mutator.changed === 0) faults.push("nothing was changed");
        const count = workers.length * TRADES;
        const codes = [...new Set(judged.flatMap((worker) => worker.codes))].join(", ");
        const late = `${undecided.length} undecided until the lies ended${codes === "" ? "" : ` (${codes})`}`;
        const measured = `${count} trades, ${late}; ${mutator.changed} answers changed, seed ${SEED}`;
        report(PART, `one of ${nodes} lies about ${about}`, measured, faults);
      } finally {
        await Promise.all(proxies.map((proxy) => proxy.close()));
        await bench.close();
      }
    });
});

interface Judged {
  readonly faults: readonly string[];
  /** Trades whose end was not known in time: each is asked for again, and judged. */
  readonly undecided: readonly (() => Promise<readonly string[]>)[];
  /** What the answers to those were. */
  readonly codes: readonly string[];
}

async function underLies(
  bench: ValidatorBench,
  { what, build }: PlannedTrade,
  clients: readonly Tradewire[],
): Promise<Judged> {
  const faults: string[] = [];
  const undecided: (() => Promise<readonly string[]>)[] = [];
  const codes: string[] = [];
  for (const client of clients) {
    // The node's lies may have a build refused, or the client refuse to sign it: neither costs anything.
    const { built, signed } = await eventually(async () => {
      const built = await build(client);
      return { built, signed: await signBounded(client, built) };
    });
    const submit = (patienceMs: number) => submitJudged(bench.ledger, client, what, built, signed, { patienceMs });
    try {
      faults.push(...(await submit(PATIENCE_MS)).faults);
    } catch (error) {
      const code = await codeOf(Promise.reject(error));
      const isUndecided = code === UNDECIDED || (error instanceof TradeError && error.retryable);
      if (!isUndecided) faults.push(...(await settleJudged(bench.ledger, built, signed, code)));
      else {
        codes.push(code);
        undecided.push(async () =>
          settleJudged(bench.ledger, built, signed, await codeOf(client.submit(built.submissionToken, signed))),
        );
      }
    }
  }
  return { faults, undecided, codes };
}
