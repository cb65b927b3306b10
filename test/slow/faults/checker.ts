import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import bs58 from "bs58";
import { ACCOUNT_OVERHEAD_BYTES, isTerminal, type Rig } from "./rig.ts";
import type { BuildEntry, SubmitEntry } from "./trader.ts";

const SOL = "So11111111111111111111111111111111111111112";
const MOST_RESIDENT_BYTES = 512 * 1024 * 1024;
const MOST_OPEN_FILES = 512;
/** Of an output around an unhandled error; and how much of a line. */
const LINES_BEFORE = 3;
const LINES_AFTER = 30;
const MOST_LINE = 500;

interface TokenBalance {
  readonly owner: string;
  readonly mint: string;
  readonly uiTokenAmount: { readonly amount: string };
}

/** A transaction as the ledger holds it. */
export interface LedgerEntry {
  readonly slot: number;
  readonly messageHash: string;
  readonly accounts: readonly string[];
  readonly meta: {
    readonly err: unknown;
    readonly fee: number;
    readonly preBalances: readonly number[];
    readonly postBalances: readonly number[];
    readonly preTokenBalances: readonly TokenBalance[];
    readonly postTokenBalances: readonly TokenBalance[];
    readonly loadedAddresses?: { readonly writable: readonly string[]; readonly readonly: readonly string[] };
  };
}

/** Everything the chain holds since the rig began, by message; and what breaks an invariant while reading it. */
async function readLedger(rig: Rig): Promise<{ entries: Map<string, LedgerEntry>; doubled: string[] }> {
  const slots = await rig.rpc<number[]>("getBlocks", [rig.startSlot, null, { commitment: "confirmed" }]);
  const entries = new Map<string, LedgerEntry>();
  const doubled: string[] = [];
  for (const slot of slots) {
    const block = await rig.rpc<{ transactions: { transaction: [string, string]; meta: LedgerEntry["meta"] }[] }>(
      "getBlock",
      [
        slot,
        {
          encoding: "base64",
          transactionDetails: "full",
          maxSupportedTransactionVersion: 1,
          rewards: false,
          commitment: "confirmed",
        },
      ],
    );
    for (const { transaction, meta } of block.transactions) {
      const bytes = Buffer.from(transaction[0], "base64");
      const messageHash = hashOf(bytes);
      if (entries.has(messageHash)) doubled.push(messageHash);
      entries.set(messageHash, { slot, messageHash, accounts: accountsOf(bytes, meta), meta });
    }
  }
  return { entries, doubled };
}

/** Of a transaction with one signature: version 1 has it at the end, others in front. */
function hashOf(bytes: Buffer): string {
  const message = bytes[0] === 0x81 ? bytes.subarray(0, -64) : bytes.subarray(65);
  return createHash("sha256").update(message).digest("hex");
}

/**
 * Holds a run against the invariants, from the chain's records, the requests to the nodes, and the callers' answers.
 * The service is not asked. @returns what is broken, in words
 */
export async function checkInvariants(rig: Rig): Promise<string[]> {
  const broken: string[] = [];
  const { history } = rig;
  const { entries: ledger, doubled } = await readLedger(rig);
  for (const hash of doubled) broken.push(`I1 message ${hash.slice(0, 12)} executed twice`);

  const builds = new Map(history.builds.map((build) => [build.messageHash, build]));
  const signed = new Set(history.builds.map((build) => build.signed));
  for (const { sends } of rig.proxies) {
    for (const { transaction } of sends) {
      if (!signed.has(transaction)) broken.push("I2 bytes were broadcast that no caller signed");
    }
  }

  const byMessage = Map.groupBy(history.submits, ({ messageHash }) => messageHash);
  for (const [hash, answers] of byMessage) {
    const landed = ledger.get(hash);
    broken.push(...checkAnswers(hash, answers, landed));
    const found = history.lookUps.filter(({ messageHash }) => messageHash === hash);
    broken.push(...checkLookUps(hash, found, answers, landed));
    const answered = answers.find(({ data }) => data?.tradeResult != null)?.data;
    const build = builds.get(hash);
    if (answered?.tradeResult == null || landed === undefined || build === undefined) continue;
    const rent = (await rentOfCreated(rig, landed)) - rentOfClosed(landed);
    const measured = measure(build, landed, rent, answered.inputMint, answered.outputMint);
    const { inputAmountRaw, outputAmountRaw } = answered.tradeResult;
    if (measured.in !== BigInt(inputAmountRaw) || measured.out !== BigInt(outputAmountRaw)) {
      broken.push(
        `I5 ${hash.slice(0, 12)} said ${inputAmountRaw} → ${outputAmountRaw}, the chain moved ${measured.in} → ${measured.out}`,
      );
    }
    const paidRent = BigInt(answered.costs.rentPaid) - BigInt(answered.costs.rentReturned);
    if (paidRent !== rent) broken.push(`I5 ${hash.slice(0, 12)} rent ${paidRent}, the chain took ${rent}`);
    const fee = BigInt(answered.costs.baseFee) + BigInt(answered.costs.priorityFee);
    if (fee !== BigInt(landed.meta.fee))
      broken.push(`I5 ${hash.slice(0, 12)} fees ${fee}, the chain took ${landed.meta.fee}`);
  }

  const texts = [...rig.everyService.map((service) => service.output()), ...databaseTexts(rig.dataDir)];
  for (const secret of history.secrets) {
    if (texts.some((text) => text.includes(secret))) broken.push("I6 an API key is in a log or in the database");
  }
  for (const service of rig.everyService) {
    const unhandled = unhandledIn(service.output());
    if (unhandled !== undefined) broken.push(`I8 ${service.name} had an unhandled error:\n${unhandled}`);
  }
  for (const service of rig.services.filter(({ isRunning }) => isRunning)) {
    const { residentBytes, openFiles } = service.usage();
    if (residentBytes > MOST_RESIDENT_BYTES) broken.push(`I8 ${service.name} holds ${residentBytes} bytes`);
    if (openFiles > MOST_OPEN_FILES) broken.push(`I8 ${service.name} has ${openFiles} open files`);
  }
  return [...new Set(broken)];
}

function checkAnswers(hash: string, answers: readonly SubmitEntry[], landed: LedgerEntry | undefined): string[] {
  const broken: string[] = [];
  const short = hash.slice(0, 12);
  const terminal = answers.filter(({ data, error }) => isTerminal(data, error));
  const said = new Set(terminal.map(({ data, error }) => contentOf(data, error)));
  if (said.size > 1) broken.push(`I4 ${short} was answered differently: ${[...said].join(" / ")}`);
  for (const { startedAtMs, data, error } of answers) {
    if (isTerminal(data, error)) continue;
    if (data !== undefined && terminal.some((one) => one.endedAtMs < startedAtMs))
      broken.push(`I4 ${short} had ended and was reported ${data.status} later`);
  }
  for (const { error } of answers)
    if (error?.safeToRebuild === true && landed !== undefined && landed.meta.err === null)
      broken.push(`I3 ${short} was called safe to rebuild (${error.code}) and succeeded in slot ${landed.slot}`);
  broken.push(...checkEnds(short, terminal, landed), ...checkUnknown(short, answers, landed));
  return broken;
}

/**
 * What look-ups said: an end is the one that submits were answered, in the same slot and with the same amounts, and what is confirmed without
 * them yet is in that block.
 */
function checkLookUps(
  hash: string,
  lookUps: readonly SubmitEntry[],
  answers: readonly SubmitEntry[],
  landed: LedgerEntry | undefined,
): string[] {
  const short = `${hash.slice(0, 12)}, looked up,`;
  const ends = lookUps.filter(({ data, error }) => isTerminal(data, error));
  const amountsOf = ({ data }: SubmitEntry) => data?.tradeResult && JSON.stringify(data.tradeResult);
  const said = new Set([...ends, ...answers].flatMap((entry) => amountsOf(entry) ?? []));
  const broken = [...checkEnds(short, ends, landed), ...checkUnknown(short, lookUps, landed)];
  if (said.size > 1) broken.push(`I4 ${short} has other amounts: ${[...said].join(" / ")}`);
  return broken;
}

/** Nodes that show a trade or its end are asked for it, so nobody is told that it is too old to tell. */
function checkUnknown(short: string, entries: readonly SubmitEntry[], landed: LedgerEntry | undefined): string[] {
  if (!entries.some(({ error }) => error?.code === "OUTCOME_UNKNOWN")) return [];
  if (landed !== undefined) return [`I3 ${short} was called too old to tell and is in slot ${landed.slot}`];
  const isTold = entries.some(({ error }) => error?.code === "TX_EXPIRED");
  return isTold ? [`I4 ${short} was called both expired and too old to tell`] : [];
}

/** Ends that the chain contradicts. */
function checkEnds(short: string, terminal: readonly SubmitEntry[], landed: LedgerEntry | undefined): string[] {
  const broken: string[] = [];
  for (const { data, error } of terminal) {
    if (data !== undefined) {
      if (landed === undefined) broken.push(`I3 ${short} was reported ${data.status} and is in no block`);
      else if (landed.slot !== data.slot)
        broken.push(`I3 ${short} was reported slot ${data.slot}, it is in ${landed.slot}`);
      else if (landed.meta.err !== null) broken.push(`I3 ${short} was reported ${data.status} and failed`);
    } else if (error!.code === "TX_EXPIRED") {
      if (landed !== undefined) broken.push(`I3 ${short} was reported expired and is in slot ${landed.slot}`);
    } else if (landed === undefined) broken.push(`I3 ${short} was reported ${error!.code} and is in no block`);
    else if (landed.meta.err === null) broken.push(`I3 ${short} was reported ${error!.code} and succeeded`);
    else if (error!.details?.slot !== landed.slot)
      broken.push(`I3 ${short} was reported to fail in slot ${error!.details?.slot}, it is in ${landed.slot}`);
    else if (error!.details.error !== JSON.stringify(landed.meta.err))
      broken.push(
        `I3 ${short} was reported to fail with ${error!.details.error}, not ${JSON.stringify(landed.meta.err)}`,
      );
  }
  return broken;
}

/** The first unhandled error of an output, with the lines around it: what it is and where it came from is printed after it. */
function unhandledIn(output: string): string | undefined {
  const lines = output.split("\n");
  const at = lines.findIndex((line) => /unhandled|uncaught/i.test(line));
  if (at === -1) return undefined;
  const around = lines.slice(Math.max(0, at - LINES_BEFORE), at + LINES_AFTER);
  return around.map((line) => `       ${line.slice(0, MOST_LINE)}`).join("\n");
}

/** What may not differ between answers: a trade that is confirmed may become finalized. */
function contentOf(data: SubmitEntry["data"], error: SubmitEntry["error"]): string {
  return data === undefined
    ? `${error?.code} ${error?.details?.slot ?? ""}`
    : JSON.stringify({ ...data, status: "landed" });
}

/** What the wallet gave and got, by the chain's record alone. */
function measure(build: BuildEntry, { meta }: LedgerEntry, rent: bigint, inputMint: string, outputMint: string) {
  const tokens = (list: readonly TokenBalance[], mint: string) =>
    list
      .filter((entry) => entry.owner === build.wallet && entry.mint === mint)
      .reduce((sum, entry) => sum + BigInt(entry.uiTokenAmount.amount), 0n);
  const gained = (mint: string): bigint => {
    if (mint !== SOL) return tokens(meta.postTokenBalances, mint) - tokens(meta.preTokenBalances, mint);
    const change = BigInt(meta.postBalances[0]!) - BigInt(meta.preBalances[0]!);
    return change + BigInt(meta.fee) + rent + BigInt(build.costs.tip);
  };
  return { in: -gained(inputMint), out: gained(outputMint) };
}

/** Rent in the accounts that the transaction brought into being, by their sizes; a bare one has to hold that of no data. */
async function rentOfCreated(rig: Rig, { accounts, meta, slot }: LedgerEntry): Promise<bigint> {
  const created = accounts.flatMap((address, i) =>
    meta.preBalances[i] === 0 && meta.postBalances[i]! > 0 ? [{ address, held: BigInt(meta.postBalances[i]!) }] : [],
  );
  if (created.length === 0) return 0n;
  const { value } = await rig.rpc<{ value: ({ space: number } | null)[] }>("getMultipleAccounts", [
    created.map(({ address }) => address),
    { encoding: "base64", commitment: "confirmed" },
  ]);
  const { lamportsPerByte } = rig.rents.findLast(({ fromSlot }) => fromSlot <= slot)!;
  return created.reduce((sum, { held }, i) => {
    const account = value[i];
    // Of one that has been closed since, its size is not known: such an account was opened with its rent.
    if (account == null) return sum + held;
    const rent = lamportsPerByte * (BigInt(account.space) + ACCOUNT_OVERHEAD_BYTES);
    return sum + (held < rent ? held : rent);
  }, 0n);
}

/** What was in the accounts that the transaction closed: emptied token accounts of the wallet. */
function rentOfClosed({ meta }: LedgerEntry): bigint {
  return meta.preBalances.reduce((sum, held, i) => sum + (meta.postBalances[i] === 0 ? BigInt(held) : 0n), 0n);
}

/** Accounts in message order: of legacy and version 0 messages the static ones, then the loaded ones. */
function accountsOf(bytes: Buffer, meta: LedgerEntry["meta"]): string[] {
  const message = bytes.subarray(65);
  const start = (message[0]! & 0x80) === 0 ? 3 : 4;
  const count = bytes[0] === 0x81 ? 0 : message[start]!;
  const fixed = Array.from({ length: count }, (_, i) =>
    bs58.encode(message.subarray(start + 1 + i * 32, start + 33 + i * 32)),
  );
  return [...fixed, ...(meta.loadedAddresses?.writable ?? []), ...(meta.loadedAddresses?.readonly ?? [])];
}

function databaseTexts(dataDir: string): string[] {
  if (!existsSync(dataDir)) return [];
  return readdirSync(dataDir)
    .filter((name) => name.includes("sqlite"))
    .map((name) => readFileSync(join(dataDir, name), "latin1"));
}
