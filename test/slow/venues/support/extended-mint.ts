import type { Address } from "../../../../src/primitives/address.ts";
import { concatBytes } from "../../../../src/primitives/bytes.ts";
import type { Svm } from "../../../support/svm.ts";

/** Token-2022 extensions that leave transfers as they are, by number and size. @see spl-token-2022 `extension/mod.rs`, enum ExtensionType */
const HARMLESS = [
  [18, 64],
  [19, 300],
  [3, 32],
  [12, 32],
  [20, 64],
  [22, 64],
  [21, 72],
  [23, 72],
  [10, 52],
] as const;
const MOST_EXTENSIONS = HARMLESS.length;
/** How many extensions beside a transfer fee are tried. */
export const EXTENSION_COUNTS: readonly number[] = [1, 2, 4, MOST_EXTENSIONS];

const MINT_SIZE = 82;
const TYPE_OFFSET = 165;

/** Gives a Token-2022 mint this many further extensions, behind its transfer fee if it has one. */
export function extendMint(svm: Svm, mint: Address, count: number): void {
  appendExtensions(
    svm,
    mint,
    HARMLESS.slice(0, count).map(([type, length]) => [type, new Uint8Array(length)]),
  );
}

/** Gives a Token-2022 mint further extensions: their types, and their values. */
export function appendExtensions(
  svm: Svm,
  mint: Address,
  extensions: readonly (readonly [number, Uint8Array])[],
): void {
  const { data, owner } = svm.get(mint)!;
  const entries = extensions.map(([type, value]) => {
    const entry = new Uint8Array(4 + value.length);
    new DataView(entry.buffer).setUint16(0, type, true);
    new DataView(entry.buffer).setUint16(2, value.length, true);
    entry.set(value, 4);
    return entry;
  });
  const head = data.length > TYPE_OFFSET ? data : new Uint8Array(TYPE_OFFSET + 1);
  head.set(data.subarray(0, MINT_SIZE));
  head[TYPE_OFFSET] = 1;
  svm.setAccount({ address: mint, owner, data: concatBytes(head, ...entries) });
}

/** Gives a Token-2022 token account the extensions that an associated one has: an immutable owner, behind its transfer fee. */
export function asAssociated(svm: Svm, account: Address): void {
  const { data, owner } = svm.get(account)!;
  const head = data.length > TYPE_OFFSET ? data : concatBytes(data, Uint8Array.of(2));
  svm.setAccount({ address: account, owner, data: concatBytes(head, Uint8Array.of(7, 0, 0, 0)) });
}
