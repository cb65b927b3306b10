import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { expect, test } from "vitest";
import { hasSameContent } from "../../solana/account-content.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import { type AccountUpdate, decodeSubscribeUpdate } from "./yellowstone-wire.ts";

const MAX_U64 = 2n ** 64n - 1n;
const SLOT = 2n ** 53n + 1n;

function accountMessage(lamports: bigint, data: Uint8Array): Uint8Array {
  const info = new BinaryWriter().tag(1, 2).bytes(SYSTEM_PROGRAM.bytes).tag(2, 0).uint64(lamports);
  info.tag(3, 2).bytes(SYSTEM_PROGRAM.bytes).tag(4, 0).bool(true).tag(5, 0).uint64(MAX_U64);
  info.tag(6, 2).bytes(data).tag(7, 0).uint64(42).tag(8, 2).bytes(new Uint8Array(64)).tag(90, 1).fixed64(7n);
  const body = new BinaryWriter().tag(1, 2).bytes(info.finish()).tag(2, 0).uint64(SLOT).tag(3, 0).bool(true);
  body.tag(4, 0).uint64(MAX_U64);
  const message = new BinaryWriter().tag(1, 2).string("7").tag(2, 2).bytes(body.finish());
  return message.tag(11, 2).bytes(new Uint8Array(12)).tag(91, 5).fixed32(1).finish();
}
const decoded = (bytes: Uint8Array) => decodeSubscribeUpdate(bytes) as AccountUpdate;

test("integers are exact to 64 bits, and fields that are not needed are passed over", () => {
  const data = Uint8Array.from({ length: 256 }, (_, i) => i);
  const message = accountMessage(MAX_U64, data);
  const update = decoded(message);
  expect(update).toMatchObject({ kind: "account", slot: SLOT, writeVersion: 42, bankId: MAX_U64 });
  expect(update.account).toMatchObject({ lamports: MAX_U64, executable: true, owner: SYSTEM_PROGRAM });
  // The message is only valid during the call.
  message.fill(0);
  expect(update.account!.data).toEqual(data);
  expect(hasSameContent(update.account, { ...update.account!, data })).toBe(true);
  expect(hasSameContent(update.account, decoded(accountMessage(MAX_U64, data)).account)).toBe(true);
  expect(hasSameContent(update.account, decoded(accountMessage(MAX_U64, data.toReversed())).account)).toBe(false);
});

test("a message that is cut off anywhere is refused, or decoded as the shorter message it is", () => {
  const message = accountMessage(1n, new Uint8Array(10).fill(3));
  const whole = JSON.stringify(decoded(message), text);
  for (let length = 0; length < message.length; length++) {
    let result: string | undefined;
    try {
      result = JSON.stringify(decodeSubscribeUpdate(message.subarray(0, length)), text);
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError);
    }
    if (result !== undefined) expect([whole, '{"kind":"other"}']).toContain(result);
  }
});

test("a message whose parts claim more than it holds is refused", () => {
  const address = new BinaryWriter().tag(1, 2).bytes(SYSTEM_PROGRAM.bytes.subarray(1)).finish();
  const long = new BinaryWriter().tag(1, 2).uint32(2 ** 31);
  // An account that reaches past the update it is in.
  const nested = new BinaryWriter()
    .tag(2, 2)
    .uint32(2)
    .tag(1, 2)
    .uint32(40)
    .raw(accountMessage(1n, new Uint8Array(50)));
  const bodies = [
    new BinaryWriter().tag(2, 2).bytes(new BinaryWriter().tag(1, 2).bytes(address).finish()),
    long,
    nested,
  ];
  const endless = new Uint8Array([16, ...Array(12).fill(255)]);
  for (const body of [...bodies.map((writer) => writer.finish()), endless, new Uint8Array([11])])
    expect(() => decodeSubscribeUpdate(body)).toThrow(RangeError);
});

test("a burst of changes takes no memory outside the heap, where each would stop the collector", () => {
  const message = accountMessage(1n, new Uint8Array(165).fill(7));
  const before = process.memoryUsage().arrayBuffers;
  const kept = Array.from({ length: 5_000 }, () => decoded(message).account!);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(200_000);
  expect(kept.every(({ lamports }) => lamports === 1n)).toBe(true);
});

/** Big integers and bytes as text. */
function text(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
