import type { PairMarkets } from "../../../market/port.ts";
import { compareAddresses } from "../../../primitives/address.ts";
import type { ChainClock } from "../../../solana/account.ts";
import type { Intent } from "../../intent.ts";
import { isAlive, isSameMoment, type Since } from "../bounds/life.ts";
import { type ChangedMarkets, changedMarkets } from "./changed-markets.ts";
import type { MintCrossing } from "./network.ts";

/** Findings kept per pair. */
const MOST_KEPT = 16;

/** The key of a finding, beside its size. */
interface FindingTerms {
  readonly maxLegs: number;
  readonly clock: ChainClock;
}

/** What is found for a trade's markets: kept by size while none of them changes, for some slots if time changes nothing either. */
export class KeptFindings<T> {
  readonly #byPair = new WeakMap<object, Map<number, Finding<T>>>();
  /** The last findings of a pair, for any of its states. */
  readonly #byLine = new WeakMap<object, Map<number, Finding<T>>>();
  readonly #renew: (found: T, changed: ChangedMarkets, clock: ChainClock) => T | undefined;

  /** @param renew adapts a finding to another moment, after some markets may have changed; undefined if it must be found again */
  constructor(renew: (found: T, changed: ChangedMarkets, clock: ChainClock) => T | undefined) {
    this.#renew = renew;
  }

  /** @param size the input, rounded so that trades of about that size share a finding. Base units. */
  recall(intent: Intent, crossings: readonly MintCrossing[], terms: FindingTerms, size: number, find: () => T): T {
    const { pair } = crossings[0]!;
    const key = keyOf(intent, size, terms);
    const findings = findingsOf(this.#byPair, pair);
    const kept = findings.get(key);
    if (kept !== undefined && isSameMoment(kept.checked, terms.clock) && isOf(kept.pairs, crossings)) return kept.found;
    const last = pair.line === undefined ? undefined : findingsOf(this.#byLine, pair.line);
    const finding = this.#renewed(kept ?? last?.get(key), crossings, terms.clock) ?? {
      found: find(),
      pairs: crossings.map((crossing) => crossing.pair),
      since: terms.clock,
      checked: terms.clock,
    };
    keep(findings, key, finding);
    if (last !== undefined) keep(last, key, finding);
    return finding.found;
  }

  /** An earlier finding for the markets as they are now, as old as it was. */
  #renewed(
    earlier: Finding<T> | undefined,
    crossings: readonly MintCrossing[],
    clock: ChainClock,
  ): Finding<T> | undefined {
    if (earlier === undefined || !isAlive(earlier.since, clock)) return undefined;
    const changed = changedMarkets(earlier.pairs, crossings);
    const found = changed === undefined ? undefined : this.#renew(earlier.found, changed, clock);
    if (found === undefined) return undefined;
    return { found, pairs: crossings.map(({ pair }) => pair), since: earlier.since, checked: clock };
  }
}

function findingsOf<T>(all: WeakMap<object, Map<number, Finding<T>>>, owner: object): Map<number, Finding<T>> {
  let findings = all.get(owner);
  if (findings === undefined) {
    findings = new Map();
    all.set(owner, findings);
  }
  return findings;
}

function keep<T>(findings: Map<number, Finding<T>>, key: number, finding: Finding<T>): void {
  findings.delete(key);
  if (findings.size >= MOST_KEPT) findings.delete(findings.keys().next().value!);
  findings.set(key, finding);
}

interface Finding<T> {
  readonly found: T;
  readonly pairs: readonly PairMarkets[];
  readonly since: Since;
  /** The last moment for which it was found or adapted. */
  readonly checked: ChainClock;
}

const isOf = (pairs: readonly PairMarkets[], crossings: readonly MintCrossing[]): boolean =>
  pairs.length === crossings.length && pairs.every((pair, index) => pair === crossings[index]!.pair);

/** Sizes differ by far more than the kinds of trades of one size add. Fraction. */
const KIND_STEP = 2 ** -20;

/** One number for size, legs, mode and direction, at any size that a double holds. */
function keyOf({ inMint, outMint, mode }: Intent, size: number, { maxLegs }: FindingTerms): number {
  const direction = compareAddresses(inMint.address, outMint.address) < 0 ? 0 : 1;
  const kind = (maxLegs * 2 + (mode === "exactIn" ? 0 : 1)) * 2 + direction;
  return size * (1 + kind * KIND_STEP);
}
