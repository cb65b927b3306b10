import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Address } from "../../src/primitives/address.ts";
import type { Account } from "../../src/solana/account.ts";
import type { Ask, Market, VenueId } from "../../src/venues/venue.ts";
import type { VenueExecutions } from "../support/executions.ts";

/** Accounts by address; null for one that does not exist. */
export type ReadAccounts = ReadonlyMap<Address, Account | null>;

/** A trade that a venue's program executed. */
export interface NewExecution extends Pick<VenueExecutions["trades"][number], "units"> {
  readonly market: Market;
  readonly ask: Ask;
  readonly moved: { readonly inAmount: bigint; readonly outAmount: bigint };
  readonly wallet: Address;
  readonly source: Address;
  readonly destination: Address;
  readonly absent: Iterable<Address>;
  readonly before: ReadAccounts;
  /** If the venue says what the trade leaves. */
  readonly after: ReadAccounts | undefined;
}

/** One line of a venue's file: the trade, and the accounts that it reads. */
export type ExecutionLine = VenueExecutions;

/** Keeps a trade for `make-executions.ts`: one line of JSON in the venue's own file. Does nothing unless `EXECUTIONS` names a folder. */
export function recordExecution(execution: NewExecution): void {
  const folder = process.env.EXECUTIONS;
  if (folder === undefined) return;
  const { market, ask, moved, wallet, source, destination, absent, before, after, units } = execution;
  const accounts: VenueExecutions["accounts"][number][] = [];
  const placesOf = (read: ReadAccounts): (number | string)[] =>
    [...read].map(([address, account]) => {
      if (account === null) return address.toString();
      const { owner, lamports, data } = account;
      return accounts.push([`${address}`, `${owner}`, `${lamports}`, Buffer.from(data).toString("base64")]) - 1;
    });
  const { slot, epoch, unixTimestamp } = ask.clock;
  const line: ExecutionLine = {
    accounts,
    trades: [
      {
        market: `${market.address}`,
        pair: [`${market.mints[0]}`, `${market.mints[1]}`],
        clock: [`${slot}`, `${epoch}`, `${unixTimestamp}`],
        mode: ask.mode,
        from: ask.inMint === market.mints[0] ? 0 : 1,
        amount: `${ask.amount}`,
        moved: [`${moved.inAmount}`, `${moved.outAmount}`],
        units,
        wallet: `${wallet}`,
        ends: [`${source}`, `${destination}`],
        absent: [...absent].map(String),
        accounts: placesOf(before),
        ...(after === undefined ? {} : { left: placesOf(after) }),
      },
    ],
  };
  mkdirSync(folder, { recursive: true });
  appendFileSync(fileOf(folder, market.venue), `${JSON.stringify(line)}\n`);
}

/** Where the trades of a venue are kept. */
export const fileOf = (folder: string, venue: VenueId): string => join(folder, `${venue}.jsonl`);
