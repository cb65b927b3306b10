import { type Keypair, PublicKey, SystemProgram, Transaction } from "@solana/web3.js";
import bs58 from "bs58";
import { eventually } from "../../support/eventually.ts";

/** A node to put to the test, embedded or real. */
export interface NodeUrls {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  /** A program and one of its accounts. */
  readonly program: string;
  readonly account: string;
  /**
   * True on Alpenglow: a node short of processor time leaves out notices of slots, and of what changed in a slot. A slot left out
   * must be a block, so that its child shows the gap, and a change left out must be in the next notice.
   */
  readonly mayLeaveOutSlots?: boolean;
}

/** A check and how it went; undefined means that it holds. */
export interface CheckResult {
  readonly name: string;
  readonly fault: string | undefined;
}

export const SOL = 1_000_000_000;
export const INVALID_PARAMS = -32602;
export const METHOD_NOT_FOUND = -32601;

/** An object of an answer, its fields not yet checked. */
export type Json = Readonly<Record<string, unknown>>;
/** A JSON-RPC answer. */
export interface RpcAnswer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** What every script is made of: calls to one node, and checks that are written down rather than thrown. */
export class NodeCalls {
  readonly results: CheckResult[] = [];
  /** Methods called so far, subscriptions included. */
  readonly methods = new Set<string>();
  protected readonly node: NodeUrls;
  #lastId = 0;
  /** Newest slot in which something is known to have landed. */
  #landedSlot = 0;

  constructor(node: NodeUrls) {
    this.node = node;
  }

  protected async holds(name: string, check: () => Promise<boolean>): Promise<void> {
    try {
      this.results.push({ name, fault: (await check()) ? undefined : "does not hold" });
    } catch (error) {
      this.results.push({ name, fault: String(error).slice(0, 300) });
    }
  }

  protected async refuses(name: string, code: number, method: string, params: readonly unknown[]): Promise<void> {
    const answer = await this.call(method, params);
    const fault = answer.error?.code === code ? undefined : `answers ${JSON.stringify(answer).slice(0, 200)}`;
    this.results.push({ name, fault });
  }

  protected async landed(signature: string): Promise<Json> {
    let status: Json | undefined;
    await eventually(async () => {
      const { value } = asContext(await this.result("getSignatureStatuses", [[signature]]));
      const [found] = value as (Json | null)[];
      if (found === null || found === undefined || found.confirmationStatus === "processed")
        throw new Error("not confirmed");
      status = found;
    });
    this.#landedSlot = Math.max(this.#landedSlot, Number(status!.slot));
    return status!;
  }

  protected async passSlots(count: number): Promise<void> {
    const slot = async () => Number(await this.result("getSlot", [{ commitment: "processed" }]));
    const last = (await slot()) + count;
    await eventually(async () => {
      if ((await slot()) < last) throw new Error("not yet");
    });
  }

  /** Slots from one to another that have a block, once both are confirmed. */
  protected async blocks(first: number, last: number): Promise<ReadonlySet<number>> {
    const config = { commitment: "confirmed" };
    await eventually(async () => {
      if (Number(await this.result("getSlot", [config])) < last) throw new Error("not confirmed");
    });
    return new Set((await this.result("getBlocks", [first, last, config])) as number[]);
  }

  /** Lamports at `confirmed`, not before what has landed: a status may say "confirmed" a moment before reads show the slot. */
  protected async balance(address: PublicKey): Promise<number> {
    const config = { commitment: "confirmed", minContextSlot: this.#landedSlot };
    const read = () => this.result("getBalance", [address.toBase58(), config]);
    return Number(asContext(await eventually(read)).value);
  }

  /** Sends lamports, without waiting for them to arrive. @returns the signature */
  protected async pay(from: Keypair, to: string, lamports: number): Promise<string> {
    const latest = asContext(await this.result("getLatestBlockhash", [{ commitment: "confirmed" }]));
    const transfer = new Transaction({ feePayer: from.publicKey, recentBlockhash: asJson(latest.value).blockhash });
    transfer.add(SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: new PublicKey(to), lamports }));
    transfer.sign(from);
    const config = { encoding: "base64", skipPreflight: true };
    return String(await this.result("sendTransaction", [transfer.serialize().toString("base64"), config]));
  }

  protected async result(method: string, params: readonly unknown[] = []): Promise<unknown> {
    const answer = await this.call(method, params);
    if (answer.error !== undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  }

  protected async call(method: string, params: readonly unknown[]): Promise<RpcAnswer> {
    this.methods.add(method);
    return (await this.post({ jsonrpc: "2.0", id: ++this.#lastId, method, params })) as RpcAnswer;
  }

  protected async post(body: unknown): Promise<Json> {
    const response = await fetch(this.node.rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Json;
  }
}

export const isInteger = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
export const isHash = (value: unknown): value is string =>
  typeof value === "string" && bs58.decodeUnsafe(value)?.length === 32;
// biome-ignore lint/suspicious/noExplicitAny: every field is checked where it is used.
export function asJson(value: unknown): Readonly<Record<string, any>> {
  if (typeof value !== "object" || value === null) throw new Error(`${JSON.stringify(value)} is no object`);
  return value;
}

export function asContext(value: unknown): { readonly slot: unknown; readonly value: unknown } {
  const outer = asJson(value);
  return { slot: asJson(outer.context).slot, value: outer.value };
}

export function isAccount(value: unknown): boolean {
  const { lamports, owner, data, executable, space } = asJson(value);
  const isEncoded = Array.isArray(data) && (data as unknown[])[1] === "base64";
  return isInteger(lamports) && isHash(owner) && isEncoded && typeof executable === "boolean" && isInteger(space);
}

export function isFeeList(value: unknown): boolean {
  const list = value as Json[];
  const slots = list.map(({ slot }) => Number(slot));
  const rises = slots.every((slot, i) => i === 0 || slot > slots[i - 1]!);
  return rises && list.every(({ slot, prioritizationFee }) => isInteger(slot) && isInteger(prioritizationFee));
}

export function priceInstruction(microLamports: number) {
  const data = Buffer.alloc(9);
  data[0] = 3;
  data.writeBigUInt64LE(BigInt(microLamports), 1);
  return { keys: [], programId: new PublicKey("ComputeBudget111111111111111111111111111111"), data };
}
