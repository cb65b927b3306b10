import bs58 from "bs58";
import type { Simulation } from "../chain/bank.ts";
import type { Chain } from "../chain/chain.ts";
import { type LandedTransaction, STATUS_CACHE_SLOTS } from "../chain/ledger.ts";
import { feeOf } from "../transaction/fees.ts";
import { verifySignatures } from "../transaction/signature.ts";
import { describeTransactionError, type TransactionErrorJson } from "../transaction/transaction-error.ts";
import { decodeMessage } from "../transaction/wire-transaction.ts";
import { encodeAccount, parseAccountFormat } from "./encode-account.ts";
import {
  encodeInnerInstruction,
  encodeInnerInstructions,
  encodeReturnData,
  encodeTransaction,
  parseTransactionFormat,
} from "./encode-transaction.ts";
import type { Method } from "./method.ts";
import {
  parseAddressParams,
  parseBytes,
  parseCommitment,
  parseContext,
  parseMalformed,
  parseOptionalInteger,
  parseSignature,
  parseTransaction,
  type RpcConfig,
  requireContextSlot,
} from "./params.ts";
import { invalidParams, RPC_ERROR, RpcError } from "./rpc-error.ts";

const MAX_STATUSES = 256;
const MAX_SIGNATURES = 1_000;

/** True if a transfer failed because nobody may pay its recipient: a sysvar, or a program that the transfer itself uses. */
function isUnpayable(error: TransactionErrorJson): boolean {
  if (typeof error === "string") return error === "AccountLoadedTwice";
  const { InstructionError: failed } = error;
  return Array.isArray(failed) && failed[1] === "ReadonlyLamportChange";
}

/** The answer of nodes since Agave 3.1; older ones return a JSON-RPC error. */
const BADLY_SIGNED: Simulation = {
  error: "SignatureFailure",
  logs: [],
  innerInstructions: [],
  unitsConsumed: 0,
  returnData: undefined,
  accountsAfter: new Map(),
};

/** Methods that send, try and look up transactions. */
export const TRANSACTION_METHODS: Readonly<Record<string, Method>> = {
  sendTransaction: ({ chain, drops }, params) => {
    const config = params.parseConfig(1);
    const wire = parseTransaction(params.parseText(0, "transaction"), config.encoding);
    requireContextSlot(chain.ledger.slot(parseCommitment(config.preflightCommitment)), config);
    if (config.skipPreflight !== true) {
      const simulation = verifySignatures(wire) ? chain.simulate(wire, { checkBlockhash: true }) : BADLY_SIGNED;
      if (simulation.error !== null) throw preflightFailure(simulation);
    }
    // A node forwards the transaction and answers at once; the chain decides whether it lands.
    if (!drops) chain.send(wire);
    return bs58.encode(wire.signatures[0]!);
  },

  simulateTransaction: ({ chain }, params) => {
    const config = params.parseConfig(1);
    const wire = parseTransaction(params.parseText(0, "transaction"), config.encoding);
    const commitment = parseContext(chain, config);
    const replaces = config.replaceRecentBlockhash === true;
    if (replaces && config.sigVerify === true) {
      throw invalidParams("sigVerify may not be used with replaceRecentBlockhash");
    }
    const isBadlySigned = config.sigVerify === true && !verifySignatures(wire);
    const simulation = isBadlySigned ? BADLY_SIGNED : chain.simulate(wire, { checkBlockhash: !replaces });
    return {
      context: { slot: chain.ledger.slot("processed") },
      value: {
        ...encodeSimulation(simulation),
        accounts: encodeAccountsAfter(chain, simulation, config.accounts),
        fee: feeOf(wire).lamports,
        innerInstructions:
          config.innerInstructions === true
            ? encodeInnerInstructions(simulation.innerInstructions, encodeInnerInstruction)
            : null,
        replacementBlockhash: replaces ? chain.ledger.latestBlockhash(commitment) : null,
      },
    };
  },

  requestAirdrop: ({ chain, held }, params) => {
    const lamports = params.parseInteger(1, "lamports");
    const result = chain.airdrop({ to: params.parseAddressParam(0), lamports: BigInt(lamports) });
    if (result.landed !== undefined && result.landed.execution.error === null) {
      // The answer means that the wallet can trade: no read shows the lamports before their slot is sealed.
      held.hold();
      return result.landed.signature;
    }
    const error = result.landed === undefined ? result.error : result.landed.execution.error!;
    const code = isUnpayable(error) ? RPC_ERROR.invalidParams : RPC_ERROR.internal;
    throw new RpcError(code, `airdrop request failed: ${describeTransactionError(error)}`);
  },

  getFeeForMessage: ({ chain }, params) => {
    const message = parseBytes(params.parseText(0, "message"), "base64");
    const commitment = parseContext(chain, params.parseConfig(1));
    const wire = parseMalformed(() => decodeMessage(message));
    const isKnown = chain.ledger.isBlockhashValid(bs58.encode(wire.blockhash), commitment);
    return {
      context: { slot: chain.ledger.slot(commitment) },
      value: isKnown ? feeOf(wire).lamports : null,
    };
  },

  getSignatureStatuses: ({ chain }, params) => {
    const signatures = params.at(0);
    if (!Array.isArray(signatures)) throw invalidParams("Invalid params: expected a list of signatures");
    if (signatures.length > MAX_STATUSES) throw invalidParams(`Too many inputs provided; max ${MAX_STATUSES}`);
    const searches = params.parseConfig(1).searchTransactionHistory === true;
    const value = signatures.map(parseSignature).map((signature) => {
      const landed = chain.ledger.transaction(signature);
      return landed === undefined ? null : encodeStatus(chain, landed, searches);
    });
    return { context: { slot: chain.ledger.slot("processed") }, value };
  },

  getTransaction: ({ chain }, params) => {
    const signature = parseSignature(params.at(0));
    const second = params.at(1);
    const config: RpcConfig = typeof second === "string" ? { encoding: second } : params.parseConfig(1);
    const commitment = parseCommitment(config.commitment);
    if (commitment === "processed") throw invalidParams("Method does not support commitment below `confirmed`");
    const format = parseTransactionFormat(config);
    const landed = chain.ledger.transaction(signature);
    if (landed === undefined || landed.slot > chain.ledger.slot(commitment)) return null;
    const block = chain.ledger.blockAt(landed.slot)!;
    return {
      slot: landed.slot,
      transactionIndex: block.transactions.indexOf(landed),
      blockTime: block.unixTimestamp,
      ...encodeTransaction(landed, format),
    };
  },

  getSignaturesForAddress: ({ chain }, params) => {
    const address = params.parseAddressParam(0);
    const config = params.parseConfig(1);
    const commitment = parseContext(chain, config);
    if (commitment === "processed") throw invalidParams("Method does not support commitment below `confirmed`");
    const limit = parseOptionalInteger(config.limit, "limit") ?? MAX_SIGNATURES;
    if (limit < 1 || limit > MAX_SIGNATURES) throw invalidParams(`Invalid limit; max ${MAX_SIGNATURES}`);
    const before = config.before === undefined || config.before === null ? undefined : parseSignature(config.before);
    const until = config.until === undefined || config.until === null ? undefined : parseSignature(config.until);
    const found: unknown[] = [];
    let started = before === undefined;
    for (const block of chain.ledger.backwards(commitment)) {
      for (const landed of block.transactions.toReversed()) {
        if (landed.signature === until || found.length === limit) return found;
        if (started && landed.accounts.includes(address)) {
          found.push({
            signature: landed.signature,
            slot: landed.slot,
            err: landed.execution.error,
            memo: null,
            blockTime: block.unixTimestamp,
            confirmationStatus: chain.ledger.commitmentOf(landed.slot),
          });
        }
        if (landed.signature === before) started = true;
      }
    }
    return found;
  },
};

function encodeStatus({ ledger }: Chain, landed: LandedTransaction, searchesHistory: boolean) {
  const status = ledger.commitmentOf(landed.slot);
  if (status === undefined) return null;
  if (!searchesHistory && ledger.slot("finalized") - landed.slot > STATUS_CACHE_SLOTS) return null;
  const { error } = landed.execution;
  return {
    slot: landed.slot,
    confirmations: status === "finalized" ? null : ledger.slot("processed") - landed.slot,
    err: error,
    status: error === null ? { Ok: null } : { Err: error },
    confirmationStatus: status,
  };
}

function encodeSimulation(simulation: Simulation) {
  return {
    err: simulation.error,
    logs: simulation.logs,
    unitsConsumed: simulation.unitsConsumed,
    returnData: simulation.returnData === undefined ? null : encodeReturnData(simulation.returnData),
  };
}

function preflightFailure(simulation: Simulation): RpcError {
  return new RpcError(
    RPC_ERROR.preflightFailure,
    `Transaction simulation failed: ${describeTransactionError(simulation.error!)}`,
    { ...encodeSimulation(simulation), accounts: null, innerInstructions: null, replacementBlockhash: null },
  );
}

/** The requested accounts as the simulation leaves them; untouched ones as they are. */
function encodeAccountsAfter(chain: Chain, simulation: Simulation, wanted: unknown) {
  if (wanted === undefined || wanted === null) return null;
  if (typeof wanted !== "object") throw invalidParams("Invalid params: accounts must be an object");
  const { addresses, encoding } = wanted as RpcConfig;
  const format = parseAccountFormat({ encoding: encoding ?? "base64" });
  return parseAddressParams(addresses, 256).map((address) => {
    if (simulation.error !== null) return null;
    const account = simulation.accountsAfter.get(address) ?? chain.bank.account(address);
    if (account === null || account.lamports === 0n) return null;
    return encodeAccount(account, format, (mint) => simulation.accountsAfter.get(mint) ?? chain.bank.account(mint));
  });
}
