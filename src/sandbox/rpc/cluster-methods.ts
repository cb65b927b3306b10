import type { Address } from "../../primitives/address.ts";
import { SLOTS_PER_EPOCH } from "../chain/bank.ts";
import type { Chain } from "../chain/chain.ts";
import type { Block, Commitment, LandedTransaction } from "../chain/ledger.ts";
import { encodeTransaction, parseTransactionFormat } from "./encode-transaction.ts";
import type { Method } from "./method.ts";
import { parseAddressParams, parseCommitment, parseContext, parseOptionalInteger } from "./params.ts";
import { invalidParams, RPC_ERROR, RpcError } from "./rpc-error.ts";

/** Blocks that priority fees are answered for. */
const FEE_BLOCKS = 150;
const MAX_FEE_ACCOUNTS = 128;
const MAX_BLOCK_RANGE = 500_000;
const SAMPLE_SECONDS = 60;
const LEAST_SAMPLE_SECONDS = 10;
const MAX_SAMPLES = 720;

/** Methods about the chain itself: slots, blocks, blockhashes, fees. */
export const CLUSTER_METHODS: Readonly<Record<string, Method>> = {
  getHealth: () => "ok",
  getVersion: () => ({ "solana-core": "4.2.0", "feature-set": 0 }),
  getGenesisHash: ({ chain }) => chain.genesisHash,
  getIdentity: ({ identity }) => ({ identity: identity.toString() }),

  getSlot: ({ chain }, params) => chain.ledger.slot(parseContext(chain, params.parseConfig(0))),
  getBlockHeight: ({ chain }, params) => chain.ledger.block(parseContext(chain, params.parseConfig(0))).height,
  getFirstAvailableBlock: ({ chain }) => chain.ledger.oldestSlot,
  minimumLedgerSlot: ({ chain }) => chain.ledger.oldestSlot,

  getEpochInfo: ({ chain }, params) => {
    const block = chain.ledger.block(parseContext(chain, params.parseConfig(0)));
    return {
      absoluteSlot: block.slot,
      blockHeight: block.height,
      epoch: Math.floor(block.slot / SLOTS_PER_EPOCH),
      slotIndex: block.slot % SLOTS_PER_EPOCH,
      slotsInEpoch: SLOTS_PER_EPOCH,
      transactionCount: chain.transactionCount,
    };
  },
  getEpochSchedule: () => ({
    slotsPerEpoch: SLOTS_PER_EPOCH,
    leaderScheduleSlotOffset: SLOTS_PER_EPOCH,
    warmup: false,
    firstNormalEpoch: 0,
    firstNormalSlot: 0,
  }),
  getTransactionCount: ({ chain }, params) => {
    parseContext(chain, params.parseConfig(0));
    return chain.transactionCount;
  },

  getBlockTime: ({ chain }, params) => findBlock(chain, params.parseInteger(0, "slot"), "processed").unixTimestamp,
  getBlocks: ({ chain }, params) => {
    const isConfigSecond = typeof params.at(1) === "object" && params.at(1) !== null;
    const commitment = parseBlockCommitment(params.parseConfig(isConfigSecond ? 1 : 2).commitment);
    const newest = chain.ledger.slot(commitment);
    const first = params.parseInteger(0, "start slot");
    const last = isConfigSecond ? undefined : parseOptionalInteger(params.at(1), "end slot");
    return listSlots(chain, first, Math.min(newest, last ?? newest));
  },
  getBlocksWithLimit: ({ chain }, params) => {
    const newest = chain.ledger.slot(parseBlockCommitment(params.parseConfig(2).commitment));
    const first = params.parseInteger(0, "start slot");
    return listSlots(chain, first, Math.min(newest, first + params.parseInteger(1, "limit") - 1));
  },
  getBlock: ({ chain }, params) => {
    const value = params.at(1);
    const config = typeof value === "string" ? { encoding: value } : params.parseConfig(1);
    const block = findBlock(chain, params.parseInteger(0, "slot"), parseBlockCommitment(config.commitment));
    return {
      blockhash: block.blockhash,
      previousBlockhash: block.previousBlockhash,
      parentSlot: block.parentSlot,
      blockTime: block.unixTimestamp,
      blockHeight: block.height,
      ...encodeTransactions(block, config.transactionDetails ?? "full", config),
      ...(config.rewards === false ? {} : { rewards: [] }),
    };
  },

  getLatestBlockhash: ({ chain }, params) => {
    const commitment = parseContext(chain, params.parseConfig(0));
    return { context: { slot: chain.ledger.slot(commitment) }, value: chain.ledger.latestBlockhash(commitment) };
  },
  isBlockhashValid: ({ chain }, params) => {
    const commitment = parseContext(chain, params.parseConfig(1));
    const valid = chain.ledger.isBlockhashValid(params.parseText(0, "blockhash"), commitment);
    return { context: { slot: chain.ledger.slot(commitment) }, value: valid };
  },

  getRecentPrioritizationFees: ({ chain }, params) => {
    const accounts = params.at(0) === undefined ? [] : parseAddressParams(params.at(0), MAX_FEE_ACCOUNTS);
    const fees: { slot: number; prioritizationFee: bigint }[] = [];
    for (const block of chain.ledger.backwards("processed")) {
      // As on a node: a slot without a paid transaction is not listed, however long ago the listed ones were.
      if (!block.transactions.some(({ unitPriceMicroLamports }) => unitPriceMicroLamports > 0n)) continue;
      fees.push({ slot: block.slot, prioritizationFee: leastFee(block, accounts) });
      if (fees.length === FEE_BLOCKS) break;
    }
    return fees.reverse();
  },
  getRecentPerformanceSamples: ({ chain, slotMs }, params) => {
    const limit = parseOptionalInteger(params.at(0), "limit") ?? MAX_SAMPLES;
    if (limit > MAX_SAMPLES) throw invalidParams(`Invalid limit; max ${MAX_SAMPLES}`);
    return samplePerformance(chain, limit, slotMs);
  },
  getSupply: ({ chain }, params) => {
    const commitment = parseContext(chain, params.parseConfig(0));
    const total = chain.totalLamports;
    return {
      context: { slot: chain.ledger.slot(commitment) },
      value: { total, circulating: total, nonCirculating: 0, nonCirculatingAccounts: [] },
    };
  },
};

/** Blocks are served once they are confirmed. */
function parseBlockCommitment(value: unknown): Commitment {
  const commitment = parseCommitment(value);
  if (commitment === "processed") throw invalidParams("Method does not support commitment below `confirmed`");
  return commitment;
}

function findBlock(chain: Chain, slot: number, commitment: Commitment): Block {
  if (slot > chain.ledger.slot(commitment)) {
    throw new RpcError(RPC_ERROR.blockNotAvailable, `Block not available for slot ${slot}`);
  }
  const block = chain.ledger.blockAt(slot);
  if (block !== undefined) return block;
  throw new RpcError(
    RPC_ERROR.slotSkipped,
    `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`,
  );
}

function listSlots(chain: Chain, first: number, last: number): number[] {
  if (last - first > MAX_BLOCK_RANGE) throw invalidParams(`Slot range too large; max ${MAX_BLOCK_RANGE}`);
  const slots: number[] = [];
  for (let slot = Math.max(first, chain.ledger.oldestSlot); slot <= last; slot++) {
    if (chain.ledger.blockAt(slot) !== undefined) slots.push(slot);
  }
  return slots;
}

function encodeTransactions(block: Block, details: unknown, config: Readonly<Record<string, unknown>>) {
  switch (details) {
    case "none":
      return {};
    case "signatures":
      return { signatures: block.transactions.map(({ signature }) => signature) };
    case "full":
    case "accounts": {
      const format = parseTransactionFormat(config);
      const transactions = block.transactions.map((landed) => encodeTransaction(landed, format));
      if (details === "full") return { transactions };
      const parsed = { ...format, encoding: "jsonParsed" as const };
      return {
        transactions: block.transactions.map((landed) => {
          const { transaction, ...rest } = encodeTransaction(landed, parsed);
          const { signatures, message } = transaction as { signatures: unknown; message: { accountKeys: unknown } };
          return { ...rest, transaction: { signatures, accountKeys: message.accountKeys } };
        }),
      };
    }
    default:
      throw invalidParams("Invalid params: unknown transactionDetails");
  }
}

/**
 * The least price per compute unit that got a transaction into the block; for accounts, what writing to the dearest of them cost
 * at least, if that is more.
 *
 * @see agave prioritization_fee_cache.rs `get_prioritization_fees`
 */
function leastFee(block: Block, accounts: readonly Address[]): bigint {
  let fee = leastOf(block.transactions);
  for (const address of accounts) {
    const price = leastOf(block.transactions.filter(({ writable }) => writable.has(address)));
    if (price > fee) fee = price;
  }
  return fee;
}

function leastOf(transactions: readonly LandedTransaction[]): bigint {
  let least: bigint | undefined;
  for (const { unitPriceMicroLamports: price } of transactions) if (least === undefined || price < least) least = price;
  return least ?? 0n;
}

/** @param slotMs the time that each slot is given; undefined while time stands still */
function samplePerformance({ ledger }: Chain, limit: number, slotMs: number | undefined) {
  const samples: Record<string, number>[] = [];
  let newest: Block | undefined;
  let transactions = 0;
  let oldest: Block | undefined;
  for (const block of ledger.backwards("processed")) {
    newest ??= block;
    oldest = block;
    if (newest.openedAtMs - block.openedAtMs >= SAMPLE_SECONDS * 1000) {
      samples.push(createSample(newest, block, transactions));
      if (samples.length === limit) return samples;
      newest = block;
      transactions = 0;
    }
    transactions += block.transactions.length;
  }
  // A young chain has no full minute yet. What it is timed by gives its pace as well, or else a few seconds do.
  if (samples.length === 0 && limit > 0 && newest !== undefined && oldest !== undefined) {
    const measured = createSample(newest, oldest, transactions);
    if (slotMs !== undefined && slotMs <= SAMPLE_SECONDS * 1000) {
      const numSlots = Math.round((SAMPLE_SECONDS * 1000) / slotMs);
      samples.push({ ...measured, numSlots, samplePeriodSecs: SAMPLE_SECONDS });
    } else if (measured.samplePeriodSecs >= LEAST_SAMPLE_SECONDS) samples.push(measured);
  }
  return samples;
}

function createSample(newest: Block, oldest: Block, transactions: number) {
  return {
    slot: newest.slot,
    numTransactions: transactions,
    numNonVoteTransactions: transactions,
    numSlots: newest.slot - oldest.slot,
    samplePeriodSecs: Math.round((newest.openedAtMs - oldest.openedAtMs) / 1000),
  };
}
