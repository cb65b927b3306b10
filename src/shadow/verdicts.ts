import type { Address } from "../primitives/address.ts";
import type { CheckResult } from "./check-run.ts";

/** What running a market's program has shown. */
export type MarketFinding =
  /** Not checked yet, or it cannot be. */
  | { readonly kind: "unchecked"; readonly reason: string | undefined }
  | { readonly kind: "agrees" }
  | { readonly kind: "differs"; readonly reason: string }
  /** A program that it runs on was replaced since the last check. */
  | { readonly kind: "replaced"; readonly reason: string };

/** How a market is backed by execution, for callers. */
interface ExecutionBacking {
  /** Slot of the newest deployment among its programs; undefined before the first check. */
  readonly programSlot: bigint | undefined;
  /** Slot of its last check; undefined before the first. */
  readonly shadowSlot: bigint | undefined;
  /** True if the last check, on the programs deployed now, agreed. */
  readonly checked: boolean;
}

/** The older instructions alone, or the leaving out of arrays too. */
type LeanRefusal = "older" | "all";

/** What trades make of it. */
export interface MarketStanding {
  readonly backing: ExecutionBacking;
  /** Why no trade is offered on it; undefined if trades are. */
  readonly withheld: string | undefined;
  /** Factor on the table's compute bound: above 1 if the deployed program takes more. */
  readonly unitsScale: number;
  /** Which leaner forms of trades the deployed program refuses, or makes others of; undefined if none. */
  readonly refusesLean: LeanRefusal | undefined;
}

/** Checked markets of a venue from which on most of them decide over all. */
const LEAST_FOR_VENUE = 3;
/** Added to a measured excess over the table: other trades may take still more. */
const SCALE_MARGIN = 1.05;

/** One market's findings. */
export class MarketRecord {
  readonly venueId: string;
  finding: MarketFinding = { kind: "unchecked", reason: undefined };
  #programSlot: bigint | undefined;
  #shadowSlot: bigint | undefined;
  /** Largest ratio of use to the table's bound on the programs that are deployed now. */
  #unitsRatio = 0;
  #builds: ReadonlyMap<Address, bigint> = new Map();
  #refusesLean: LeanRefusal | "none" | undefined;
  #leanDifference: string | undefined;

  constructor(venueId: string) {
    this.venueId = venueId;
  }

  get unitsRatio(): number {
    return this.#unitsRatio;
  }

  /** Which lean trades differed or failed when they were last executed; undefined if they were not on these builds. */
  get refusesLean(): LeanRefusal | "none" | undefined {
    return this.#refusesLean;
  }

  /** How lean trades differed, or failed. */
  get leanDifference(): string | undefined {
    return this.#leanDifference;
  }

  get backing(): ExecutionBacking {
    return {
      programSlot: this.#programSlot,
      shadowSlot: this.#shadowSlot,
      checked: this.finding.kind === "agrees",
    };
  }

  /**
   * Takes over what a landed trade used, as a ratio to its bound: at most the margin above 1, or it would not have landed. So
   * one who makes trades on a market dearer between build and landing raises its limits by no more than that.
   *
   * @returns true if limits grow by it
   */
  noteUse(unitsRatio: number): boolean {
    if (unitsRatio <= Math.max(1, this.#unitsRatio)) return false;
    this.#unitsRatio = unitsRatio;
    return true;
  }

  /** Takes over a finished check. */
  note(result: Extract<CheckResult, { kind: "checked" }>): void {
    const isSameBuild =
      result.builds.size === this.#builds.size &&
      [...result.builds].every(([id, slot]) => this.#builds.get(id) === slot);
    this.#unitsRatio = Math.max(isSameBuild ? this.#unitsRatio : 0, result.unitsRatio);
    this.#builds = result.builds;
    this.#programSlot = [...result.builds.values()].reduce((newest, slot) => (slot > newest ? slot : newest), 0n);
    this.#shadowSlot = result.slot;
    if (result.leanSamples > 0) this.#refusesLean = refusalIn(result);
    else if (!isSameBuild) this.#refusesLean = undefined;
    if (result.leanSamples > 0 || !isSameBuild) this.#leanDifference = result.leanDifference;
    this.finding =
      result.differences.length === 0
        ? { kind: "agrees" }
        : { kind: "differs", reason: `differs from the deployed program: ${result.differences.join(" | ")}` };
  }
}

function refusalIn({ leanDifference, isOlderAlone }: Extract<CheckResult, { kind: "checked" }>): LeanRefusal | "none" {
  if (leanDifference === undefined) return "none";
  return isOlderAlone ? "older" : "all";
}

type FindingCounts = Readonly<Record<MarketFinding["kind"], number>>;

/** One venue's markets, and the verdict they add up to. */
interface VenueRecord {
  readonly records: Set<MarketRecord>;
  counts: FindingCounts;
  /** Why the venue as a whole should not be traded on. */
  reason: string | undefined;
  unitsRatio: number;
  /** Which lean trades the program is known to refuse on one of them. */
  refusesLean: LeanRefusal | undefined;
}

const NO_COUNTS: FindingCounts = { unchecked: 0, agrees: 0, differs: 0, replaced: 0 };

/** The findings of all markets, and what follows from them for a venue as a whole. */
export class Verdicts {
  readonly #venues = new Map<string, VenueRecord>();
  readonly #isGuarding: boolean;

  /** @param isGuarding false: nothing is withheld, all is reported */
  constructor(isGuarding: boolean) {
    this.#isGuarding = isGuarding;
  }

  add(record: MarketRecord): void {
    const venue = this.#venues.get(record.venueId) ?? {
      records: new Set(),
      counts: NO_COUNTS,
      reason: undefined,
      unitsRatio: 0,
      refusesLean: undefined,
    };
    venue.records.add(record);
    this.#venues.set(record.venueId, venue);
    countOne(venue, record, 1);
  }

  /** @returns as `settle` */
  delete(record: MarketRecord): boolean {
    const venue = this.#venues.get(record.venueId);
    if (venue?.records.delete(record) !== true) return false;
    // It may have been the one that its venue's limits, or what it refuses, came from.
    if (record.unitsRatio > 1 || (record.refusesLean ?? "none") !== "none") return this.settle(record.venueId);
    const { reason } = venue;
    countOne(venue, record, -1);
    return (venue.reason === undefined) !== (reason === undefined);
  }

  /** Counts a venue's findings again. @returns true if that changes what is offered of its other markets */
  settle(venueId: string): boolean {
    const venue = this.#venues.get(venueId);
    if (venue === undefined) return false;
    const { reason, refusesLean } = venue;
    const counts = { ...NO_COUNTS };
    let unitsRatio = 0;
    let refused: LeanRefusal | undefined;
    for (const record of venue.records) {
      counts[record.finding.kind] += 1;
      unitsRatio = Math.max(unitsRatio, record.unitsRatio);
      // Refusals of a replaced build do not apply to the next one.
      if (record.finding.kind === "replaced" || record.refusesLean === "none") continue;
      refused = refused === "all" ? refused : (record.refusesLean ?? refused);
    }
    venue.refusesLean = refused;
    const hasMore = unitsRatio > 1 && unitsRatio !== venue.unitsRatio;
    venue.counts = counts;
    venue.unitsRatio = unitsRatio;
    venue.reason = reasonAgainst(counts);
    return hasMore || venue.refusesLean !== refusesLean || (venue.reason === undefined) !== (reason === undefined);
  }

  standingOf(record: MarketRecord): MarketStanding {
    return {
      backing: record.backing,
      withheld: this.#isGuarding ? this.reasonAgainst(record) : undefined,
      unitsScale: this.#isGuarding ? this.#unitsScaleOf(record) : 1,
      refusesLean: this.#isGuarding ? this.#refusesLean(record) : undefined,
    };
  }

  /** Why trades on the market should not be offered, whether or not they are. */
  reasonAgainst({ venueId, finding }: MarketRecord): string | undefined {
    if (finding.kind === "differs" || finding.kind === "replaced") return finding.reason;
    return this.reasonAgainstVenue(venueId);
  }

  /** Why a venue as a whole should not be traded on: most of its checked markets differ. */
  reasonAgainstVenue(venueId: string): string | undefined {
    return this.#venues.get(venueId)?.reason;
  }

  /** How many markets of a venue have each finding. */
  countsOf(venueId: string): FindingCounts {
    return this.#venues.get(venueId)?.counts ?? NO_COUNTS;
  }

  /** Venues that had live markets. */
  venueIds(): Iterable<string> {
    return this.#venues.keys();
  }

  /** The program of a market on which lean trades were not executed may refuse them as on others of its venue. */
  #refusesLean({ venueId, refusesLean }: MarketRecord): LeanRefusal | undefined {
    return refusesLean === "none" ? undefined : (refusesLean ?? this.#venues.get(venueId)?.refusesLean);
  }

  /** A market that was not measured may take as much as the others of its venue. */
  #unitsScaleOf({ venueId, unitsRatio }: MarketRecord): number {
    const ratio = unitsRatio > 0 ? unitsRatio : (this.#venues.get(venueId)?.unitsRatio ?? 0);
    return ratio > 1 ? ratio * SCALE_MARGIN : 1;
  }
}

/** Counts a market that comes or goes: to count all of its venue again for each takes milliseconds if there are tens of thousands. */
function countOne(venue: VenueRecord, { finding: { kind } }: MarketRecord, change: 1 | -1): void {
  venue.counts = { ...venue.counts, [kind]: venue.counts[kind] + change };
  venue.reason = reasonAgainst(venue.counts);
}

function reasonAgainst({ agrees, differs }: FindingCounts): string | undefined {
  const checked = agrees + differs;
  if (checked < LEAST_FOR_VENUE || 2 * differs <= checked) return undefined;
  return `${differs} of the ${checked} checked markets of its venue differ from the deployed program`;
}
