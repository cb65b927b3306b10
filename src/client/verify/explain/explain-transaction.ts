import type { Address } from "../../../primitives/address.ts";
import { formatAmount } from "../../../primitives/amount.ts";
import { type BaseInstruction, readBaseInstruction } from "../base-instruction.ts";
import { describeInstruction } from "../instruction-names.ts";
import { findSwapTable, isPreparation, isVenueProgram, swapBounds } from "../match-swap.ts";
import {
  type LookupTables,
  type MessageInstruction,
  type ReadTransaction,
  readTransaction,
} from "../read-transaction.ts";
import { isTipAccount } from "../tip-accounts.ts";
import { namedMints, strangeParts } from "./strange-parts.ts";

/** A transaction in words. Nothing is proven: that takes the order it was built for. */
export interface Explanation {
  /** The message as a whole, then one line per instruction. */
  readonly lines: readonly string[];
  /** Lines about parts that no trade of this service contains, or that serve an account other than the payer. */
  readonly unknown: readonly string[];
  /** Lines of swaps that name no mint: whose accounts they move, the bytes do not show. */
  readonly mintless: readonly string[];
  readonly transaction: ReadTransaction;
}

/** The highest default cap of a trade. Lamports. */
const MOST_PRIORITY = 50_000_000n;

/** Compute units that a transaction can have. */
const MOST_UNITS = 1_400_000;

/** Explains any wire transaction line by line. @throws TradeError UNREADABLE_TRANSACTION */
export function explainTransaction(wire: Uint8Array, lookupTables?: LookupTables): Explanation {
  const transaction = readTransaction(wire, lookupTables);
  const { version, accounts, instructions, requiredSignatures, signatures, config } = transaction;
  const signed = signatures.filter((signature) => signature.some((byte) => byte !== 0)).length;
  const signers = accounts.slice(0, requiredSignatures).map(({ address }) => address.toString());
  const lines = [
    `${version === "legacy" ? "Legacy" : `Version ${version}`} transaction of ${wire.length} bytes, ${instructions.length} instructions, ${accounts.length} accounts.`,
    `${signers[0] ?? "Nobody"} pays the network fee. Signers: ${signers.join(", ")} (${signed} of ${requiredSignatures} signed).`,
  ];
  if (config?.priorityFeeLamports !== undefined)
    lines.push(`Pays ${sol(config.priorityFeeLamports)} SOL for priority.`);
  const unknown: string[] = [];
  const mintless: string[] = [];
  const strange = strangeParts(transaction);
  for (const [index, instruction] of instructions.entries()) {
    const text = explainInstruction(instruction);
    const reason = strange.get(index);
    const line = `${index + 1}. ${text.line}${reason === undefined ? "" : ` Not as in a trade: ${reason}.`}`;
    lines.push(line);
    if (!text.known || reason !== undefined) unknown.push(line);
    if (text.isMintless === true) mintless.push(line);
  }
  if (requiredSignatures !== 1) {
    const line = `It takes ${requiredSignatures} signatures; a trade takes one.`;
    lines.push(line);
    unknown.push(line);
  }
  const priority = priorityOf(transaction);
  if (priority !== undefined) {
    const isHigh = priority > MOST_PRIORITY;
    const line = `Priority costs ${sol(priority)} SOL in all${isHigh ? ", more than a trade pays unless its caller allows it" : ""}.`;
    lines.push(line);
    if (isHigh) unknown.push(line);
  }
  return { lines, unknown, mintless, transaction };
}

interface Explained {
  readonly line: string;
  readonly known: boolean;
  /** True of a swap that names no mint. */
  readonly isMintless?: boolean;
}

function explainInstruction(instruction: MessageInstruction): Explained {
  const base = readBaseInstruction(instruction);
  if (base !== undefined) return { line: explainBase(base), known: true };
  if (isPreparation(instruction)) {
    const [market, payer] = instruction.accounts;
    return {
      line: `Makes the market ${market?.address} ready for its swap; ${payer?.address} pays the rent.`,
      known: true,
    };
  }
  if (isVenueProgram(instruction.program)) {
    const table = findSwapTable(instruction);
    if (table === undefined) {
      return {
        line: `Calls the venue program ${instruction.program} in a way this library does not know.`,
        known: false,
      };
    }
    const { mostIn, leastOut } = swapBounds(table, instruction.data);
    const at = (kind: string): Address | undefined =>
      instruction.accounts[table.accounts.findIndex(({ rule }) => rule.kind === kind)]?.address;
    const signer = at("wallet");
    return {
      line: `Swaps on ${table.venue} (${table.name}): ${table.exact === "in" ? "exactly" : "at most"} ${mostIn} base units leave ${at("source") ?? signer}, ${table.exact === "out" ? "exactly" : "at least"} ${leastOut} reach ${at("destination") ?? signer}, signed by ${signer}.`,
      known: true,
      isMintless: namedMints(table, instruction).length === 0,
    };
  }
  const text = describeInstruction(instruction);
  const named = instruction.accounts.map(({ address }) => address.toString()).join(", ");
  return {
    line: `${text[0]!.toUpperCase()}${text.slice(1)}${named === "" ? "" : `; accounts: ${named}`}.`,
    known: false,
  };
}

function explainBase(instruction: BaseInstruction): string {
  switch (instruction.kind) {
    case "computeUnitLimit":
      return `Limits itself to ${instruction.units} compute units.`;
    case "computeUnitPrice":
      return `Pays ${instruction.microLamports} millionths of a lamport per compute unit.`;
    case "loadedAccountsLimit":
      return `Limits the accounts it loads to ${instruction.bytes} bytes.`;
    case "createTokenAccount":
      return `Creates the token account ${instruction.account.address} of ${instruction.owner} for the mint ${instruction.mint}, if it is not there; ${instruction.payer.address} pays its rent.`;
    case "transferLamports":
      return `Transfers ${sol(instruction.lamports)} SOL from ${instruction.from.address} to ${instruction.to.address}${isTipAccount(instruction.to.address) ? ", a tip for block producers" : ""}.`;
    case "createWithSeed":
      return `Opens the account ${instruction.account.address} with ${sol(instruction.lamports)} SOL of ${instruction.payer.address}.`;
    case "initializeTokenAccount":
      return `Makes ${instruction.account.address} a token account of ${instruction.owner} for the mint ${instruction.mint}.`;
    case "syncWrappedSol":
      return `Syncs the wrapped-SOL account ${instruction.account.address}.`;
    case "requireBalance":
      return `Fails unless ${instruction.account.address} holds ${instruction.amount} base units by then; moves nothing.`;
    case "closeTokenAccount":
      return `Closes the token account ${instruction.account.address}; its SOL goes to ${instruction.to.address}.`;
  }
}

/** Total cost of priority at most, tips included; undefined if the message pays none. */
function priorityOf({ instructions, config }: ReadTransaction): bigint | undefined {
  let units: number | undefined;
  let price: bigint | undefined;
  let tips = 0n;
  for (const instruction of instructions) {
    const base = readBaseInstruction(instruction);
    if (base?.kind === "computeUnitLimit") units = base.units;
    if (base?.kind === "computeUnitPrice") price = base.microLamports;
    if (base?.kind === "transferLamports" && isTipAccount(base.to.address)) tips += base.lamports;
  }
  if (config?.priorityFeeLamports !== undefined) return config.priorityFeeLamports + tips;
  if (price === undefined) return tips === 0n ? undefined : tips;
  // Without a limit the network sets one by the number of instructions, this at most.
  return (BigInt(Math.min(units ?? MOST_UNITS, MOST_UNITS)) * price + 999_999n) / 1_000_000n + tips;
}

function sol(lamports: bigint): string {
  return formatAmount(lamports, 9);
}
