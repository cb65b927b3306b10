/** An account as it crosses to the shadow process. */
export interface SentAccount {
  readonly address: Uint8Array;
  readonly owner: Uint8Array;
  readonly lamports: bigint;
  readonly data: Uint8Array;
  readonly executable: boolean;
  readonly slot: bigint;
}

/** An order to check one market: its quotes against the execution of the deployed programs. */
export interface CheckOrder {
  readonly kind: "check";
  /** Id of the venue. */
  readonly venue: string;
  readonly market: Uint8Array;
  /** The mints the market was found for. */
  readonly pair: readonly [Uint8Array, Uint8Array];
  readonly accounts: readonly SentAccount[];
  /** Addresses at which there is no account. */
  readonly missing: readonly Uint8Array[];
  /** The deployment slot of each program known. */
  readonly programs: readonly { readonly id: Uint8Array; readonly slot: bigint }[];
  readonly clock: { readonly slot: bigint; readonly epoch: bigint; readonly unixTimestamp: bigint };
  readonly rentLamportsPerByte: bigint;
  /** Differs from check to check: varies the amounts. */
  readonly turn: number;
  /** A routine check, made only if the budget of processor time allows. */
  readonly isRoutine: boolean;
}

/** Gives the code of a program. */
interface ProgramOrder {
  readonly kind: "program";
  readonly id: Uint8Array;
  readonly slot: bigint;
  readonly isUpgradeable: boolean;
  readonly code: Uint8Array;
}

/** Asks which features the runtime knows, or names those that the cluster has activated. */
type FeatureOrder =
  | { readonly kind: "listFeatures" }
  | { readonly kind: "features"; readonly active: readonly Uint8Array[] };

export type ShadowOrder = CheckOrder | ProgramOrder | FeatureOrder;

/** What executing the deployed programs showed of a market. */
export interface CheckedAnswer {
  readonly kind: "checked";
  /** Trades executed. */
  readonly samples: number;
  /** What differs between our quotes and the execution, with the numbers; empty if nothing does. */
  readonly differences: readonly string[];
  /** How many of them were executed in their lean form too: the first of each direction and mode that has one. */
  readonly leanSamples: number;
  /** What differs, or fails, of the first of those in that form; undefined if nothing does. */
  readonly leanDifference: string | undefined;
  /** True if something does, but nothing in trades that leave out arrays alone: the program refuses its older instructions. */
  readonly isOlderAlone: boolean;
  /** Programs that ran. */
  readonly programs: readonly Uint8Array[];
  /** Largest ratio of compute units used to the bound of the table. */
  readonly unitsRatio: number;
  readonly maxUnits: number;
}

export type ShadowAnswer =
  | CheckedAnswer
  /** The check needs these first. */
  | { readonly kind: "lacks"; readonly accounts: readonly Uint8Array[]; readonly programs: readonly Uint8Array[] }
  /** The market cannot be checked, which says nothing about its quotes. */
  | { readonly kind: "unable"; readonly reason: string }
  /** The budget of processor time is spent. */
  | { readonly kind: "busy" }
  | { readonly kind: "done" }
  | { readonly kind: "features"; readonly ids: readonly Uint8Array[] };

/** An order or answer with the number that joins the two. */
export interface Numbered<T> {
  readonly id: number;
  readonly body: T;
}
