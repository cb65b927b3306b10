import { PRIORITY_LEVELS, type Priority } from "../../../chain/port.ts";
import { Address } from "../../../primitives/address.ts";
import { ByteReader } from "../../../primitives/byte-reader.ts";
import type { ByteWriter } from "../../../primitives/byte-writer.ts";
import type { Costs, RouteLeg, TradeSides } from "../../trade.ts";
import type { CreatedAccount } from "../parts/assembled.ts";

/** What a submit needs to know about its build: the plain text of a submission token. */
export interface SealedTrade extends TradeSides {
  readonly wallet: Address;
  /** SHA-256 of the message bytes. */
  readonly messageHash: Uint8Array;
  readonly messageLength: number;
  readonly lastValidBlockHeight: bigint;
  /** Slots of the blockhash and of the oldest state priced, to explain a bad quote. */
  readonly buildSlot: bigint;
  readonly stateSlot: bigint;
  readonly expiresAtMs: number;
  readonly costs: Costs;
  /** Path by path; within a path, the input mint of a leg is the output mint of the one before it. */
  readonly route: readonly RouteLeg[];
  /** Accounts that the transaction may create: their rent is not part of the trade. */
  readonly creates: readonly CreatedAccount[];
  /** The wallet's token account that the transaction closes: its rent is not part of the trade. */
  readonly closes: Address | undefined;
  /** Senders that may broadcast it: those whose tips are in the message, and those that require none. */
  readonly senders: readonly string[];
  /** The level it was built for; undefined in tokens of earlier releases. */
  readonly priority?: Priority | undefined;
  /** Blocks in which it could still land when it was built, 255 at most; undefined in tokens of earlier releases. */
  readonly blocksLeft?: number | undefined;
}

const VERSION = 3;
/** A trade over parallel paths: each leg names its path and its input mint. */
const SPLIT_VERSION = 4;

/** Flags added to an account's size: it grows; the trade's lamports move through it. Earlier releases ignore both. */
const GROWS = 2 ** 31;
const IS_TRADED = 2 ** 30;

/** Writes a trade in the token's binary format. */
export function writeSealedTrade(out: ByteWriter, trade: SealedTrade): void {
  const { route } = trade;
  const isSplit = route.length > 0 && (route.at(-1)!.path ?? 0) > 0;
  out
    .u8(isSplit ? SPLIT_VERSION : VERSION)
    .address(trade.wallet)
    .bytes(trade.messageHash)
    .u16(trade.messageLength)
    .u64(trade.lastValidBlockHeight)
    .u64(trade.buildSlot)
    .u64(trade.stateSlot)
    .u64(BigInt(trade.expiresAtMs))
    .address(trade.inMint)
    .address(trade.outMint)
    .u8(trade.inDecimals)
    .u8(trade.outDecimals)
    .u64(trade.costs.baseFee)
    .u64(trade.costs.priorityFee)
    .u64(trade.costs.tip)
    .u64(trade.costs.rentPaid)
    .u64(trade.costs.rentReturned);
  out.u8(route.length);
  for (let index = 0; index < route.length; index++) {
    const { venue, market, inMint, outMint, inAmount, outAmount, path = 0, sharePpb = 0 } = route[index]!;
    out.text(venue).address(market).u64(inAmount).u64(outAmount);
    if (isSplit) out.address(inMint).address(outMint).u8(path).u32(sharePpb);
    else if (index < route.length - 1) out.address(outMint);
  }
  const { creates, senders } = trade;
  out.u8(creates.length);
  // Indexed loops: iterators would allocate.
  for (let index = 0; index < creates.length; index++) {
    const { address, space, rent, grows, isTraded = false } = creates[index]!;
    out
      .address(address)
      .u32(space + (grows ? GROWS : 0) + (isTraded ? IS_TRADED : 0))
      .u64(rent);
  }
  out.u8(trade.closes === undefined ? 0 : 1);
  if (trade.closes !== undefined) out.address(trade.closes);
  out.u8(senders.length);
  for (let index = 0; index < senders.length; index++) out.text(senders[index]!);
  // The last bytes: readers of earlier releases stop before them.
  if (trade.priority === undefined) return;
  out.u8(PRIORITY_LEVELS.indexOf(trade.priority));
  if (trade.blocksLeft !== undefined) out.u8(Math.max(0, Math.min(trade.blocksLeft, 255)));
}

/** Decodes what `writeSealedTrade` wrote. @throws RangeError for another version, or if bytes are missing */
export function decodeSealedTrade(bytes: Uint8Array): SealedTrade {
  const from = new ByteReader(bytes);
  const address = () => Address.from(from.bytes(32));
  const version = from.u8();
  if (version !== VERSION && version !== SPLIT_VERSION) throw new RangeError("unknown version");
  const head = {
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
  };
  return {
    ...head,
    route: version === SPLIT_VERSION ? readSplit(from) : readRoute(from, head),
    creates: Array.from({ length: from.u8() }, () => readCreated(from)),
    closes: from.u8() === 0 ? undefined : address(),
    senders: Array.from({ length: from.u8() }, () => from.text()),
    priority: from.isAtEnd ? undefined : PRIORITY_LEVELS[from.u8()],
    blocksLeft: from.isAtEnd ? undefined : from.u8(),
  };
}

function readCreated(from: ByteReader): CreatedAccount {
  const address = Address.from(from.bytes(32));
  const marked = from.u32();
  const rent = from.u64();
  const grows = marked >= GROWS;
  const space = marked % IS_TRADED;
  const isTraded = marked % GROWS !== space;
  return isTraded ? { address, space, rent, grows, isTraded } : { address, space, rent, grows };
}

function readSplit(from: ByteReader): readonly RouteLeg[] {
  return Array.from({ length: from.u8() }, () => {
    const venue = from.text();
    const market = Address.from(from.bytes(32));
    const [inAmount, outAmount] = [from.u64(), from.u64()];
    const [inMint, outMint] = [Address.from(from.bytes(32)), Address.from(from.bytes(32))];
    return { venue, market, inMint, outMint, inAmount, outAmount, path: from.u8(), sharePpb: from.u32() };
  });
}

function readRoute(from: ByteReader, sides: TradeSides): readonly RouteLeg[] {
  const route: RouteLeg[] = [];
  const length = from.u8();
  let inMint = sides.inMint;
  for (let index = 0; index < length; index++) {
    const venue = from.text();
    const market = Address.from(from.bytes(32));
    const [inAmount, outAmount] = [from.u64(), from.u64()];
    const outMint = index === length - 1 ? sides.outMint : Address.from(from.bytes(32));
    route.push({ venue, market, inMint, outMint, inAmount, outAmount });
    inMint = outMint;
  }
  return route;
}
