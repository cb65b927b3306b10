import type { Now } from "../../../primitives/clock.ts";
import { minOf } from "../../../primitives/integer.ts";
import { hasSameContent } from "../../../solana/account-content.ts";
import type { AccountsAtSlot } from "../../port.ts";
import type { StateWitness } from "../compare/witness-nodes.ts";
import type { FollowedAccount } from "../followed-account.ts";
import type { FollowedAccounts } from "../followed-accounts.ts";
import type { StreamProgress } from "../stream/stream-progress.ts";
import type { FollowedReads } from "./followed-reads.ts";

interface AgreedReadsOptions {
  readonly witnesses: readonly Pick<StateWitness, "reader">[];
  readonly followed: FollowedAccounts;
  readonly reads: Pick<FollowedReads, "accept">;
  readonly stream: Pick<StreamProgress, "isFarAhead">;
  readonly now: Now;
}

/** What one node says of an account. */
interface Statement {
  readonly account: AccountsAtSlot["accounts"][number];
  readonly slot: bigint;
}

/** Reads accounts from every node by itself, and adopts the state on which most of all nodes agree. */
export class AgreedReads {
  readonly #options: AgreedReadsOptions;

  constructor(options: AgreedReadsOptions) {
    this.#options = options;
  }

  /** Asks each node once. Resolves when each account is adopted, or all nodes have answered. Never rejects. */
  async read(entries: readonly FollowedAccount[], minSlot: bigint): Promise<void> {
    const { witnesses, now } = this.#options;
    const addresses = entries.map(({ address }) => address);
    const sentAtMs = now();
    const left = new Map(entries.map((entry, i) => [entry, i]));
    const answers: AccountsAtSlot[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const asks = witnesses.map(async ({ reader }) => {
      const answer = await reader.fetchAccounts(addresses, minSlot).catch(() => undefined);
      if (answer === undefined) return;
      answers.push(answer);
      for (const [entry, i] of left) if (this.#adopt(entry, statementsOf(answers, i), sentAtMs)) left.delete(entry);
      if (left.size === 0) resolve();
    });
    await Promise.race([promise, Promise.all(asks)]);
  }

  /** @returns false if too few agree yet */
  #adopt(entry: FollowedAccount, statements: readonly Statement[], sentAtMs: number): boolean {
    const { witnesses, followed, reads, stream } = this.#options;
    const last = statements.at(-1)!;
    const agreeing = statements.filter(({ account }) => hasSameContent(account, last.account));
    if (agreeing.length < Math.max(2, Math.floor(witnesses.length / 2) + 1)) return false;
    // Only the oldest of the slots that they name is certain.
    const slot = agreeing.reduce((oldest, one) => minOf(oldest, one.slot), last.slot);
    if (followed.has(entry) && !stream.isFarAhead(slot)) reads.accept(entry, { slot, account: last.account, sentAtMs });
    return true;
  }
}

function statementsOf(answers: readonly AccountsAtSlot[], index: number): readonly Statement[] {
  return answers.map(({ slot, accounts }) => {
    const account = accounts[index] ?? null;
    return { account, slot: account?.slot ?? slot };
  });
}
