import type { Address } from "../primitives/address.ts";
import type { AccountView } from "../solana/account.ts";
import type { MintPair, Venue } from "../venues/venue.ts";
import type { LeanRefusal, MarketBacking } from "./port.ts";

/** A live market, as its judge sees it. */
export interface JudgedMarket {
  readonly venue: Venue;
  readonly address: Address;
  /** The mints it was found for. */
  readonly pair: MintPair;
  /** The accounts behind its state. */
  readonly held: Iterable<Address>;
  readonly view: AccountView;
  /** The judge's verdict about it has changed. */
  judged(): void;
}

/** A market's verdict as trades use it. */
interface MarketStanding {
  /** Undefined: nothing is checked. */
  readonly backing: MarketBacking | undefined;
  /** Why no trade is offered on it; undefined if trades are. */
  readonly withheld: string | undefined;
  /** Factor on the table's compute bound. */
  readonly unitsScale: number;
  /** Which leaner forms of trades its program does not make. */
  readonly refusesLean: LeanRefusal | undefined;
}

/** Judges live markets by running the deployed programs. Everything but `settled` answers from memory. */
export interface MarketJudge {
  /** The market has become live. A second call does nothing. */
  begin(market: JudgedMarket): void;
  /** It no longer is. */
  end(market: JudgedMarket): void;
  standingOf(market: JudgedMarket): MarketStanding;
  /** Resolves when each was judged once, or after `waitMs`. */
  settled(markets: readonly JudgedMarket[], waitMs: number): Promise<void>;
}

const UNJUDGED: MarketStanding = {
  backing: undefined,
  withheld: undefined,
  unitsScale: 1,
  refusesLean: undefined,
};

/** Judges nothing: every market is offered, none is checked. */
export const NO_JUDGE: MarketJudge = {
  begin: () => {},
  end: () => {},
  standingOf: () => UNJUDGED,
  settled: async () => {},
};
