import { NodeError } from "../../../../src/chain/rpc/node-error.ts";
import type { RpcEndpoint } from "../../../../src/chain/rpc/rpc-endpoint.ts";
import { parseRpcJson } from "../../../../src/chain/rpc/rpc-values.ts";
import type { SignedTrade } from "./signed-trade.ts";

/** The slot that stands for 0, and the height of its block. */
export const FIRST_SLOT = 10_000;
export const FIRST_HEIGHT = 9_000;
export const SLOT_MS = 400;
/** Slots after which a block is confirmed, and final. */
export const CONFIRMED_AFTER = 2;
export const FINAL_AFTER = 32;
/** Roots whose statuses a node has in memory. */
const REMEMBERED = 300;
const DOUBT_MS = 2_000;
/** A transaction of the wallet from long before. */
const OLD = { signature: "1".repeat(64), slot: 1, err: null };

/** How a message ends, or is said to end: slots count from 0. */
export interface Fate {
  /** Undefined: it is in no block. */
  readonly slot: number | undefined;
  readonly error: unknown;
  /** Which of its signatures it lands under. */
  readonly form: 0 | 1;
  /** What is added to the true fee and to the true output. */
  readonly moreFee: number;
  readonly moreOutput: number;
}

/** What a node says at a moment. */
export interface Told {
  readonly fate: Fate;
  /** Slots that it is behind the chain; ahead if negative. */
  readonly lag: number;
  /** The slot in which it stands still, though it answers; undefined: it moves on. */
  readonly standsAt?: number | undefined;
  readonly moreHeight: number;
  /** Slots by which it names finality too early. */
  readonly earlyFinality: number;
  readonly confirmedAfter: number;
  readonly finalAfter: number;
  /** The slot in which its history begins. */
  readonly historyFrom: number;
  /** The first and the last slot of which it has no block, because it started again from a newer snapshot; undefined: none. */
  readonly gap?: readonly [first: number, last: number] | undefined;
  readonly hasStatus: boolean;
  /** False: it gives statuses from its memory alone, though asked to search its history; undefined: it searches. */
  readonly searchesStatuses?: boolean | undefined;
  readonly hasRecord: boolean;
  /** Whether the blockhash is still accepted; undefined: as its heights say. */
  readonly isAccepted: boolean | undefined;
  readonly listing: "true" | "empty" | "old alone" | "a foreign signature";
  readonly latencyMs: number;
  readonly isSilent: boolean;
  /** What it answers to a transaction that is sent; undefined: its signature. */
  readonly sendError?: string | undefined;
  /** A method that it refuses, and one that it answers with an error. */
  readonly refused: string | undefined;
  readonly failing: string | undefined;
}

/** The chain's slots, by the clock, and its heights. */
export interface Heights {
  readonly slot: number;
  /** The block height at the end of a slot. */
  heightAt(slot: number): number;
  /** The newest slot that is final in this one; absent: none was undone. */
  finalAt?(slot: number): number;
  /** True if the block of the slot was undone, or will be; absent: none is. */
  isUndone?(slot: number): boolean;
}

/** A node that says at each moment what it is told to say of one trade, in all methods alike. */
export class ToldNode implements RpcEndpoint {
  readonly name: string;
  readonly #heights: Heights;
  readonly #trade: SignedTrade;
  readonly #told: () => Told;
  #coolUntilMs = 0;
  #waitingSinceMs: number | undefined;

  constructor(name: string, heights: Heights, trade: SignedTrade, told: () => Told) {
    this.name = name;
    this.#heights = heights;
    this.#trade = trade;
    this.#told = told;
  }

  doubt(): void {
    this.#coolUntilMs = Date.now() + DOUBT_MS;
  }

  setAside(): void {}

  isAside(): boolean {
    return false;
  }

  isCooling(): boolean {
    return Date.now() < this.#coolUntilMs;
  }

  silentForMs(): number {
    return this.#waitingSinceMs === undefined ? 0 : Date.now() - this.#waitingSinceMs;
  }

  async call(method: string, params: readonly unknown[], timeoutMs = 4_000): Promise<unknown> {
    this.#waitingSinceMs ??= Date.now();
    const told = this.#told();
    await new Promise((resolve) => setTimeout(resolve, told.isSilent ? timeoutMs : told.latencyMs));
    if (told.isSilent) throw new NodeError("unreachable", `${this.name} is silent`);
    this.#waitingSinceMs = undefined;
    if (method === told.failing) throw new NodeError("answered", "internal error", { rpcCode: -32603 });
    if (method === told.refused) throw new NodeError("refused", method, { rpcCode: -32601 });
    const text = JSON.stringify({ result: this.#answer(told, method, params) });
    return (parseRpcJson(text) as { readonly result: unknown }).result;
  }

  #answer(told: Told, method: string, [first, second]: readonly unknown[]): unknown {
    const slot = Math.min(this.#heights.slot - told.lag, told.standsAt ?? Number.POSITIVE_INFINITY);
    const context = { slot: FIRST_SLOT + slot };
    const { commitment, encoding } = (second ?? first ?? {}) as Readonly<Record<string, string>>;
    switch (method) {
      case "sendTransaction":
        if (told.sendError !== undefined) throw new NodeError("answered", told.sendError, { rpcCode: -32002 });
        return this.#trade.forms[0].signature;
      case "getSignatureStatuses":
        return { context, value: (first as readonly string[]).map((one) => this.#status(told, slot, one)) };
      case "getTransaction":
        return this.#record(told, slot, first as string, { commitment, encoding });
      case "getEpochInfo": {
        const at = commitment === "finalized" ? this.#finalIn(told, slot) : slot;
        return { absoluteSlot: FIRST_SLOT + at, blockHeight: this.#heights.heightAt(at) + told.moreHeight };
      }
      case "isBlockhashValid":
        return { context, value: told.isAccepted ?? this.#isValidAt(slot) };
      case "getFirstAvailableBlock":
        return Math.max(0, FIRST_SLOT + told.historyFrom);
      case "getBlocks":
        return this.#blocks(told, slot, [first as number, second as unknown as number]);
      case "getBlock":
        return { blockHeight: this.#heights.heightAt((first as number) - FIRST_SLOT) + told.moreHeight };
      case "getSignaturesForAddress": {
        const { minContextSlot = 0 } = second as { readonly minContextSlot?: number };
        if (this.#finalIn(told, slot) + FIRST_SLOT < minContextSlot)
          throw new NodeError("answered", "Minimum context slot has not been reached", { rpcCode: -32016 });
        return this.#listed(told, slot);
      }
      default:
        throw new NodeError("refused", method, { rpcCode: -32601 });
    }
  }

  /** The newest slot that it calls final. */
  #finalIn({ earlyFinality }: Told, slot: number): number {
    return (this.#heights.finalAt?.(slot) ?? slot - FINAL_AFTER) + earlyFinality;
  }

  /** Whether the blockhash, that of the block at FIRST_HEIGHT, is valid in this slot. */
  #isValidAt(slot: number): boolean {
    const height = this.#heights.heightAt(slot);
    return height >= FIRST_HEIGHT && height <= this.#trade.lastHeight;
  }

  #isOf({ fate }: Told, signature: string): boolean {
    return this.#trade.forms[fate.form].signature === signature;
  }

  #status(told: Told, slot: number, signature: string): unknown {
    const { fate } = told;
    if (!told.hasStatus || !this.#isOf(told, signature) || fate.slot === undefined || slot < fate.slot) return null;
    const roots = this.#heights.heightAt(slot - FINAL_AFTER) - this.#heights.heightAt(fate.slot);
    if (roots > REMEMBERED && (told.searchesStatuses === false || !hasBlock(told, fate.slot))) return null;
    const age = slot - fate.slot;
    const confirmationStatus =
      age >= told.finalAfter ? "finalized" : age >= told.confirmedAfter ? "confirmed" : "processed";
    return { slot: FIRST_SLOT + fate.slot, err: fate.error, confirmationStatus };
  }

  #record(
    told: Told,
    slot: number,
    signature: string,
    { commitment, encoding }: { readonly commitment?: string | undefined; readonly encoding?: string | undefined },
  ): unknown {
    const { fate } = told;
    const isHeld = told.hasRecord && this.#isOf(told, signature) && fate.slot !== undefined;
    if (!isHeld || !hasBlock(told, fate.slot)) return null;
    if (slot - fate.slot < (commitment === "finalized" ? told.finalAfter : told.confirmedAfter)) return null;
    const { forms, accounts, token } = this.#trade;
    const transaction = Buffer.from(forms[fate.form].transaction).toString("base64");
    if (encoding === "base64") return { slot: FIRST_SLOT + fate.slot, transaction: [transaction, "base64"] };
    const [fee, output] = [FEE + fate.moreFee, fate.error === null ? OUTPUT + fate.moreOutput : 0];
    const others = accounts.slice(1).map(() => 1_000_000);
    const tokens = (accountIndex: number, owner: string | undefined, amount: number) => ({
      ...{ accountIndex, mint: token, owner },
      uiTokenAmount: { amount: String(amount) },
    });
    const vault = (amount: number) => tokens(2, accounts[2], amount);
    const meta = {
      err: fate.error,
      fee,
      preBalances: [1_000_000, ...others],
      postBalances: [1_000_000 - fee - (fate.error === null ? INPUT : 0), ...others],
      preTokenBalances: [vault(output)],
      postTokenBalances: output === 0 ? [vault(0)] : [tokens(1, accounts[0], output), vault(0)],
      logMessages: [],
    };
    const message = { accountKeys: accounts };
    return { slot: FIRST_SLOT + fate.slot, transaction: { signatures: [signature], message }, meta };
  }

  /** The slots of its final blocks among these. */
  #blocks(told: Told, slot: number, [first, last]: readonly [number, number]): readonly number[] {
    const slots: number[] = [];
    const final = this.#heights.finalAt?.(slot) ?? slot - FINAL_AFTER;
    for (let at = first - FIRST_SLOT; at <= Math.min(last - FIRST_SLOT, final); at++)
      if (this.#hasBlockOf(at) && hasBlock(told, at)) slots.push(FIRST_SLOT + at);
    return slots;
  }

  /** Whether the chain, as it stays, has a block of this slot. The first one after those undone continues from the block before them. */
  #hasBlockOf(slot: number): boolean {
    const { heightAt, isUndone } = this.#heights;
    if (isUndone?.(slot)) return false;
    let before = slot - 1;
    while (isUndone?.(before)) before -= 1;
    return heightAt(slot) > heightAt(before);
  }

  #listed(told: Told, slot: number): unknown {
    const { fate, listing, finalAfter, historyFrom } = told;
    if (listing === "empty") return [];
    if (listing === "old alone") return [OLD];
    const { forms } = this.#trade;
    if (listing === "a foreign signature")
      return [{ ...OLD, signature: forms[1].signature, slot: FIRST_SLOT + 20 }, OLD];
    const isListed = fate.slot !== undefined && slot - fate.slot >= finalAfter && hasBlock(told, fate.slot);
    const landed = { signature: forms[fate.form].signature, slot: FIRST_SLOT + (fate.slot ?? 0), err: fate.error };
    return [...(isListed ? [landed] : []), ...(historyFrom === Number.NEGATIVE_INFINITY ? [OLD] : [])];
  }
}

function hasBlock({ historyFrom, gap }: Told, slot: number): boolean {
  return slot >= historyFrom && (gap === undefined || slot < gap[0] || slot > gap[1]);
}

/** What the trade truly moves and costs. Base units, lamports. */
export const INPUT = 100_000;
export const OUTPUT = 42;
export const FEE = 5_077;
