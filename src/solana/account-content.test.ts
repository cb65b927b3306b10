import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { createRandom } from "../primitives/random.ts";
import { hasSameContent, KeptAccount } from "./account-content.ts";
import { SYSTEM_PROGRAM } from "./programs.ts";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

async function memoryBytes(): Promise<number> {
  // What was used in a turn of the loop stays until its end.
  for (let round = 0; round < 3; round++) {
    await setImmediate();
    collect();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const kept = (data: Uint8Array) =>
  KeptAccount.of({ address: SYSTEM_PROGRAM, owner: SYSTEM_PROGRAM, lamports: 1n, executable: false, slot: 1n }, data);

test("accounts without data, as wallets are, share one array of bytes", () => {
  const [one, other] = [kept(new Uint8Array(0)), kept(new Uint8Array(0))];
  expect(one.data).toHaveLength(0);
  expect(one.data).toBe(other.data);
});

test("data in base64 is what Node's buffers make of it, whatever stands in the text", () => {
  const random = createRandom(29);
  const { address, owner, lamports, executable, slot } = kept(new Uint8Array(0));
  const letters = "ABCXYZabcxyz0189+/+/-_=\n \u00e9\u2028";
  for (let round = 0; round < 5_000; round++) {
    let text = Buffer.from(random.bytes(random.u32() % 40)).toString("base64");
    for (let edits = random.u32() % 4; edits > 0; edits--) {
      const at = random.u32() % (text.length + 1);
      text = text.slice(0, at) + random.pick([...letters, ""]) + text.slice(at + (random.u32() % 2));
    }
    const account = KeptAccount.ofBase64({ address, owner, lamports, executable, slot }, text);
    expect([text, [...account.data]]).toEqual([text, [...Buffer.from(text, "base64")]]);
  }
});

test.each([65_535, 65_536, 65_537, 200_000])("data of %d bytes in base64 is whole", (size) => {
  const data = createRandom(size).bytes(size);
  const account = KeptAccount.ofBase64(kept(new Uint8Array(0)), Buffer.from(data).toString("base64"));
  expect(Buffer.compare(account.data, data)).toBe(0);
  expect(account.data.buffer.byteLength).toBe(size);
});

test("an account with data has bytes of its own", () => {
  const source = Uint8Array.of(0, 127, 128, 255);
  const [one, other] = [kept(source), kept(source)];
  source.fill(1);
  expect([...one.data]).toEqual([0, 127, 128, 255]);
  expect(one.data).toBe(one.data);
  expect(one.data).not.toBe(other.data);
});

test.each([2, 2_048, 2_049, 70_000])("accounts of %d bytes are compared by them, used as bytes or not", (size) => {
  const data = new Uint8Array(size).fill(128);
  const changed = data.slice();
  changed[size - 1] = 255;
  for (const isOneUsed of [false, true]) {
    for (const isOtherUsed of [false, true]) {
      for (const isSame of [false, true]) {
        const [one, other] = [kept(data), kept(isSame ? data : changed)];
        if (isOneUsed) expect(one.data).toHaveLength(size);
        if (isOtherUsed) expect(other.data).toHaveLength(size);
        expect(hasSameContent(one, other)).toBe(isSame);
        expect(KeptAccount.sizeOf(one)).toBe(size);
        expect(Buffer.compare(one.data, data)).toBe(0);
      }
    }
  }
});

/** Ways in which an account may keep its data: as it came, used as bytes, packed before it was used or after. */
const WAYS = [[], ["use"], ["pack"], ["use", "pack"], ["pack", "use"]] as const;

test("accounts with few bytes that are not zero are compared by them, packed or not", () => {
  const data = new Uint8Array(10_136);
  for (let at = 8; at < 200; at++) data[at] = at;
  const changed = data.slice();
  changed[10_135] = 1;
  for (const oneWay of WAYS) {
    for (const otherWay of WAYS) {
      for (const isSame of [false, true]) {
        const [one, other] = [kept(data), kept(isSame ? data : changed)];
        for (const [account, way] of [[one, oneWay] as const, [other, otherWay] as const])
          for (const step of way)
            step === "use" ? expect(account.data).toHaveLength(10_136) : KeptAccount.pack(account);
        expect([oneWay, otherWay, hasSameContent(one, other)]).toEqual([oneWay, otherWay, isSame]);
        expect(KeptAccount.sizeOf(one)).toBe(10_136);
        expect(Buffer.compare(one.data, data)).toBe(0);
        expect(Buffer.compare(other.data, isSame ? data : changed)).toBe(0);
      }
    }
  }
});

test.each([[["pack"]], [["use", "pack"]], [["pack", "use"]]] as const)(
  "a packed account keeps a small part of its memory: %s",
  async (steps) => {
    const data = new Uint8Array(10_240);
    data[8_000] = 7;
    const accounts = Array.from({ length: 500 }, () => kept(data));
    // As it came, an account is text of the same length.
    const before = await memoryBytes();
    for (const step of steps) for (const one of accounts) step === "use" ? one.data : KeptAccount.pack(one);
    expect(((await memoryBytes()) - before) / accounts.length).toBeLessThan(-8_000);
    for (const { data: unpacked } of accounts) expect(unpacked[8_000]).toBe(7);
  },
);

test("short accounts, and those whose bytes are hardly ever zero, stay as they are", () => {
  for (const data of [new Uint8Array(2_048), new Uint8Array(9_000).fill(1)]) {
    const account = kept(data);
    const { data: used } = account;
    KeptAccount.pack(account);
    expect(account.data).toBe(used);
  }
});
