import { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import { KeptAccount } from "../../solana/account-content.ts";
import { WireCursor } from "./wire-cursor.ts";

/** A subscription. Each one replaces the one before. */
interface SubscribeRequest {
  /** Names the filters; each update names those it passed. */
  readonly name: string;
  readonly accounts: ReadonlySet<Address> | readonly Address[];
  readonly fromSlot: bigint | undefined;
}

/** The status of a slot, by the protocol's numbers. */
export const SLOT_STATUS = {
  processed: 0,
  confirmed: 1,
  finalized: 2,
  firstShredReceived: 3,
  completed: 4,
  createdBank: 5,
  dead: 6,
} as const;

/** A version of an account, as the stream sends it; null: it was closed. */
export interface AccountUpdate {
  readonly kind: "account";
  readonly slot: bigint;
  readonly address: Address;
  readonly account: Account | null;
  readonly writeVersion: number;
  readonly bankId: bigint | undefined;
}

/** A change of a slot's standing. */
export interface SlotUpdate {
  readonly kind: "slot";
  /** The name of the request that the update was sent under. */
  readonly filter: string | undefined;
  readonly slot: bigint;
  readonly parent: bigint | undefined;
  readonly status: number;
  readonly bankId: bigint | undefined;
}

interface OtherUpdate {
  readonly kind: "ping" | "other";
}

type SubscribeUpdate = AccountUpdate | SlotUpdate | OtherUpdate;

const COMMITMENT_PROCESSED = 0;
/** Tag of `SubscribeRequestFilterAccounts.account`. */
const ADDRESS_TAG = 0x12;
const NO_DATA: Uint8Array = new Uint8Array(0);
const PING: OtherUpdate = { kind: "ping" };
const OTHER: OtherUpdate = { kind: "other" };
const FILTER_NAME = new TextDecoder();

/**
 * Encodes a subscription to accounts by address, and to every slot with each of its statuses.
 *
 * @see https://github.com/rpcpool/yellowstone-grpc geyser.proto, SubscribeRequest
 */
export function encodeSubscribeRequest({ name, accounts, fromSlot }: SubscribeRequest): Uint8Array {
  let filterBytes = 0;
  for (const address of accounts) filterBytes += 2 + address.toString().length;
  const head = new BinaryWriter();
  // A filter without accounts would pass every account.
  if (filterBytes > 0) {
    const named = new BinaryWriter().tag(1, 2).string(name).tag(2, 2).uint32(filterBytes).finish();
    head
      .tag(1, 2)
      .uint32(named.length + filterBytes)
      .raw(named);
  }
  const before = head.finish();
  const tail = new BinaryWriter();
  tail.tag(2, 2).fork().tag(1, 2).string(name).tag(2, 2).fork().tag(2, 0).bool(true).join().join();
  tail.tag(6, 0).int32(COMMITMENT_PROCESSED);
  if (fromSlot !== undefined) tail.tag(11, 0).uint64(fromSlot);
  const after = tail.finish();
  // Megabytes of addresses: each is written once, in its final place.
  const out = Buffer.allocUnsafe(before.length + filterBytes + after.length);
  out.set(before);
  let at = before.length;
  // Written one by one: joining them is faster, but the collector's steps grow with what a turn allocates.
  for (const address of accounts) {
    const text = address.toString();
    out[at++] = ADDRESS_TAG;
    out[at++] = text.length;
    at += out.write(text, at, "latin1");
  }
  out.set(after, at);
  return out;
}

/** Encodes a ping, which leaves the subscription as it is. */
export function encodePing(id: number): Uint8Array {
  return new BinaryWriter().tag(9, 2).fork().tag(1, 0).int32(id).join().finish();
}

/**
 * Decodes an update. Other updates and unknown fields are skipped.
 *
 * @throws RangeError and others if the bytes are not an update
 * @see https://github.com/rpcpool/yellowstone-grpc geyser.proto, SubscribeUpdate
 */
export function decodeSubscribeUpdate(bytes: Uint8Array): SubscribeUpdate {
  const cursor = new WireCursor(bytes);
  let filter: Uint8Array | undefined;
  let account: AccountUpdate | undefined;
  let slot: Omit<SlotUpdate, "filter"> | undefined;
  let other = OTHER;
  while (cursor.next()) {
    if (cursor.field === 1) filter = cursor.view();
    else if (cursor.field === 2) account = decodeAccount(cursor);
    else if (cursor.field === 3) slot = decodeSlot(cursor);
    else {
      if (cursor.field === 6) other = PING;
      cursor.skip();
    }
  }
  if (slot !== undefined) return { ...slot, filter: filter && FILTER_NAME.decode(filter) };
  return account ?? other;
}

function decodeSlot(cursor: WireCursor): Omit<SlotUpdate, "filter"> {
  const around = cursor.enter();
  let slot = 0n;
  let parent: bigint | undefined;
  let status = 0;
  let bankId: bigint | undefined;
  while (cursor.next()) {
    if (cursor.field === 1) slot = cursor.uint64();
    else if (cursor.field === 2) parent = cursor.uint64();
    else if (cursor.field === 3) status = cursor.uint();
    else if (cursor.field === 5) bankId = cursor.uint64();
    else cursor.skip();
  }
  cursor.leave(around);
  return { kind: "slot", slot, parent, status, bankId };
}

function decodeAccount(cursor: WireCursor): AccountUpdate {
  const around = cursor.enter();
  let slot = 0n;
  let bankId: bigint | undefined;
  let info: AccountInfo | undefined;
  while (cursor.next()) {
    if (cursor.field === 1) info = decodeAccountInfo(cursor);
    else if (cursor.field === 2) slot = cursor.uint64();
    else if (cursor.field === 4) bankId = cursor.uint64();
    else cursor.skip();
  }
  cursor.leave(around);
  if (info === undefined) throw new RangeError("an account update without an account");
  const { address, owner, lamports, executable, data, writeVersion } = info;
  const isOpen = lamports !== 0n && owner !== undefined;
  const account = isOpen ? KeptAccount.of({ address, owner, lamports, executable, slot }, data) : null;
  return { kind: "account", slot, address, account, writeVersion, bankId };
}

interface AccountInfo {
  readonly address: Address;
  readonly owner: Address | undefined;
  readonly lamports: bigint;
  readonly executable: boolean;
  /** Part of a larger chunk of the stream. */
  readonly data: Uint8Array;
  readonly writeVersion: number;
}

function decodeAccountInfo(cursor: WireCursor): AccountInfo {
  const around = cursor.enter();
  let address: Address | undefined;
  let owner: Address | undefined;
  let lamports = 0n;
  let executable = false;
  let data = NO_DATA;
  let writeVersion = 0;
  while (cursor.next()) {
    if (cursor.field === 1) address = cursor.address();
    else if (cursor.field === 2) lamports = cursor.uint64();
    else if (cursor.field === 3) owner = cursor.address();
    else if (cursor.field === 4) executable = cursor.uint() !== 0;
    else if (cursor.field === 6) data = cursor.view();
    else if (cursor.field === 7) writeVersion = cursor.uint();
    else cursor.skip();
  }
  cursor.leave(around);
  if (address === undefined) throw new RangeError("an account update without an address");
  return { address, owner, lamports, executable, data, writeVersion };
}
