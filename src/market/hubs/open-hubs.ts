import { HUB_MINTS } from "../../solana/hub-mints.ts";
import { SOL_MINT } from "../../solana/programs.ts";
import type { MintPair } from "../../venues/venue.ts";
import type { HubChoice, Markets } from "../port.ts";
import type { WatchedPairs } from "../watched-pairs.ts";
import type { FoundHubs } from "./found-hubs.ts";

interface OpenHubsOptions {
  readonly pairs: WatchedPairs;
  readonly found: FoundHubs;
  readonly knownMarkets: Markets["knownMarkets"];
}

/** How long a hub is remembered as leading nowhere, unless a market is found: each check keeps its pairs in use. Milliseconds. */
const REMEMBERED_MS = 1_000;

/**
 * The hubs of a trade without those that lead nowhere: most tokens trade only against SOL, and checking their pairs with every hub costs a
 * twentieth of a build. Only for trades for SOL: in others, the pairs with SOL price lamports.
 */
export class OpenHubs {
  readonly #options: OpenHubsOptions;

  constructor(options: OpenHubsOptions) {
    this.#options = options;
  }

  /** The hubs of a trade, from memory. */
  hubsOf(pair: MintPair): HubChoice {
    const { pairs, found } = this.#options;
    const direct = pairs.of(pair.a, pair.b);
    const { filled } = pairs;
    const { measurements } = found;
    const kept = direct.hubs;
    const isKept = kept !== undefined && kept.filled === filled && kept.measurements === measurements;
    // A trade has just asked for the pair: that time is recent enough.
    const atMs = direct.lastUsedMs;
    if (isKept && atMs < kept.untilMs) return kept.choice;
    const choice = this.#openOf(pair, found.hubsOf(pair));
    const untilMs = atMs + REMEMBERED_MS;
    if (kept === undefined) direct.hubs = { choice, filled, measurements, untilMs };
    else {
      kept.choice = choice;
      kept.filled = filled;
      kept.measurements = measurements;
      kept.untilMs = untilMs;
    }
    return choice;
  }

  #openOf(pair: MintPair, choice: HubChoice): HubChoice {
    const { a, b } = pair;
    if (!choice.isKnown || choice.mints !== HUB_MINTS || (a !== SOL_MINT && b !== SOL_MINT)) return choice;
    const isOpen = HUB_MINTS.some((hub) => hub !== a && hub !== b && !(this.#isEmpty(a, hub) || this.#isEmpty(hub, b)));
    return isOpen ? choice : NONE;
  }

  /** True if the pair of a mint and a hub was searched and has no market. Starts no search itself: searches count against a caller. */
  #isEmpty(a: MintPair["a"], b: MintPair["b"]): boolean {
    const { pairs, knownMarkets } = this.#options;
    const pair = pairs.of(a, b);
    if (!pair.schedule.hasSearched || !pair.isEmpty) return false;
    const known = knownMarkets({ a, b });
    return known !== undefined && known !== "late" && known.withheld === undefined;
  }
}

const NONE: HubChoice = { mints: [], isKnown: true };
