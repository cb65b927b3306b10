import type { ChainOptions, GenesisAccount } from "./chain/genesis.ts";

/** An account with its addresses as bytes: what can be sent to another thread. */
export interface PlainAccount {
  readonly address: Uint8Array;
  readonly owner: Uint8Array;
  readonly lamports: bigint;
  readonly data: Uint8Array;
}

/** What the worker is started with. */
export interface SandboxWorkerData {
  readonly host: string;
  readonly port: number;
  readonly slotMs: number;
  readonly chain: Omit<ChainOptions, "now" | "genesis">;
  readonly programs: readonly { readonly id: Uint8Array; readonly bytes: Uint8Array }[];
  readonly accounts: readonly PlainAccount[];
}

/** An order to the worker. The answer carries the same `id`. */
export type SandboxCommand = { readonly id: number } & SandboxOrder;

export type SandboxOrder =
  | { readonly kind: "pause" | "resume" | "close" }
  | { readonly kind: "advanceSlots"; readonly count: number }
  | { readonly kind: "skipSlots"; readonly count: number }
  | { readonly kind: "setDrops"; readonly drops: boolean }
  | { readonly kind: "setLogLimit"; readonly bytes: number | undefined }
  | { readonly kind: "fork"; readonly depth: number }
  | { readonly kind: "setDelays"; readonly confirmedAfterSlots: number; readonly finalizedAfterSlots: number }
  | { readonly kind: "setSlotMs"; readonly slotMs: number }
  | { readonly kind: "setRent"; readonly lamportsPerByte: bigint }
  | { readonly kind: "warpClock"; readonly seconds: number }
  | { readonly kind: "setAccounts"; readonly accounts: readonly PlainAccount[] }
  | { readonly kind: "setProgram"; readonly program: Uint8Array; readonly code: Uint8Array };

/** The answer to a command; id 0 means that the worker is ready. */
export type SandboxReply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string };

/** The account as it crosses to the worker's thread. */
export function toPlainAccount({ address, owner, lamports, data }: GenesisAccount): PlainAccount {
  return { address: address.bytes, owner: owner.bytes, lamports, data };
}
