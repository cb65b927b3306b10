import bs58 from "bs58";
import { vi } from "vitest";
import { stateWitnesses } from "../../src/app/chain/state-witnesses.ts";
import { createChainHead } from "../../src/chain/head/chain-head.ts";
import { createAccountReader } from "../../src/chain/rpc/accounts/account-reader.ts";
import { NodeError } from "../../src/chain/rpc/node-error.ts";
import type { RpcEndpoint } from "../../src/chain/rpc/rpc-endpoint.ts";
import { createRpcPool } from "../../src/chain/rpc/rpc-pool.ts";
import { parseRpcJson } from "../../src/chain/rpc/rpc-values.ts";
import type { Subscriptions } from "../../src/chain/rpc/subscriptions/subscriptions.ts";
import { createRpcStateSource } from "../../src/chain/state/rpc-state-source.ts";
import { Address } from "../../src/primitives/address.ts";
import type { Account } from "../../src/solana/account.ts";
import { CLOCK_SYSVAR, RECENT_BLOCKHASHES_SYSVAR, SYSVAR_OWNER, TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import { Mutator } from "../slow/faults/mutation.ts";
import { type FakeSubscriptions, fakeSubscriptions } from "./fake-chain.ts";

/** From a question to its answer. Milliseconds. */
const ANSWER_MS = 4;
const FIRST_SLOT = 100_000;
/** Slots without a block until then. */
const SKIPPED = 400;
const CONFIRMED_AFTER = 2;
const LISTED = 150;
const TOKEN_ACCOUNT_BYTES = 165;
const TOKEN_AMOUNT = 64;
const STATE_MAX_AGE_MS = 2_000;
const DOUBT_MS = 2_000;

type Params = readonly [unknown, { readonly commitment?: string; readonly dataSlice?: { readonly length: number } }?];

/** Eight token accounts, each of which changes at another pace: in every slot, in one of 4, 7, and so on to 22. */
const ACCOUNTS = Array.from({ length: 8 }, (_, i) => Address.from(new Uint8Array(32).fill(20 + i)));

/** A chain that goes on by the test's clock. */
class PacedChain {
  slot = FIRST_SLOT;
  readonly slotMs: number;

  constructor(slotMs: number) {
    this.slotMs = slotMs;
  }

  changesIn(address: Address, slot: number): boolean {
    const i = ACCOUNTS.indexOf(address);
    return (slot - i) % (1 + 3 * i) === 0;
  }

  account(address: unknown, slot: number, length?: number): unknown {
    const i = ACCOUNTS.findIndex((one) => one.toString() === address);
    let owner = SYSVAR_OWNER;
    let data = Buffer.alloc(40);
    if (address === CLOCK_SYSVAR.toString()) {
      data.writeBigUInt64LE(BigInt(slot), 0);
      data.writeBigInt64LE(BigInt(Math.floor((Date.now() - (this.slot - slot) * this.slotMs) / 1_000)), 32);
    } else if (address === RECENT_BLOCKHASHES_SYSVAR.toString()) {
      data = Buffer.alloc(8 + LISTED * 40);
      data.writeBigUInt64LE(BigInt(LISTED), 0);
      for (let place = 0; place < LISTED; place++) data.set(hashOf(slot - 1 - place), 8 + 40 * place);
    } else if (i >= 0) {
      owner = TOKEN_PROGRAM;
      data = Buffer.alloc(TOKEN_ACCOUNT_BYTES);
      data.writeBigUInt64LE(1_000_000n + BigInt(slot - ((slot - i) % (1 + 3 * i))), TOKEN_AMOUNT);
    } else return null;
    const text = data.subarray(0, length).toString("base64");
    return { lamports: 2_039_280, owner: owner.toString(), data: [text, "base64"], executable: false, rentEpoch: 0 };
  }

  /** The true answer to a call. @throws NodeError of kind "refused" for methods that are not needed */
  answer(method: string, [first, config]: Params): unknown {
    const { commitment, dataSlice } = config ?? (first as NonNullable<Params[1]> | undefined) ?? {};
    const slot = this.slot - (commitment === "confirmed" ? CONFIRMED_AFTER : 0);
    if (method === "getGenesisHash") return bs58.encode(hashOf(1));
    if (method === "getSlot") return slot;
    if (method === "getEpochInfo") return { absoluteSlot: slot, blockHeight: slot - SKIPPED, epoch: 3 };
    if (method === "getMinimumBalanceForRentExemption") return (128 + Number(first)) * 6_960;
    if (method === "getRecentPerformanceSamples") return [{ numSlots: 60_000 / this.slotMs, samplePeriodSecs: 60 }];
    if (method === "getLatestBlockhash") {
      const value = { blockhash: bs58.encode(hashOf(slot)), lastValidBlockHeight: slot - SKIPPED + LISTED };
      return { context: { slot }, value };
    }
    if (method !== "getMultipleAccounts") throw new NodeError("refused", method);
    const value = (first as string[]).map((one) => this.account(one, slot, dataSlice?.length));
    return { context: { slot }, value };
  }
}

function hashOf(slot: number): Uint8Array {
  const bytes = new Uint8Array(32).fill(3);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(slot));
  return bytes;
}

/** What a node does to what it sends. */
type Changes = (method: string, result: unknown) => unknown;

function endpointOf(name: string, chain: PacedChain, changes: () => Changes): RpcEndpoint {
  let [coolUntilMs, asideUntilMs] = [0, 0];
  const endpoint: RpcEndpoint = {
    name,
    doubt() {
      coolUntilMs = Date.now() + DOUBT_MS;
    },
    setAside(forMs) {
      asideUntilMs = Date.now() + forMs;
    },
    isAside: () => Date.now() < asideUntilMs,
    isCooling: () => Date.now() < coolUntilMs,
    silentForMs: () => 0,
    async call(method, params) {
      await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
      const text = JSON.stringify({ result: changes()(method, chain.answer(method, params as unknown as Params)) });
      try {
        return (parseRpcJson(text) as { readonly result: unknown }).result;
      } catch (cause) {
        endpoint.doubt();
        throw new NodeError("malformed", name, { cause });
      }
    },
  };
  return endpoint;
}

/** The stream of one node after the other: of the next whenever it is doubted. */
function streamOf(chain: PacedChain, changes: readonly Changes[]): Subscriptions & { readonly send: () => void } {
  let node = 0;
  const inner: FakeSubscriptions = fakeSubscriptions();
  const changed = (method: string, result: unknown) =>
    (parseRpcJson(JSON.stringify({ result: changes[node]!(method, result) })) as { readonly result: unknown }).result;
  const send = () => {
    const slot = chain.slot - 1;
    for (const address of ACCOUNTS)
      if (chain.changesIn(address, slot)) {
        const value = chain.account(address.toString(), slot);
        inner.notify("account", address.toString(), changed("accountNotification", { context: { slot }, value }));
      }
  };
  const begin = () => {
    const { slot } = chain;
    const notice = changed("slotNotification", { slot, parent: slot - 1, root: slot - 32 });
    const { slot: named, parent, root } = notice as Record<string, unknown>;
    if ([named, parent, root].every((one) => Number.isSafeInteger(one)))
      inner.slot(BigInt(named as number), BigInt(parent as number), BigInt(root as number));
  };
  /** What a notice cannot be decoded for is lost. */
  const attempt = (work: () => void) => {
    try {
      work();
    } catch {}
  };
  return {
    ...inner,
    doubt() {
      inner.lose();
      node = (node + 1) % changes.length;
      return changes.length > 1;
    },
    send() {
      attempt(send);
      attempt(begin);
      inner.activate();
    },
  };
}

/** What the service knows of a chain, over nodes and their streams of which one may lie in any field. */
export async function startLyingNodeWorld({ nodes, slotMs }: { readonly nodes: number; readonly slotMs: number }) {
  const chain = new PacedChain(slotMs);
  const mutators = new Map<number, Mutator>();
  const changes = Array.from({ length: nodes }, (_, node): Changes => {
    return (method, result) => mutators.get(node)?.mutate(method, result) ?? result;
  });
  const subscriptions = streamOf(chain, changes);
  const timer = setInterval(() => {
    chain.slot += 1;
    subscriptions.send();
  }, slotMs);
  const [now, warn] = [Date.now, () => {}];
  const endpoints = changes.map((change, node) => endpointOf(`node ${node}`, chain, () => change));
  const pool = createRpcPool({ endpoints, now, warn });
  const ages = { maxAgeMs: 3_000, clockMaxAgeMs: STATE_MAX_AGE_MS };
  const starting = createChainHead({ pool, subscriptions, now, monotonicMs: () => performance.now(), warn, ...ages });
  await vi.advanceTimersByTimeAsync(2_000);
  const head = await starting;
  const isCredible = (slot: bigint) => head.isCredible(slot);
  const source = createRpcStateSource({
    reader: createAccountReader({ pool, commitment: "processed", isCredible }),
    witnesses: stateWitnesses(pool, { trusted: undefined, isCredible }),
    headSlot: () => head.slot(),
    slotByNodes: () => head.slotByNodes(),
    ...{ subscriptions, commitment: "processed", now, warn },
  });
  const known = new Map<Address, Account | null | undefined>();
  source.onAccount((address, account) => void known.set(address, account));
  const following = source.follow(ACCOUNTS);
  for (const account of ACCOUNTS) source.recordOf!(account)!.isLasting = true;
  await vi.advanceTimersByTimeAsync(500);
  await following;
  const isWhole = (account: Account | null | undefined) =>
    account?.owner === TOKEN_PROGRAM && account.data.length === TOKEN_ACCOUNT_BYTES;
  return {
    /** Lets a node lie in that share of its answers and notices; undefined: it is honest again. */
    lie(node: number, plan: { readonly seed: number; readonly share: number } | undefined) {
      if (plan === undefined) mutators.delete(node);
      else mutators.set(node, new Mutator({ ...plan, methods: "all" }));
    },
    /** Why nothing could be built on all of the accounts now; undefined if it could. */
    refusal(): string | undefined {
      source.use(ACCOUNTS);
      if (head.fault() !== undefined) return head.fault();
      if (head.silenceMs() > STATE_MAX_AGE_MS) return "silence";
      if (source.contested().size > 0) return "contested";
      if (ACCOUNTS.some((one) => Date.now() - source.currentAtMs(one) > STATE_MAX_AGE_MS)) return "old state";
      return ACCOUNTS.every((one) => isWhole(known.get(one))) ? undefined : "gone";
    },
    close() {
      source.close();
      head.close();
      clearInterval(timer);
    },
  };
}
