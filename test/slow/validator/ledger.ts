import { eventually } from "../../support/eventually.ts";

const CONFIRMED = { commitment: "confirmed" } as const;

/** What a transaction did, as the chain records it. */
export interface LedgerRecord {
  readonly slot: number;
  readonly version: "legacy" | 0 | 1;
  readonly meta: {
    readonly err: unknown;
    readonly fee: number;
    readonly preBalances: readonly number[];
    readonly postBalances: readonly number[];
    readonly logMessages: readonly string[] | null;
    readonly loadedAddresses: { readonly writable: readonly string[]; readonly readonly: readonly string[] };
  };
  readonly transaction: { readonly message: { readonly accountKeys: readonly string[] } };
}

/** The judge: a node's own word, by plain calls that share no code with the service. */
export class JudgeLedger {
  readonly #url: string;
  /** The slot of the last trade of each wallet: a node that starts again shows states from before it for a while. */
  readonly #tradedIn = new Map<string, number>();

  constructor(rpcUrl: string) {
    this.#url = rpcUrl;
  }

  async call<T>(method: string, params: readonly unknown[] = []): Promise<T> {
    const response = await fetch(this.#url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result, error } = (await response.json()) as { result: T; error?: { code: number; message: string } };
    if (error !== undefined) throw new Error(`${method}: ${error.code} ${error.message}`);
    return result;
  }

  /** The wallet has traded in the slot: states from before are not its present ones. */
  noteTrade(wallet: string, slot: number): void {
    this.#tradedIn.set(wallet, slot);
  }

  /** Lamports of the address in a state no older than the slot; absent: of its last trade. */
  async lamports(address: string, minContextSlot = this.#tradedIn.get(address) ?? 0): Promise<bigint> {
    const read = () => this.call<{ value: number }>("getBalance", [address, { ...CONFIRMED, minContextSlot }]);
    return BigInt((await eventually(read)).value);
  }

  /** Base units of a mint in the wallet, in a state no older than the slot; absent: of its last trade. */
  async tokens(address: string, mint: string, minContextSlot = this.#tradedIn.get(address) ?? 0): Promise<bigint> {
    type Held = { account: { data: { parsed: { info: { tokenAmount: { amount: string } } } } } };
    const config = { encoding: "jsonParsed", ...CONFIRMED, minContextSlot };
    const read = () => this.call<{ value: Held[] }>("getTokenAccountsByOwner", [address, { mint }, config]);
    const { value } = await eventually(read);
    return value.reduce((sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount), 0n);
  }

  /** The record of a transaction; null if no confirmed block has it. */
  record(signature: string): Promise<LedgerRecord | null> {
    const config = { encoding: "json", ...CONFIRMED, maxSupportedTransactionVersion: 1 };
    return this.call("getTransaction", [signature, config]);
  }

  /** Resolves once the block height at `confirmed` is above this one. */
  async passHeight(height: number): Promise<void> {
    await eventually(async () => {
      if ((await this.call<number>("getBlockHeight", [CONFIRMED])) <= height) throw new Error("not passed yet");
    });
  }
}
