import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";

/** A subscription. Each one replaces the one before. */
interface SubscribeRequest {
  /** Names the filters; each update names those it passed. */
  readonly name: string;
  readonly accounts: Iterable<Address>;
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

export interface AccountUpdate {
  readonly kind: "account";
  readonly filters: readonly string[];
  readonly slot: bigint;
  readonly address: Address;
  readonly account: Account | null;
  readonly writeVersion: number;
  readonly bankId: bigint | undefined;
}

export interface SlotUpdate {
  readonly kind: "slot";
  readonly filters: readonly string[];
  readonly slot: bigint;
  readonly parent: bigint | undefined;
  readonly status: number;
  readonly bankId: bigint | undefined;
}

type SubscribeUpdate = AccountUpdate | SlotUpdate | { readonly kind: "ping" } | { readonly kind: "other" };

const COMMITMENT_PROCESSED = 0;

/**
 * Encodes a subscription to accounts by address, and to every slot with each of its statuses.
 *
 * @see https://github.com/rpcpool/yellowstone-grpc geyser.proto, SubscribeRequest
 */
export function encodeSubscribeRequest({ name, accounts, fromSlot }: SubscribeRequest): Uint8Array {
  const writer = new BinaryWriter();
  const filter = new BinaryWriter();
  for (const address of accounts) filter.tag(2, 2).string(address.toString());
  const accountFilter = filter.finish();
  // A filter without accounts would pass every account.
  if (accountFilter.length > 0) {
    writer.tag(1, 2).fork().tag(1, 2).string(name).tag(2, 2).bytes(accountFilter).join();
  }
  writer.tag(2, 2).fork().tag(1, 2).string(name).tag(2, 2).fork().tag(2, 0).bool(true).join().join();
  writer.tag(6, 0).int32(COMMITMENT_PROCESSED);
  if (fromSlot !== undefined) writer.tag(11, 0).uint64(fromSlot);
  return writer.finish();
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
  const reader = new BinaryReader(bytes);
  const filters: string[] = [];
  let body: Uint8Array | undefined;
  let kind = 0;
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1) filters.push(reader.string());
    else if (field === 2 || field === 3 || field === 6) {
      kind = field;
      body = reader.bytes();
    } else reader.skip(wireType, field);
  }
  if (body === undefined) return { kind: "other" };
  if (kind === 2) return decodeAccount(body, filters);
  return kind === 3 ? decodeSlot(body, filters) : { kind: "ping" };
}

function decodeSlot(bytes: Uint8Array, filters: readonly string[]): SlotUpdate {
  const reader = new BinaryReader(bytes);
  let slot = 0n;
  let parent: bigint | undefined;
  let status = 0;
  let bankId: bigint | undefined;
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1) slot = BigInt(reader.uint64());
    else if (field === 2) parent = BigInt(reader.uint64());
    else if (field === 3) status = reader.int32();
    else if (field === 5) bankId = BigInt(reader.uint64());
    else reader.skip(wireType, field);
  }
  return { kind: "slot", filters, slot, parent, status, bankId };
}

function decodeAccount(bytes: Uint8Array, filters: readonly string[]): AccountUpdate {
  const reader = new BinaryReader(bytes);
  let slot = 0n;
  let bankId: bigint | undefined;
  let info: Uint8Array | undefined;
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1) info = reader.bytes();
    else if (field === 2) slot = BigInt(reader.uint64());
    else if (field === 4) bankId = BigInt(reader.uint64());
    else reader.skip(wireType, field);
  }
  if (info === undefined) throw new RangeError("an account update without an account");
  return { kind: "account", filters, slot, bankId, ...decodeAccountInfo(info, slot) };
}

function decodeAccountInfo(
  info: Uint8Array,
  slot: bigint,
): Pick<AccountUpdate, "address" | "account" | "writeVersion"> {
  const inner = new BinaryReader(info);
  let address: Address | undefined;
  let owner: Address | undefined;
  let lamports = 0n;
  let executable = false;
  let data: Uint8Array | undefined;
  let writeVersion = 0;
  while (inner.pos < inner.len) {
    const [field, wireType] = inner.tag();
    if (field === 1) address = Address.from(inner.bytes());
    else if (field === 2) lamports = BigInt(inner.uint64());
    else if (field === 3) owner = Address.from(inner.bytes());
    else if (field === 4) executable = inner.bool();
    else if (field === 6) data = inner.bytes();
    else if (field === 7) writeVersion = Number(inner.uint64());
    else inner.skip(wireType, field);
  }
  if (address === undefined) throw new RangeError("an account update without an address");
  const account =
    lamports === 0n || owner === undefined
      ? null
      : // A copy: the bytes are part of a larger chunk of the stream.
        { address, owner, lamports, data: new Uint8Array(data ?? []), executable, slot };
  return { address, account, writeVersion };
}
