import type { Address } from "../primitives/address.ts";
import { viewOf } from "../primitives/bytes.ts";
import type { Account } from "../solana/account.ts";

/**
 * What tests, benches, scripts and pages state about a venue, in `facts.ts` of its folder. The service itself never reads it.
 */
export interface VenueFacts {
  /** The price curve of the venue's sample market, for test titles. */
  readonly curve: string;
  /** Parts of the program that the venue models. */
  readonly modelled: string;
  /** How exact output is made. */
  readonly exactOut: string;
  /** What quotes were compared with. */
  readonly proof: string;
  /** What is not certain. */
  readonly uncertain: string;
  /** Figures of the last `npm run venues:report`; undefined if no build of the program is public. */
  readonly measured: RunFigures | undefined;
  /** Lists in the folder's `known-configs.ts` that can be read from a node. */
  readonly lists?: readonly ConfigList[];
}

/** What seeded trades on the venue's own program came to. */
export interface RunFigures {
  readonly trades: number;
  /** Trades whose quoted and executed amounts differ. */
  readonly mismatches: number;
  /** Most compute units a trade used. */
  readonly maxUnits: number;
  /** Largest ratio of the promised bound of compute units to those used. */
  readonly worstUnitRatio: number;
  /** Largest transaction in bytes. */
  readonly maxBytes: number;
}

/** One list in `known-configs.ts`, and the accounts on the chain that it repeats. */
export interface ConfigList {
  /** Name of the exported constant. */
  readonly constant: string;
  /** `count`: one number, one above the largest index. */
  readonly shape: "list" | "count";
  readonly program: Address;
  readonly kinds: readonly ConfigKind[];
}

/** Accounts of a program that belong to a list: those with these bytes at these places. */
export interface ConfigKind {
  readonly discriminator: string;
  readonly memcmp?: readonly { readonly offset: number; readonly bytes: Uint8Array }[];
  /** What the list holds of an account, and its place in the list. */
  readonly entry: (account: Account) => { readonly value: string | number; readonly order: bigint };
}

/** The key of a configuration that anyone may use. */
export const NOBODY = new Uint8Array(32);

/** A list entry that is a 16-bit index in the account. */
export function u16Entry(offset: number): ConfigKind["entry"] {
  return ({ data }) => {
    const value = viewOf(data).getUint16(offset, true);
    return { value, order: BigInt(value) };
  };
}
