import { Address } from "../../primitives/address.ts";
import { readU64, viewOf } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { definePda } from "../../solana/derived-address.ts";
import { LEGACY_LOADER, UPGRADEABLE_LOADER } from "../../solana/programs.ts";
import type { DeployedProgram } from "../port.ts";
import { saidMost } from "../rpc/said-most.ts";

/** A program's code account begins with its kind, the deploy slot and the upgrade authority. */
export const CODE_HEADER_BYTES = 45;
const POINTER_BYTES = 36;
const SLOT_OFFSET = 4;
const POINTER_OFFSET = 4;
const KIND_POINTER = 2;
const KIND_CODE = 3;
const codePda = definePda(UPGRADEABLE_LOADER, "");

/** Slot in the header of a code account; undefined if it is none. */
export function deploySlotOf(data: Uint8Array): bigint | undefined {
  if (data.length < SLOT_OFFSET + 8 || viewOf(data).getUint32(0, true) !== KIND_CODE) return undefined;
  return readU64(data, SLOT_OFFSET);
}

/**
 * The deployment that a program account shows; its slot must still be read. Null if it shows none, or points to code at an address that the
 * loader does not use: no chain has such an account.
 *
 * @see https://github.com/anza-xyz/agave/blob/v2.2.0/programs/bpf_loader/src/lib.rs `DeployWithMaxDataLen`
 */
export function deploymentOf(id: Address, account: Account | null): DeployedProgram | null {
  if (account === null || !account.executable) return null;
  if (account.owner === LEGACY_LOADER) return { id, isUpgradeable: false, codeAddress: id, slot: 0n };
  const { data, owner } = account;
  if (owner !== UPGRADEABLE_LOADER || data.length < POINTER_BYTES) return null;
  if (viewOf(data).getUint32(0, true) !== KIND_POINTER) return null;
  const codeAddress = Address.from(data, POINTER_OFFSET);
  if (codeAddress !== codePda(id).address) return null;
  return { id, isUpgradeable: true, codeAddress, slot: 0n };
}

/**
 * The deployment that most nodes show. If they are divided, the latest one that can be replaced: it is followed, so that the nodes' votes
 * correct it.
 */
export function deploymentSaidMost(said: readonly (DeployedProgram | null)[]): DeployedProgram | null {
  return saidMost(said, keyOf).reduce((a, b) => (isSooner(b, a) ? b : a));
}

const keyOf = (one: DeployedProgram | null) => (one === null ? "" : `${one.isUpgradeable} ${one.slot}`);

/** True if `a` is taken before `b`. A program that cannot be replaced has slot 0. */
function isSooner(a: DeployedProgram | null, b: DeployedProgram | null): boolean {
  return a !== null && (b === null || a.slot > b.slot);
}
