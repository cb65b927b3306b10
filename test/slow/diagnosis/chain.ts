import { NodeError } from "../../../src/chain/rpc/node-error.ts";
import type { FakeMethods } from "../../support/fake-chain.ts";
import { canLand, type End, type World } from "./world.ts";

/** The slot that stands for 0 in a world, and the height of the block before it. */
export const FIRST_SLOT = 10_000;
const FIRST_HEIGHT = 9_000;
export const SLOT_MS = 400;
/** Slots after which a block is confirmed, and final. */
const CONFIRMED_AFTER = 2;
const FINAL_AFTER = 32;
/** Slots for which a block that will be dropped is shown, and for which a leader keeps what it was sent. */
const DROPPED_AFTER = 2;
const KEPT_SLOTS = 2;
/** Slots that a node lists prices of. */
const LISTED = 150;

/** A chain that behaves as its world says, by the clock: what is sent to it lands, is dropped or expires. */
export class Chain {
  /** Signature of the one trade on it, and the accounts that its message names, the payer first. */
  trade = "";
  accounts: readonly string[] = [];
  readonly #world: World;
  readonly #startMs: number;
  readonly #listsPrices: boolean;
  readonly #token: string;
  /** Height by slot, counted on as time passes. */
  readonly #heights: number[] = [];
  /** Slots in which the trade reached a leader. */
  readonly #received = new Set<number>();
  /** The slot up to which blocks have been made. */
  #made = 0;
  #landed: number | undefined;
  #dropped: number | undefined;

  /** @param token the mint of what the trade buys */
  constructor(world: World, listsPrices: boolean, token: string) {
    this.#world = world;
    this.#startMs = Date.now();
    this.#token = token;
    this.#listsPrices = listsPrices;
  }

  /** The slot now, 0 when the chain was made. */
  get slot(): number {
    return Math.floor((Date.now() - this.#startMs) / SLOT_MS);
  }

  /** How the trade has ended so far. */
  get end(): End {
    this.#make();
    return { landed: this.#landed, dropped: this.#dropped };
  }

  /** The block height at the end of a slot. */
  heightAt(slot: number): number {
    if (slot <= 0) return FIRST_HEIGHT + slot;
    for (let next = this.#heights.length + 1; next <= slot; next++)
      this.#heights.push(this.heightAt(next - 1) + (this.#world.hasBlock(next) ? 1 : 0));
    return this.#heights[slot - 1]!;
  }

  /** The methods of a node of this chain. */
  methods(): FakeMethods {
    return {
      sendTransaction: () => this.#receive(),
      getSignatureStatuses: () => ({ context: { slot: this.#shown }, value: [this.#status()] }),
      getTransaction: () => this.#record(),
      getEpochInfo: ({ commitment }: { readonly commitment?: string } = {}) => {
        const slot = commitment === "finalized" ? this.slot - FINAL_AFTER : this.slot;
        return { absoluteSlot: FIRST_SLOT + slot, blockHeight: this.heightAt(slot) };
      },
      isBlockhashValid: () => ({
        context: { slot: this.#shown },
        value: this.heightAt(this.slot - FINAL_AFTER) <= this.#lastHeight,
      }),
      // The wallet traded long before, and nothing since.
      getSignaturesForAddress: () => [{ signature: "1".repeat(64), slot: 1, err: null }],
      getBalance: () => ({ context: { slot: this.#shown }, value: this.#world.holds(this.slot) }),
      getRecentPrioritizationFees: (accounts: readonly string[]) => this.#prices(accounts.length > 0),
    };
  }

  get #shown(): number {
    return FIRST_SLOT + this.slot;
  }

  get #lastHeight(): number {
    return this.heightAt(0) + this.#world.left;
  }

  #receive(): string {
    const slot = this.slot;
    if (!this.#world.accepts(slot)) throw new NodeError("unreachable", "the sender does not answer");
    this.#make();
    if (this.#world.passesOn(slot)) this.#received.add(slot);
    return this.trade;
  }

  /** Makes the blocks of the slots that are over. */
  #make(): void {
    for (; this.#made < this.slot; this.#made++) {
      const slot = this.#made;
      if (slot < 1 || this.#landed !== undefined || !this.#world.hasBlock(slot)) continue;
      if (this.heightAt(slot) > this.#lastHeight) continue;
      let isWithLeader = false;
      for (let sent = slot - KEPT_SLOTS; sent < slot; sent++) isWithLeader ||= this.#received.has(sent);
      if (!isWithLeader || !canLand(this.#world, slot, this.#dropped)) continue;
      if (this.#world.droppedFor !== undefined && this.#dropped === undefined) this.#dropped = slot;
      else this.#landed = slot;
    }
  }

  /** The block that shows the trade now. */
  #shownIn(): number | undefined {
    this.#make();
    if (this.#landed !== undefined) return this.#landed;
    return this.#dropped !== undefined && this.slot - this.#dropped <= DROPPED_AFTER ? this.#dropped : undefined;
  }

  #status(): unknown {
    const slot = this.#shownIn();
    if (slot === undefined) return null;
    const age = this.slot - slot;
    const isKept = slot === this.#landed;
    const confirmationStatus =
      isKept && age > FINAL_AFTER ? "finalized" : isKept && age >= CONFIRMED_AFTER ? "confirmed" : "processed";
    return { slot: FIRST_SLOT + slot, err: null, confirmationStatus };
  }

  #record(): unknown {
    const slot = this.#shownIn();
    if (slot === undefined || slot !== this.#landed || this.slot - slot < CONFIRMED_AFTER) return null;
    const accountKeys = this.accounts;
    const tokens = (accountIndex: number, owner: string | undefined, amount: string) => ({
      ...{ accountIndex, mint: this.#token, owner },
      uiTokenAmount: { amount },
    });
    const others = accountKeys.slice(1).map(() => 1_000_000);
    const balances = {
      preBalances: [1_000_000, ...others],
      postBalances: [894_923, ...others],
      preTokenBalances: [tokens(2, accountKeys[2], "42")],
      postTokenBalances: [tokens(1, accountKeys[0], "42"), tokens(2, accountKeys[2], "0")],
    };
    const meta = { err: null, fee: 5_077, ...balances, logMessages: [] };
    return { slot: FIRST_SLOT + slot, transaction: { signatures: [this.trade], message: { accountKeys } }, meta };
  }

  #prices(onAccounts: boolean): unknown {
    if (!this.#listsPrices) throw new NodeError("refused", "the node does not list prices", { rpcCode: -32601 });
    const listed: { slot: number; prioritizationFee: bigint }[] = [];
    for (let slot = this.slot - LISTED; slot < this.slot; slot++) {
      if (!this.#world.hasBlock(slot)) continue;
      const price = onAccounts ? this.#world.accountPrice(slot) : this.#world.chainPrice(slot);
      listed.push({ slot: FIRST_SLOT + slot, prioritizationFee: price });
    }
    return listed;
  }
}
