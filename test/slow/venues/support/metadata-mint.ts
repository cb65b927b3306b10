import type { Address } from "../../../../src/primitives/address.ts";
import type { NewMint, Svm } from "../../../support/svm.ts";

/** Token-2022 extension numbers and sizes: a metadata pointer, and metadata of a common length. */
const METADATA = [
  [18, 64],
  [19, 210],
] as const;

/** A mint that may carry metadata, as most Token-2022 coins do. */
export interface NewTradedMint extends NewMint {
  readonly metadata?: boolean;
}

/** Writes the mint, and behind its other extensions empty metadata where asked for. */
export function newTradedMint(svm: Svm, mint: NewTradedMint): Address {
  const address = svm.newMint(mint);
  if (mint.metadata !== true) return address;
  const account = svm.get(address)!;
  const start = Math.max(account.data.length, 166);
  const data = new Uint8Array(start + METADATA.reduce((sum, [, length]) => sum + 4 + length, 0));
  const view = new DataView(data.buffer);
  data.set(account.data);
  data[165] = 1;
  let at = start;
  for (const [type, length] of METADATA) {
    view.setUint16(at, type, true);
    view.setUint16(at + 2, length, true);
    at += 4 + length;
  }
  return svm.setAccount({ address, owner: account.owner, data });
}
