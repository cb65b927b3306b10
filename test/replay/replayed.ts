/** Where a figure was taken from. */
export interface Source {
  readonly repository: string;
  readonly commit: string;
  readonly path: string;
  /** Licence of the repository. */
  readonly licence: string;
}

/** A trade that happened on mainnet beside our quote of it, each as one comparable text. Base units. */
export interface Replayed {
  readonly venue: string;
  /** Signature of the transaction; a note instead if the source does not say it. */
  readonly signature: string;
  readonly source: Source;
  readonly happened: string;
  readonly quoted: string;
  /** Why the two may differ; undefined if they must not. */
  readonly explained: string | undefined;
}
