import { expect, test, vi } from "vitest";
import { FrameReader } from "./frame-reader.ts";

const framed = (message: Uint8Array, isCompressed = 0) => {
  const prefix = Buffer.alloc(5, isCompressed);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
};
const messages = [0, 1, 4, 5, 6, 300, 0, 0, 2_000, 17].map((length, i) => Buffer.alloc(length, i + 1));
const stream = Buffer.concat(messages.map((message) => framed(message)));

test("messages are the same however the stream is cut into chunks", () => {
  for (let size = 1; size <= stream.length; size++) {
    const read: Buffer[] = [];
    const reader = new FrameReader((message) => void read.push(Buffer.from(message)));
    for (let at = 0; at < stream.length; at += size) reader.read(stream.subarray(at, at + size));
    expect(read).toEqual(messages);
  }
});

test("of a chunk, only the message that began in the one before is copied", () => {
  const copied: number[] = [];
  const concat = vi.spyOn(Buffer, "concat");
  const reader = new FrameReader(() => {});
  const many = Buffer.concat(Array.from({ length: 500 }, () => framed(Buffer.alloc(300, 1))));
  concat.mockClear();
  for (let at = 0; at < many.length; at += 16_384) reader.read(many.subarray(at, at + 16_384));
  for (const { value } of concat.mock.results) copied.push((value as Buffer).length);
  concat.mockRestore();
  expect(copied.length).toBeLessThanOrEqual(2 * Math.ceil(many.length / 16_384));
  expect(Math.max(...copied)).toBe(305);
});

test("a compressed message and one too large are refused, at the beginning of a chunk and across two", () => {
  const large = Buffer.from([0, 255, 255, 255, 255]);
  for (const bad of [framed(Buffer.alloc(3), 1), large]) {
    const reader = new FrameReader(() => {});
    expect(() => reader.read(bad)).toThrow(/compressed|too large/);
    const late = new FrameReader(() => {});
    late.read(Buffer.concat([framed(Buffer.alloc(9)), bad.subarray(0, 2)]));
    expect(() => late.read(bad.subarray(2))).toThrow(/compressed|too large/);
  }
});
