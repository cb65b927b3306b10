import bs58 from "bs58";
import type { InnerInstruction } from "../chain/bank.ts";
import type { LandedTransaction, TokenBalance } from "../chain/ledger.ts";
import { isWritableIndex, type WireInstruction, type WireTransaction } from "../transaction/wire-transaction.ts";
import { encodeTokenAmount, toBase64 } from "./encode-account.ts";
import type { RpcConfig } from "./params.ts";
import { parseOptionalInteger } from "./params.ts";
import { invalidParams, RPC_ERROR, RpcError } from "./rpc-error.ts";

/** How a transaction is to be written, and the newest version the caller can read; undefined: legacy only. */
interface TransactionFormat {
  readonly encoding: "json" | "jsonParsed" | "base58" | "base64";
  readonly maxVersion: number | undefined;
}

/** Reads `encoding` and `maxSupportedTransactionVersion`. @throws RpcError -32602 */
export function parseTransactionFormat(config: RpcConfig): TransactionFormat {
  const encoding: unknown = config.encoding ?? "json";
  const maxVersion = parseOptionalInteger(config.maxSupportedTransactionVersion, "maxSupportedTransactionVersion");
  switch (encoding) {
    case "binary":
      return { encoding: "base58", maxVersion };
    case "json":
    case "jsonParsed":
    case "base58":
    case "base64":
      return { encoding, maxVersion };
    default:
      throw invalidParams("Invalid params: unknown encoding");
  }
}

/**
 * Transaction, meta and version, as `getTransaction` and `getBlock` write them.
 * @throws RpcError -32015 when the caller cannot read its version
 */
export function encodeTransaction(landed: LandedTransaction, format: TransactionFormat) {
  const { version } = landed.wire;
  if (version !== "legacy" && (format.maxVersion === undefined || version > format.maxVersion)) {
    throw new RpcError(
      RPC_ERROR.unsupportedTransactionVersion,
      `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
    );
  }
  return {
    transaction: encodeWire(landed, format),
    meta: encodeMeta(landed, format),
    ...(format.maxVersion === undefined ? {} : { version }),
  };
}

function encodeWire(landed: LandedTransaction, { encoding }: TransactionFormat) {
  const { wire } = landed;
  if (encoding === "base58") return [bs58.encode(wire.bytes), "base58"];
  if (encoding === "base64") return [toBase64(wire.bytes), "base64"];
  const signatures = wire.signatures.map((signature) => bs58.encode(signature));
  return { signatures, message: encoding === "json" ? encodeMessage(wire) : encodeParsedMessage(landed) };
}

function encodeMessage(wire: WireTransaction) {
  return {
    header: {
      numRequiredSignatures: wire.header.requiredSignatures,
      numReadonlySignedAccounts: wire.header.readonlySigned,
      numReadonlyUnsignedAccounts: wire.header.readonlyUnsigned,
    },
    accountKeys: wire.staticAccounts.map(String),
    recentBlockhash: bs58.encode(wire.blockhash),
    instructions: wire.instructions.map((instruction) => encodeInstruction(instruction, 1)),
    ...(wire.version === 0 ? { addressTableLookups: encodeLookups(wire) } : {}),
    ...(wire.version === 1 ? { transactionConfig: encodeConfig(wire) } : {}),
  };
}

/** As a node writes instructions of programs it cannot parse: addresses instead of indexes. */
function encodeParsedMessage(landed: LandedTransaction) {
  const { wire, accounts } = landed;
  return {
    accountKeys: accounts.map((address, index) => ({
      pubkey: address.toString(),
      signer: index < wire.header.requiredSignatures,
      source: index < wire.staticAccounts.length ? "transaction" : "lookupTable",
      writable: isWritableIndex(wire, index),
    })),
    recentBlockhash: bs58.encode(wire.blockhash),
    instructions: wire.instructions.map((instruction) => encodeNamedInstruction(landed, instruction, 1)),
    ...(wire.version === 0 ? { addressTableLookups: encodeLookups(wire) } : {}),
    ...(wire.version === 1 ? { transactionConfig: encodeConfig(wire) } : {}),
  };
}

function encodeInstruction(instruction: WireInstruction, stackHeight: number) {
  return {
    programIdIndex: instruction.programIndex,
    accounts: Array.from(instruction.accounts),
    data: bs58.encode(instruction.data),
    stackHeight,
  };
}

function encodeNamedInstruction({ accounts }: LandedTransaction, instruction: WireInstruction, stackHeight: number) {
  return {
    programId: String(accounts[instruction.programIndex]),
    accounts: Array.from(instruction.accounts, (index) => String(accounts[index])),
    data: bs58.encode(instruction.data),
    stackHeight,
  };
}

function encodeLookups(wire: WireTransaction) {
  return wire.lookups.map(({ table, writable, readonly }) => ({
    accountKey: table.toString(),
    writableIndexes: Array.from(writable),
    readonlyIndexes: Array.from(readonly),
  }));
}

function encodeConfig({ config }: WireTransaction) {
  return {
    priorityFee: config?.priorityFeeLamports ?? null,
    computeUnitLimit: config?.unitLimit ?? null,
    loadedAccountsDataSizeLimit: config?.dataSizeLimit ?? null,
    heapSize: config?.heapSize ?? null,
  };
}

function encodeMeta(landed: LandedTransaction, { encoding }: TransactionFormat) {
  const { error, logs, innerInstructions, unitsConsumed, returnData } = landed.execution;
  const isParsed = encoding === "jsonParsed";
  return {
    err: error,
    status: error === null ? { Ok: null } : { Err: error },
    fee: landed.feeLamports,
    preBalances: landed.preBalances,
    postBalances: landed.postBalances,
    preTokenBalances: landed.preTokenBalances.map(encodeTokenBalance),
    postTokenBalances: landed.postTokenBalances.map(encodeTokenBalance),
    innerInstructions: encodeInnerInstructions(innerInstructions, (inner) =>
      isParsed ? encodeNamedInstruction(landed, inner, inner.stackHeight) : encodeInstruction(inner, inner.stackHeight),
    ),
    logMessages: logs,
    // Parsed account keys already hold the loaded ones, each with its source.
    ...(isParsed
      ? {}
      : {
          loadedAddresses: {
            writable: landed.loaded.writable.map(String),
            readonly: landed.loaded.readonly.map(String),
          },
        }),
    computeUnitsConsumed: unitsConsumed,
    rewards: [],
    ...(returnData === undefined ? {} : { returnData: encodeReturnData(returnData) }),
  };
}

/** Only the instructions that called others, each with its index. */
export function encodeInnerInstructions<T>(
  lists: readonly (readonly InnerInstruction[])[],
  encode: (inner: InnerInstruction) => T,
): { index: number; instructions: T[] }[] {
  return lists
    .map((list, index) => ({ index, instructions: list.map(encode) }))
    .filter(({ instructions }) => instructions.length > 0);
}

/** Inner instructions with account indexes. */
export function encodeInnerInstruction(inner: InnerInstruction) {
  return encodeInstruction(inner, inner.stackHeight);
}

/** What a transaction's last program returned, as nodes write it: base64. */
export function encodeReturnData({ program, data }: NonNullable<LandedTransaction["execution"]["returnData"]>) {
  return { programId: program.toString(), data: [toBase64(data), "base64"] };
}

function encodeTokenBalance(balance: TokenBalance) {
  return {
    accountIndex: balance.accountIndex,
    mint: balance.mint.toString(),
    owner: balance.owner.toString(),
    programId: balance.program.toString(),
    uiTokenAmount: encodeTokenAmount(balance.amount, balance.decimals),
  };
}
