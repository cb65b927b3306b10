import { readSync, writeSync } from "node:fs";
import { create, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";

const LENGTH_BYTES = 4;

/** The next message on stdin, after its length; undefined at the end. @throws Error when it breaks off */
export function readMessage(desc: DescMessage): Message | undefined {
  const head = readBytes(LENGTH_BYTES);
  if (head === undefined) return undefined;
  const body = readBytes(head.readUInt32BE());
  if (body === undefined) throw new Error("the input broke off");
  return fromBinary(desc, body);
}

/** Writes a message to stdout, after its length. */
export function writeMessage(desc: DescMessage, fields: object): void {
  const body = toBinary(desc, create(desc, fields as Record<string, unknown>));
  const framed = Buffer.alloc(LENGTH_BYTES + body.length);
  framed.writeUInt32BE(body.length);
  framed.set(body, LENGTH_BYTES);
  for (let written = 0; written < framed.length; ) written += writeSync(1, framed, written);
}

function readBytes(length: number): Buffer | undefined {
  const bytes = Buffer.alloc(length);
  for (let read = 0; read < length; ) {
    const count = readSync(0, bytes, read, length - read, null);
    if (count === 0) return undefined;
    read += count;
  }
  return bytes;
}
