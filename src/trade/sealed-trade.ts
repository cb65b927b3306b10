import { Address } from "../primitives/address.ts";
import { ByteReader } from "../primitives/byte-reader.ts";
import { ByteWriter } from "../primitives/byte-writer.ts";
import type { CreatedAccount } from "./assembly.ts";
import type { Costs, RouteLeg, TradeSides } from "./trade.ts";

/** Everything a submit needs to know of its build: the plain text of a submission token. */
export interface SealedTrade extends TradeSides {
  readonly accountId: string;
  readonly wallet: Address;
  /** SHA-256 of the message bytes. */
  readonly messageHash: Uint8Array;
  readonly messageLength: number;
  readonly lastValidBlockHeight: bigint;
  /** Slot of the blockhash, and of the oldest state priced: a bad quote can be explained. */
  readonly buildSlot: bigint;
  readonly stateSlot: bigint;
  readonly expiresAtMs: number;
  readonly costs: Costs;
  readonly route: readonly RouteLeg[];
  /** Accounts the transaction may bring into being: their rent is not part of the trade. */
  readonly creates: readonly CreatedAccount[];
  /** The wallet's token account that the transaction closes: its rent is not part of the trade either. */
  readonly closes: Address | undefined;
  /** Lanes it may be sent on: those whose tips are in the message, and those that ask for none. */
  readonly lanes: readonly string[];
}

const VERSION = 2;

/** Writes a trade in the token's fixed binary form. */
export function encodeSealedTrade(trade: SealedTrade): Uint8Array {
  const out = new ByteWriter()
    .u8(VERSION)
    .text(trade.accountId)
    .bytes(trade.wallet.bytes)
    .bytes(trade.messageHash)
    .u16(trade.messageLength)
    .u64(trade.lastValidBlockHeight)
    .u64(trade.buildSlot)
    .u64(trade.stateSlot)
    .u64(BigInt(trade.expiresAtMs))
    .bytes(trade.inMint.bytes)
    .bytes(trade.outMint.bytes)
    .u8(trade.inDecimals)
    .u8(trade.outDecimals)
    .u64(trade.costs.baseFee)
    .u64(trade.costs.priorityFee)
    .u64(trade.costs.tip)
    .u64(trade.costs.rentPaid)
    .u64(trade.costs.rentReturned);
  out.u8(trade.route.length);
  for (const leg of trade.route) {
    out
      .text(leg.venue)
      .bytes(leg.market.bytes)
      .bytes(leg.inMint.bytes)
      .bytes(leg.outMint.bytes)
      .u64(leg.inAmount)
      .u64(leg.outAmount);
  }
  out.u8(trade.creates.length);
  for (const { address, space, rent } of trade.creates) out.bytes(address.bytes).u32(space).u64(rent);
  out.u8(trade.closes === undefined ? 0 : 1);
  if (trade.closes !== undefined) out.bytes(trade.closes.bytes);
  out.u8(trade.lanes.length);
  for (const lane of trade.lanes) out.text(lane);
  return out.finish();
}

/** Reads what `encodeSealedTrade` wrote. @throws RangeError for another version or a cut text */
export function decodeSealedTrade(bytes: Uint8Array): SealedTrade {
  const from = new ByteReader(bytes);
  const address = () => Address.from(from.bytes(32));
  if (from.u8() !== VERSION) throw new RangeError("unknown version");
  return {
    accountId: from.text(),
    wallet: address(),
    messageHash: from.bytes(32).slice(),
    messageLength: from.u16(),
    lastValidBlockHeight: from.u64(),
    buildSlot: from.u64(),
    stateSlot: from.u64(),
    expiresAtMs: Number(from.u64()),
    inMint: address(),
    outMint: address(),
    inDecimals: from.u8(),
    outDecimals: from.u8(),
    costs: {
      baseFee: from.u64(),
      priorityFee: from.u64(),
      tip: from.u64(),
      rentPaid: from.u64(),
      rentReturned: from.u64(),
    },
    route: Array.from({ length: from.u8() }, () => ({
      venue: from.text(),
      market: address(),
      inMint: address(),
      outMint: address(),
      inAmount: from.u64(),
      outAmount: from.u64(),
    })),
    creates: Array.from({ length: from.u8() }, () => ({ address: address(), space: from.u32(), rent: from.u64() })),
    closes: from.u8() === 0 ? undefined : address(),
    lanes: Array.from({ length: from.u8() }, () => from.text()),
  };
}
