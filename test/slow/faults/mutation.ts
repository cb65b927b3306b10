import bs58 from "bs58";
import { createRandom, type Random } from "../../../src/primitives/random.ts";

type Json = null | boolean | number | string | Json[] | { [field: string]: Json };
type Holder = { [field: string]: Json };

/** What a lying node does to its answers. */
export interface MutationPlan {
  readonly seed: number;
  /** Share of the answers and notices that are changed. */
  readonly share: number;
  /** Methods whose answers are changed; "all" also changes notices. */
  readonly methods: readonly string[] | "all";
}

/** Methods that say how a transaction ended. */
export const OUTCOME_METHODS = [
  "getSignatureStatuses",
  "getTransaction",
  "getSignaturesForAddress",
  "getEpochInfo",
  "isBlockhashValid",
  "sendTransaction",
] as const;

const ERRORS: readonly Json[] = [
  { InstructionError: [2, { Custom: 6005 }] },
  { InstructionError: [3, { Custom: 1 }] },
  "AccountInUse",
  { InsufficientFundsForRent: { account_index: 0 } },
];
const SLOTS = new Set(["slot", "absoluteSlot", "blockHeight", "lastValidBlockHeight", "parent", "root"]);
const BALANCES = new Set(["lamports", "fee", "amount"]);
const BALANCE_LISTS = new Set(["preBalances", "postBalances"]);
const HUGE_CHARACTERS = 1024 * 1024;
const NESTED = 2_000;

/** Changes answers of a node by a plan: the same seed changes the same calls in the same way. */
export class Mutator {
  readonly #plan: MutationPlan;
  readonly #random: Random;
  /** Answers and notices changed so far. */
  changed = 0;

  constructor(plan: MutationPlan) {
    this.#plan = plan;
    this.#random = createRandom(plan.seed);
  }

  /** True if notices are changed too. */
  get changesNotices(): boolean {
    return this.#plan.methods === "all";
  }

  /** The result of a call, changed or not. */
  mutate(method: string, result: unknown): unknown {
    const { methods, share } = this.#plan;
    if (methods !== "all" && !methods.includes(method)) return result;
    if (!this.#random.chance(share)) return result;
    this.changed += 1;
    return this.#random.pick(KINDS)(structuredClone(result) as Json, this.#random);
  }
}

type Kind = (value: Json, random: Random) => Json;

/** Every place in a value, with the object or list that holds it. */
function* places(value: Json): Generator<{ holder: Holder; field: string; value: Json }> {
  if (typeof value !== "object" || value === null) return;
  for (const [field, held] of Object.entries(value)) {
    yield { holder: value as Holder, field, value: held };
    yield* places(held);
  }
}

/** Changes every place that is wanted. */
function changeAll(value: Json, isWanted: (field: string, held: Json) => boolean, change: (held: Json) => Json): Json {
  for (const { holder, field, value: held } of [...places(value)])
    if (isWanted(field, held)) holder[field] = change(held);
  return value;
}

/** Changes one leaf, or the value itself if it has none. */
function changeOne(value: Json, random: Random, change: (held: Json) => Json): Json {
  const leaves = [...places(value)].filter(({ value: held }) => typeof held !== "object" || held === null);
  if (leaves.length === 0) return change(value);
  const { holder, field, value: held } = random.pick(leaves);
  holder[field] = change(held);
  return value;
}

const scaled = (held: Json, factor: number): Json => {
  if (typeof held === "number") return Math.floor(held * factor);
  if (typeof held === "string" && /^\d+$/.test(held)) return `${Math.floor(Number(held) * factor)}`;
  return held;
};

/** An account's data with the amount of a token account changed. */
const scaledData = (held: Json, factor: number): Json => {
  const data = Buffer.from(String((held as Json[])[0]), "base64");
  if (data.length < 165) return held;
  const amount = Number(data.readBigUInt64LE(64)) * factor;
  data.writeBigUInt64LE(BigInt(Math.min(Math.floor(amount), Number.MAX_SAFE_INTEGER)), 64);
  return [data.toString("base64"), "base64"];
};

const isData = (field: string, held: Json) => field === "data" && Array.isArray(held) && held[1] === "base64";

const KINDS: readonly Kind[] = [
  // An error added, and removed.
  (value, random) =>
    changeAll(
      value,
      (field, held) => field === "err" && held === null,
      () => random.pick(ERRORS),
    ),
  (value) =>
    changeAll(
      value,
      (field) => field === "err",
      () => null,
    ),
  // Balances halved and doubled.
  (value, random) => {
    const factor = random.pick([0.5, 2]);
    changeAll(
      value,
      (field) => BALANCES.has(field),
      (held) => scaled(held, factor),
    );
    changeAll(value, isData, (held) => scaledData(held, factor));
    return changeAll(
      value,
      (field, held) => BALANCE_LISTS.has(field) && Array.isArray(held),
      (held) => (held as Json[]).map((one) => scaled(one, factor)),
    );
  },
  // A commitment raised.
  (value) => {
    changeAll(
      value,
      (field) => field === "confirmations",
      () => null,
    );
    return changeAll(
      value,
      (field) => field === "confirmationStatus",
      () => "finalized",
    );
  },
  // Everything denied.
  (value) => {
    if (Array.isArray(value)) return [];
    if (typeof value === "object" && value !== null && Array.isArray(value.value))
      return { ...value, value: value.value.map(() => null) };
    return null;
  },
  // Slots and heights moved.
  (value, random) => {
    const shift = random.pick([-200, -3, 1, 3, 30, 200]);
    return changeAll(
      value,
      (field, held) => SLOTS.has(field) && typeof held === "number",
      (held) => Math.max(0, (held as number) + shift),
    );
  },
  // Foreign blockhashes, owners, mints.
  (value, random) =>
    changeAll(
      value,
      (field) => ["blockhash", "recentBlockhash", "owner", "mint", "previousBlockhash"].includes(field),
      () => bs58.encode(random.bytes(32)),
    ),
  // Accounts, statuses and the like swapped among each other.
  (value) =>
    changeAll(
      value,
      (_field, held) => Array.isArray(held) && held.length > 1,
      (held) => (held as Json[]).toReversed(),
    ),
  // One leaf missing, of another type, nested, huge, or another number.
  (value, random) => changeOne(value, random, () => null),
  (value, random) => changeOne(value, random, (held) => (typeof held === "string" ? 7 : "seven")),
  (value, random) => changeOne(value, random, () => nested()),
  (value, random) => changeOne(value, random, () => "x".repeat(HUGE_CHARACTERS)),
  (value, random) =>
    changeOne(value, random, (held) =>
      typeof held === "boolean" ? !held : scaled(held, random.pick([0, 0.5, 1.000001, 2, 1_000_000])),
    ),
];

function nested(): Json {
  let value: Json = [];
  for (let depth = 0; depth < NESTED; depth++) value = [value];
  return value;
}
