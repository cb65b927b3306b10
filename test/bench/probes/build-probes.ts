/** What a batch of builds is of. */
export const BUILD_PROBE_NAMES = [
  "hash",
  "onePair",
  "spread",
  "updated",
  "oneMarket",
  "many",
  "manyOneUpdate",
  "oneAfterUpdates",
  "manyAllUpdated",
  "manyUpdate",
  "foundMany",
  "foundThousand",
] as const;

export type BuildProbe = (typeof BUILD_PROBE_NAMES)[number];

/** Asks for one batch. `bytes`: measures allocations in place of time. */
export interface BuildQuestion {
  readonly probe: BuildProbe;
  readonly bytes?: boolean;
}
