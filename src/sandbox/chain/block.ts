import { createHash } from "node:crypto";
import bs58 from "bs58";
import { textBytes, writeU64 } from "../../primitives/bytes.ts";
import { type Block, encodeBlockhash } from "./ledger.ts";

/** Mainnet left many slots empty, so heights are lower than slots. Kept apart here too, so that code cannot confuse them. */
const HEIGHT_BELOW_SLOT = 21_900_000;

/** What decides a block beside its parent. */
interface NewBlock {
  readonly slot: number;
  /** Undefined for the first block. */
  readonly parent: Block | undefined;
  /** Base58. */
  readonly genesisHash: string;
  /** Seconds since 1970 on the chain's clock. */
  readonly unixTimestamp: number;
  /** Wall clock. */
  readonly openedAtMs: number;
}

/** The hash that every chain of this seed starts from. Base58. */
export function genesisHashOf(seed: number): string {
  return encodeBlockhash(sha256(textBytes(`tradewire sandbox ${seed}`)));
}

/** An empty block. Its blockhash follows from its parent's and its slot. */
export function createBlock({ slot, parent, genesisHash, unixTimestamp, openedAtMs }: NewBlock): Block {
  const previousBlockhash = parent?.blockhash ?? genesisHash;
  const seed = new Uint8Array(40);
  seed.set(bs58.decode(previousBlockhash));
  writeU64(seed, 32, BigInt(slot));
  return {
    slot,
    parentSlot: parent?.slot ?? slot,
    height: parent === undefined ? slot - HEIGHT_BELOW_SLOT : parent.height + 1,
    blockhash: encodeBlockhash(sha256(seed)),
    previousBlockhash,
    unixTimestamp,
    openedAtMs,
    transactions: [],
    before: new Map(),
    messageHashes: [],
  };
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}
