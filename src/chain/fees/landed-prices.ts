import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import { maxOf, minOf } from "../../primitives/integer.ts";
import { accountsOf } from "../../solana/message/message-accounts.ts";
import { writtenBy } from "../../solana/message/message-writes.ts";
import { wireLayout } from "../../solana/message.ts";
import type { LandedPrice, LandedPriceReader } from "../port.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asInteger, asList, asRecord } from "../rpc/rpc-values.ts";
import { ownPriceOf } from "./own-price.ts";

interface LandedPricesOptions {
  readonly pool: Pick<RpcPool, "endpoints" | "ask">;
  readonly now: Now;
}

const METHOD = "getRecentPrioritizationFees";
const WHAT = "priority fees";
const TIMEOUT_MS = 2_000;
/** Nodes asked per read, so that another contradicts a node that invents prices. */
const NODES = 2;
/** The most that nodes take per call. */
const MAX_ACCOUNTS = 128;
/** Over all transactions. Each takes two calls per node asked. */
const READS_PER_SECOND = 2;
/** Reads allowed at once after an idle time. */
const BURST = 8;

/** Reads landed prices from two nodes, within a budget of its own: it must not take calls from trades in flight. */
export function createLandedPrices({ pool, now }: LandedPricesOptions): LandedPriceReader {
  let turns = BURST;
  let countedAtMs = now();
  const takeTurn = () => {
    const atMs = now();
    turns = Math.min(BURST, turns + (Math.max(0, atMs - countedAtMs) * READS_PER_SECOND) / 1_000);
    countedAtMs = atMs;
    if (turns < 1) return false;
    turns -= 1;
    return true;
  };
  return {
    async read(transaction, markets) {
      const nodes = pool.endpoints.filter((node) => !(node.isAside() || node.isCooling())).slice(0, NODES);
      if (nodes.length === 0 || !takeTurn()) return undefined;
      try {
        const bid = ownPriceOf(transaction);
        const accounts = [...new Set([...markets, ...writtenAccounts(transaction)])].slice(0, MAX_ACCOUNTS);
        const settled = await Promise.allSettled(nodes.map((node) => pricesAt(pool, node, accounts)));
        const lists = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
        return lists.length === 0 ? undefined : { bid, nodes: lists.length, slots: lowestOf(lists) };
      } catch {
        return undefined;
      }
    },
  };
}

/** The accounts named in the message that it writes to, without its payer. */
function writtenAccounts(transaction: Uint8Array): readonly Address[] {
  const { message } = wireLayout(transaction);
  return writtenBy(message, accountsOf(message)).slice(1);
}

type PriceList = ReadonlyMap<bigint, LandedPrice>;

/** The prices that one node lists. @throws NodeError */
async function pricesAt(
  pool: Pick<RpcPool, "ask">,
  node: RpcEndpoint,
  accounts: readonly Address[],
): Promise<PriceList> {
  const ask = async (addresses: readonly Address[]) =>
    decodePrices(await pool.ask(node, METHOD, [addresses.map(String)], TIMEOUT_MS));
  const [chain, written] = await Promise.all([ask([]), ask(accounts)]);
  const prices = new Map<bigint, LandedPrice>();
  for (const [slot, price] of written) {
    const least = chain.get(slot) ?? 0n;
    prices.set(slot, { slot, chain: least, accounts: maxOf(price, least) });
  }
  return prices;
}

function decodePrices(result: unknown): ReadonlyMap<bigint, bigint> {
  return new Map(
    asList(result, WHAT).map((entry) => {
      const { slot, prioritizationFee } = asRecord(entry, WHAT);
      return [asInteger(slot, WHAT), asInteger(prioritizationFee, WHAT)] as const;
    }),
  );
}

/** The slots that every node lists, each at the lowest of their prices. */
function lowestOf([first, ...others]: readonly PriceList[]): readonly LandedPrice[] {
  const lowest: LandedPrice[] = [];
  for (const price of first!.values()) {
    const same = others.map((prices) => prices.get(price.slot));
    if (same.some((other) => other === undefined)) continue;
    lowest.push(
      same.reduce<LandedPrice>(
        (least, other) => ({
          slot: least.slot,
          chain: minOf(least.chain, other!.chain),
          accounts: minOf(least.accounts, other!.accounts),
        }),
        price,
      ),
    );
  }
  return lowest;
}
