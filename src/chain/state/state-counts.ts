/** Events of followed state since the start, for metrics. */
export interface StateCounts {
  readonly notices: number;
  /** Accounts read across the network. */
  readonly reads: number;
  /** Times the chain turned to another branch, and times slots were found missing. */
  readonly forks: number;
  readonly gaps: number;
  /** Notices and answers discarded because their slots cannot exist yet. */
  readonly disbelieved: number;
  /** Reads compared with the stream's state of the same slot, and those that differed (the goal is none). */
  readonly audited: number;
  readonly auditDifferences: number;
  /** Accounts compared between nodes, and times that a node contradicted the known state or the others. */
  readonly compared: number;
  readonly contradicted: number;
}

/** The counters; each part of the state source adds to its own. */
export type StateCounters = { -readonly [Name in keyof StateCounts]: number };

/** Counters at zero. */
export function createStateCounters(): StateCounters {
  return {
    notices: 0,
    reads: 0,
    forks: 0,
    gaps: 0,
    disbelieved: 0,
    audited: 0,
    auditDifferences: 0,
    compared: 0,
    contradicted: 0,
  };
}
