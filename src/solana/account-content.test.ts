import { expect, test } from "vitest";
import { createRandom } from "../primitives/random.ts";
import { hasSameContent, KeptAccount } from "./account-content.ts";
import { SYSTEM_PROGRAM } from "./programs.ts";

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
