/** A slippage that the library chose, and the service's figures behind it. Only the service's word supports these figures. */
export interface SlippageBasis {
  /** What the order goes by: `movement`, rounded up to a hundredth of a percent, at most `maxSlippage`. */
  readonly slippage: number;
  /** What the price lost at most within `spanSeconds`, the life of a blockhash, after a share of `quantile` of the samples. */
  readonly movement: number;
  readonly quantile: number;
  readonly samples: number;
  /** Time that the samples lie in. */
  readonly windowSeconds: number;
  readonly spanSeconds: number;
  /** The cap, and whether it was less than the movement: such a trade fails more often. */
  readonly maxSlippage: number;
  readonly isCapped: boolean;
}
