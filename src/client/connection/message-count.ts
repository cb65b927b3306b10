import type { DescMessage } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";

/**
 * Messages within an answer at most. A page of a hundred trades over twelve markets each has 2,000. Two bytes are an empty message, which
 * takes hundreds once it is read: four megabytes of them took a gigabyte and stopped the process for ten seconds.
 */
const MOST_MESSAGES = 50_000;

/** Checks how many messages an answer holds, before they are made. @throws ConnectError if they are too many; Error if it is malformed */
export function checkMessageCount(schema: DescMessage, bytes: Uint8Array): void {
  countWithin(schema, bytes, MOST_MESSAGES);
}

/** @returns how many more there may be */
function countWithin({ fields }: DescMessage, bytes: Uint8Array, most: number): number {
  const reader = new BinaryReader(bytes);
  let left = most;
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const inner = fields.find((field) => field.number === number)?.message;
    if (inner === undefined || wireType !== WireType.LengthDelimited) {
      reader.skip(wireType, number);
      continue;
    }
    if (left === 0) throw new ConnectError(`the response holds more than ${MOST_MESSAGES} messages`, Code.Unknown);
    left = countWithin(inner, reader.bytes(), left - 1);
  }
  return left;
}
