import type { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import type { Chain } from "../chain/chain.ts";
import { goneAccount } from "../chain/gone-account.ts";
import type { Block, Commitment, LandedTransaction } from "../chain/ledger.ts";
import type { ChainListener, SlotAdvance } from "../chain/listener.ts";
import { parseAccountFilter } from "./account-filter.ts";
import { encodeAccount, parseAccountFormat } from "./encode-account.ts";
import { type Params, parseAddressParam, parseCommitment, parseSignature, type RpcConfig } from "./params.ts";
import { invalidParams } from "./rpc-error.ts";

/** Sends one notification's `result` to the subscriber. */
type Notify = (result: unknown) => void;

/** What a subscription listens for. */
interface Feed {
  readonly listener: ChainListener;
  /** Called once, after the subscriber knows the subscription's number. */
  readonly begin?: () => void;
}

/** Reads the parameters and prepares a feed. `finish` ends the subscription after its last notification. */
type OpenFeed = (chain: Chain, params: Params, notify: Notify, finish: () => void) => Feed;

const OPEN_FEEDS: Readonly<Record<string, OpenFeed>> = {
  account: (chain, params, notify) => {
    const address = params.parseAddressParam(0);
    const config = params.parseConfig(1);
    const format = parseAccountFormat(config);
    return {
      listener: followAccounts(chain, parseCommitment(config.commitment), (slot, account) => {
        if (account.address !== address) return;
        const value = encodeAccount(account, format, (mint) => chain.accountAtEndOf(slot, mint));
        notify({ context: { slot }, value });
      }),
    };
  },

  program: (chain, params, notify) => {
    const program = params.parseAddressParam(0);
    const config = params.parseConfig(1);
    const format = parseAccountFormat(config);
    const holds = parseAccountFilter(config.filters);
    return {
      listener: followAccounts(chain, parseCommitment(config.commitment), (slot, account) => {
        if (account.owner !== program || !holds(account)) return;
        const encoded = encodeAccount(account, format, (mint) => chain.accountAtEndOf(slot, mint));
        notify({ context: { slot }, value: { pubkey: account.address.toString(), account: encoded } });
      }),
    };
  },

  signature: (chain, params, notify, finish) => {
    const signature = parseSignature(params.at(0));
    const config = params.parseConfig(1);
    const commitment = parseCommitment(config.commitment);
    let isAnnounced = false;
    let isOver = false;
    const check = () => {
      const landed = chain.ledger.transaction(signature);
      if (landed === undefined || isOver) return;
      const context = { slot: landed.slot };
      if (config.enableReceivedNotification === true && !isAnnounced) {
        isAnnounced = true;
        notify({ context, value: "receivedSignature" });
      }
      if (landed.slot > chain.ledger.slot(commitment)) return;
      isOver = true;
      notify({ context, value: { err: landed.execution.error } });
      finish();
    };
    return {
      begin: check,
      listener: {
        landed: (landed) => {
          if (landed.signature === signature) check();
        },
        advanced: check,
      },
    };
  },

  logs: (_chain, params, notify) => {
    const mentioned = parseMentioned(params.at(0));
    const commitment = parseCommitment(params.parseConfig(1).commitment);
    return {
      listener: followTransactions(commitment, (landed) => {
        if (mentioned !== undefined && !landed.accounts.includes(mentioned)) return;
        const { error, logs } = landed.execution;
        notify({ context: { slot: landed.slot }, value: { signature: landed.signature, err: error, logs } });
      }),
    };
  },

  slot: (chain, _params, notify) => ({
    listener: {
      advanced: ({ opened }) =>
        notify({ slot: opened.slot, parent: opened.parentSlot, root: chain.ledger.slot("finalized") }),
    },
  }),

  root: (_chain, _params, notify) => ({
    listener: { advanced: ({ finalized }) => finalized.forEach((block) => void notify(block.slot)) },
  }),

  slotsUpdates: (_chain, _params, notify) => ({
    listener: { advanced: (advance) => slotUpdates(advance).forEach((update) => void notify(update)) },
  }),
};

/**
 * Every kind of subscription, by the first part of its method names: `account` is accountSubscribe, accountNotification,
 * accountUnsubscribe. A map: of an object, a caller could name what every object has.
 */
export const FEEDS: ReadonlyMap<string, OpenFeed> = new Map(Object.entries(OPEN_FEEDS));

/** Emits changed accounts once per block, as the block left them: at `processed` when it is sealed, as nodes do at its freeze. */
function followAccounts(
  chain: Chain,
  commitment: Commitment,
  emit: (slot: number, account: Account) => void,
): ChainListener {
  if (commitment === "processed") {
    const changed = new Set<Address>();
    return {
      changed: (accounts) => {
        for (const { address } of accounts) changed.add(address);
      },
      advanced: ({ sealed }) => {
        // After a fork: what it reverted is emitted with the first block of the new branch.
        if (sealed === undefined) return;
        const { slot } = sealed;
        for (const address of changed)
          emit(slot, chain.accountAtEndOf(slot, address) ?? goneAccount(address, BigInt(slot)));
        changed.clear();
      },
    };
  }
  return {
    advanced: (advance) => {
      for (const { slot, before } of advance[commitment]) {
        for (const address of before.keys()) {
          emit(slot, chain.accountAtEndOf(slot, address) ?? goneAccount(address, BigInt(slot)));
        }
      }
    },
  };
}

function followTransactions(commitment: Commitment, emit: (landed: LandedTransaction) => void): ChainListener {
  return {
    advanced: (advance) => {
      const blocks = commitment === "processed" ? sealedIn(advance) : advance[commitment];
      for (const { transactions } of blocks) transactions.forEach(emit);
    },
  };
}

const sealedIn = ({ sealed }: SlotAdvance) => (sealed === undefined ? [] : [sealed]);

/** The account a transaction must name, or undefined for every transaction. */
function parseMentioned(filter: unknown): Address | undefined {
  if (filter === "all" || filter === "allWithVotes") return undefined;
  const mentions = typeof filter === "object" && filter !== null ? (filter as RpcConfig).mentions : undefined;
  if (!Array.isArray(mentions)) throw invalidParams("Invalid params: unknown logs filter");
  if (mentions.length !== 1) throw invalidParams("Invalid Request: Only 1 address supported");
  return parseAddressParam(mentions[0]);
}

function slotUpdates({ sealed, dropped, opened, confirmed, finalized }: SlotAdvance) {
  const timestamp = opened.openedAtMs;
  return [
    ...(sealed === undefined ? [] : sealingUpdates(sealed, timestamp)),
    ...dropped.map(({ slot }) => ({ type: "dead", slot, timestamp, err: "the network went on with another branch" })),
    { type: "firstShredReceived", slot: opened.slot, timestamp },
    { type: "createdBank", slot: opened.slot, parent: opened.parentSlot, timestamp },
    ...confirmed.map(({ slot }) => ({ type: "optimisticConfirmation", slot, timestamp })),
    ...finalized.map(({ slot }) => ({ type: "root", slot, timestamp })),
  ];
}

function sealingUpdates({ slot, transactions }: Block, timestamp: number) {
  const failed = transactions.filter(({ execution }) => execution.error !== null).length;
  const count = transactions.length;
  return [
    { type: "completed", slot, timestamp },
    {
      type: "frozen",
      slot,
      timestamp,
      stats: {
        numTransactionEntries: count,
        numSuccessfulTransactions: count - failed,
        numFailedTransactions: failed,
        maxTransactionsPerEntry: count === 0 ? 0 : 1,
      },
    },
  ];
}
