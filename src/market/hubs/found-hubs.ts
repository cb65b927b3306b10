import { type Address, compareAddresses } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import type { ChainClock } from "../../solana/account.ts";
import { HUB_MINTS } from "../../solana/hub-mints.ts";
import { SOL_MINT, TOKEN_PROGRAM, USDC_MINT } from "../../solana/programs.ts";
import type { MintPair } from "../../venues/venue.ts";
import type { HubChoice, Markets, SearchCaller } from "../port.ts";
import type { Neighbours } from "./neighbours.ts";
import { offeredBy } from "./offered.ts";

interface FoundHubsOptions {
  readonly neighbours: Neighbours;
  readonly markets: Pick<Markets, "marketsOf" | "mint">;
  readonly clock: () => ChainClock;
  readonly now: Now;
}

/** Hubs of one trade beside the fixed ones. */
const MOST_FOUND = 2;
/** Neighbours of a mint per measurement; the next measurement continues with others. */
const MOST_COMPARED = 4;
/** A hub offers at least this part of what all measured markets of a mint offer of it. */
const LEAST_SHARE = 50n;
/** Amount of a deepest mint (SOL or USDC) that must be for sale for a hub. Base units. */
const LEAST_DEPTH: ReadonlyMap<Address, bigint> = new Map([
  [SOL_MINT, 1_000_000_000n],
  [USDC_MINT, 100_000_000n],
]);
/** How long a measurement holds, and how long one that failed or left neighbours unmeasured. Milliseconds. */
const HOLD_MS = 300_000;
const HOLD_OPEN_MS = 30_000;
const HOLD_FAILED_MS = 5_000;
/** Longest wait of a trade for a measurement, which continues without it. Milliseconds. */
const MOST_WAIT_MS = 2_000;
/** Most concurrent measurements that nobody waits for. */
const MOST_AT_ONCE = 4;
/** Mints and hubs whose measurements are kept, and pairs of one of them with a neighbour. */
const MOST_KEPT = 10_000;
const MOST_PAIRS = 40_000;

/** The measured hubs of a mint. */
interface Measured {
  /** Neighbours that offer enough of the mint, the largest offer first. */
  readonly deep: readonly Address[];
  /** Those of them that trade deeply against SOL or USDC. */
  readonly connected: readonly Address[];
  /** The neighbour that the next measurement begins with. */
  readonly next: number;
  readonly untilMs: number;
}

const NO_MINTS: readonly Address[] = [];
const FIXED_ONLY: HubChoice = { mints: HUB_MINTS, isKnown: true };

/**
 * Chooses the hubs of trades by what is deep and live. A mint's neighbours become its hubs if they offer a fair part of it and can be
 * bought for SOL or USDC; both are measured by exact quotes on live markets, never on the warm path. One that cannot be read is left out
 * for now. Only mints of the plain Token program qualify: they have no fee or hook that could make less arrive than a market pays.
 */
export class FoundHubs {
  readonly #options: FoundHubsOptions;
  readonly #measured = new Map<Address, Measured>();
  readonly #measuring = new Map<Address, Promise<void>>();
  /** Whether a mint is deep against SOL or USDC, and until when that holds. */
  readonly #standings = new Map<Address, { readonly isDeep: boolean; readonly untilMs: number }>();
  /** By pair: the neighbour in it, whose other markets are not searched for. */
  readonly #narrow = new Map<string, Address>();
  #measurements = 0;

  constructor(options: FoundHubsOptions) {
    this.#options = options;
  }

  /** How many measurements of a mint's hubs have ended. */
  get measurements(): number {
    return this.#measurements;
  }

  /** The hubs of a trade, from memory. What is unknown or old is measured in the background. */
  hubsOf({ a, b }: MintPair): HubChoice {
    const first = this.#recall(a);
    const second = this.#recall(b);
    const isKnown = first !== undefined && second !== undefined;
    if (isKnown && first.deep.length === 0 && second.deep.length === 0) return FIXED_ONLY;
    const shared = (first?.deep ?? NO_MINTS).filter((mint) => second?.deep.includes(mint));
    const either = [first, second].flatMap((one) => one?.connected ?? NO_MINTS);
    const found = [...new Set([...shared, ...either])].filter((mint) => mint !== a && mint !== b);
    return { mints: [...HUB_MINTS, ...found.slice(0, MOST_FOUND)], isKnown };
  }

  /**
   * Measures the hubs of a trade's mints that are unknown. Waits two seconds at most and finishes in the background, so that a slow search
   * for another mint delays no trade. Never rejects: without a measurement the fixed hubs serve.
   */
  async find({ a, b }: MintPair, caller: SearchCaller | undefined): Promise<void> {
    const unknown = [a, b].filter((mint) => !isFixed(mint) && !this.#measured.has(mint));
    if (unknown.length === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, MOST_WAIT_MS);
    });
    await Promise.race([Promise.all(unknown.map((mint) => this.#measure(mint, caller))), late]);
    clearTimeout(timer);
  }

  /** Mints whose other markets a search of the pair may leave out: the deepest everywhere, and neighbours in this pair. */
  hubsIn({ a, b }: MintPair): readonly Address[] {
    const hubs = [a, b].filter((mint) => this.#standings.get(mint)?.isDeep === true);
    const neighbour = this.#narrow.get(nameOf(a, b));
    if (neighbour !== undefined) hubs.push(neighbour);
    return hubs.length === 0 ? HUB_MINTS : [...HUB_MINTS, ...hubs];
  }

  #recall(mint: Address): Measured | undefined {
    if (isFixed(mint)) return NOTHING;
    const measured = this.#measured.get(mint);
    if ((measured === undefined || measured.untilMs < this.#options.now()) && this.#measuring.size < MOST_AT_ONCE)
      void this.#measure(mint, undefined);
    return measured;
  }

  #measure(mint: Address, caller: SearchCaller | undefined): Promise<void> {
    let measuring = this.#measuring.get(mint);
    if (measuring !== undefined) return measuring;
    measuring = this.#tryMeasure(mint, caller).finally(() => this.#measuring.delete(mint));
    this.#measuring.set(mint, measuring);
    return measuring;
  }

  async #tryMeasure(mint: Address, caller: SearchCaller | undefined): Promise<void> {
    const before = this.#measured.get(mint) ?? NOTHING;
    let measured: Measured;
    try {
      measured = await this.#compare(mint, before, caller);
    } catch {
      // A node failed or the caller's budget is used up: the known result holds and is measured again soon, with other neighbours.
      measured = { ...before, next: before.next + MOST_COMPARED, untilMs: this.#options.now() + HOLD_FAILED_MS };
    }
    keep(this.#measured, mint, measured, MOST_KEPT);
    this.#measurements += 1;
  }

  async #compare(mint: Address, before: Measured, caller: SearchCaller | undefined): Promise<Measured> {
    const { neighbours, now } = this.#options;
    const all = neighbours.of(mint).filter((other) => !isFixed(other));
    const start = before.next < all.length ? before.next : 0;
    const [kept, fresh] = [before.deep, all.slice(start).filter((other) => !before.deep.includes(other))];
    const compared = [...kept, ...fresh].slice(0, MOST_COMPARED);
    const answers = await Promise.allSettled(compared.map((hub) => this.#offerOf(mint, hub, caller)));
    const offers = answers.map((one) => (one.status === "fulfilled" ? one.value : undefined));
    if (offers.length > 0 && offers.every((offered) => offered === undefined))
      throw new Error("no neighbour can be read");
    const fixed = compared.length === 0 ? [] : HUB_MINTS.map((hub) => this.#offered(mint, hub, caller));
    const total = [...offers, ...(await Promise.all(fixed))].reduce<bigint>((sum, offered = 0n) => sum + offered, 0n);
    const deep = compared
      .map((hub, index) => ({ hub, offered: offers[index] ?? 0n }))
      .filter(({ offered }) => offered > 0n && offered * LEAST_SHARE >= total)
      .sort((a, b) => (a.offered < b.offered ? 1 : a.offered > b.offered ? -1 : compareAddresses(a.hub, b.hub)))
      .map(({ hub }) => hub);
    let hasFailed = offers.includes(undefined);
    const connected: Address[] = [];
    for (const hub of deep) {
      if (connected.length === MOST_FOUND) break;
      const isDeep = await this.#isDeep(hub, caller).catch(() => undefined);
      if (isDeep === true) connected.push(hub);
      if (isDeep === undefined) hasFailed = true;
    }
    const next = start + Math.max(1, MOST_COMPARED - kept.length);
    const isOpen = !neighbours.has(mint) || (next < all.length && connected.length < MOST_FOUND);
    const holdMs = hasFailed ? HOLD_FAILED_MS : isOpen ? HOLD_OPEN_MS : HOLD_MS;
    return { deep, connected, next, untilMs: now() + holdMs };
  }

  /** What a neighbour's markets offer of a mint; 0 if trades cannot pass through it. Base units. */
  async #offerOf(mint: Address, hub: Address, caller: SearchCaller | undefined): Promise<bigint> {
    const known = await this.#options.markets.mint(hub, caller);
    if (known === null || known.program !== TOKEN_PROGRAM || known.unsupported !== undefined) return 0n;
    keep(this.#narrow, nameOf(mint, hub), hub, MOST_PAIRS);
    return this.#offered(mint, hub, caller);
  }

  async #offered(mint: Address, by: Address, caller: SearchCaller | undefined): Promise<bigint> {
    const { markets, clock } = this.#options;
    return offeredBy(await markets.marketsOf({ a: mint, b: by }, caller), by, mint, clock());
  }

  /** True if enough SOL or USDC is for sale for the mint. */
  async #isDeep(hub: Address, caller: SearchCaller | undefined): Promise<boolean> {
    const { now } = this.#options;
    const known = this.#standings.get(hub);
    if (known !== undefined && known.untilMs >= now()) return known.isDeep;
    const depths = [...LEAST_DEPTH].map(async ([mint, least]) => {
      keep(this.#narrow, nameOf(hub, mint), hub, MOST_PAIRS);
      return (await this.#offered(mint, hub, caller)) >= least;
    });
    const isDeep = (await Promise.all(depths)).includes(true);
    keep(this.#standings, hub, { isDeep, untilMs: now() + HOLD_MS }, MOST_KEPT);
    return isDeep;
  }
}

/** Of mints without hubs of their own. */
const NOTHING: Measured = { deep: [], connected: [], next: 0, untilMs: Number.POSITIVE_INFINITY };

const isFixed = (mint: Address) => HUB_MINTS.includes(mint);

/** Names a pair, in either order. */
function nameOf(a: Address, b: Address): string {
  return compareAddresses(a, b) < 0 ? `${a}:${b}` : `${b}:${a}`;
}

/** Sets an entry and drops the one set longest ago if there are too many. */
function keep<K, V>(entries: Map<K, V>, key: K, value: V, most: number): void {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size > most) entries.delete(entries.keys().next().value!);
}
