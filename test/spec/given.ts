import type { Answer, Json, StartedService } from "./started-service.ts";
import type { Trader } from "./trader.ts";

/** The SOL mint of the reference. */
export const SOL = "So11111111111111111111111111111111111111112";
export const PRIORITIES = ["economy", "fast", "faster", "fastest"] as const;

/** Where the checks begin: a started service, a funded wallet, and one trade of every kind, built and submitted. */
export interface Given {
  readonly service: StartedService;
  /** Another one, with short slots and short idle times. */
  readonly swift: StartedService;
  readonly trader: Trader;
  /** A token of the embedded chain that trades for SOL. */
  readonly mint: string;
  readonly buy: Done;
  readonly sell: Done;
  readonly exactIn: Done;
  readonly exactOut: Done;
}

/** One trade: what was asked, what the build answered, what the submit answered, and when. */
export interface Done {
  readonly request: Json;
  readonly build: Answer;
  readonly builtAtMs: number;
  readonly answeredAtMs: number;
  readonly result: Answer;
  readonly submitMs: number;
  readonly lamportsBefore: number;
  readonly lamportsAfter: number;
}

export const BUY = { solAmount: 0.1, slippage: 0.05, priority: "fast" } as const;
export const SELL = { tokenAmount: 1.5, slippage: 0.05, priority: "fast" } as const;
export const SWAP = { slippage: 0.05, priority: "fast" } as const;

/** Everything an object has, without one field. */
export function without<T extends object>(value: T, field: keyof T): Partial<T> {
  const { [field]: _, ...rest } = value;
  return rest as Partial<T>;
}
