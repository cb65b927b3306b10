import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from "node:crypto";
import { expect, test } from "vitest";
import { createRandom } from "../../../primitives/random.ts";
import { GcmStreams } from "./gcm-streams.ts";

const random = createRandom(41);
const fillRandom = (bytes: Uint8Array) => void bytes.set(random.bytes(bytes.length));
const anyKey = () => createSecretKey(random.bytes(32));

/** What Node's own cipher makes of a sealed text. */
function opened(sealed: string, key: KeyObject, bound: Uint8Array): Buffer {
  const bytes = Buffer.from(sealed, "base64url");
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(2, 14));
  decipher.setAAD(bound).setAuthTag(bytes.subarray(-16));
  return Buffer.concat([decipher.update(bytes.subarray(14, -16)), decipher.final()]);
}

test("Node opens what is sealed, of every length of text and owner", () => {
  const streams = GcmStreams.open(fillRandom)!;
  for (let length = 0; length <= 512; length++) {
    const key = anyKey();
    const network = random.bytes(random.u32() % 90);
    streams.useKey(key, network);
    for (const owner of ["", "a".repeat(random.u32() % 100)]) {
      const plain = random.bytes(length);
      streams.text.clear().bytes(plain);
      const sealed = streams.seal(length, owner)!;
      expect(Buffer.from(sealed, "base64url").readUInt16LE(0)).toBe(length);
      expect(opened(sealed, key, Buffer.concat([network, Buffer.from(owner)])).equals(plain)).toBe(true);
    }
  }
});

test("what Node seals is opened, of every length, and nothing else", () => {
  const streams = GcmStreams.open(fillRandom)!;
  for (let length = 0; length <= 512; length++) {
    const key = anyKey();
    const network = random.bytes(random.u32() % 90);
    const owner = "a".repeat(random.u32() % 100);
    const plain = random.bytes(length);
    const head = random.bytes(14);
    const cipher = createCipheriv("aes-256-gcm", key, head.subarray(2));
    cipher.setAAD(Buffer.concat([network, Buffer.from(owner)]));
    const sealed = Buffer.concat([head, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    streams.useKey(key, network);
    expect(streams.open(sealed, owner)).toEqual(plain);
    const changed = Buffer.from(sealed);
    changed[2 + (random.u32() % (sealed.length - 2))]! ^= 1 << (random.u32() % 8);
    expect(streams.open(changed, owner)).toBeUndefined();
    expect(streams.open(sealed, `${owner}b`)).toBeUndefined();
    expect(streams.open(sealed.subarray(0, -1), owner)).toBeUndefined();
    // What is sealed next does not suffer from what was opened.
    streams.text.clear().bytes(plain);
    expect(opened(streams.seal(0, owner)!, key, Buffer.concat([network, Buffer.from(owner)])).equals(plain)).toBe(true);
  }
});

test("nothing is opened that is too short, too long or of an owner that is not ASCII", () => {
  const streams = GcmStreams.open(fillRandom)!;
  streams.useKey(anyKey(), new Uint8Array(0));
  for (const length of [0, 1, 13, 14, 29, 543, 9_000])
    expect(streams.open(new Uint8Array(length), "a")).toBeUndefined();
  expect(streams.open(new Uint8Array(100), "ö")).toBeUndefined();
  expect(streams.open(new Uint8Array(100), "o".repeat(513))).toBeUndefined();
});

test("no nonce comes twice, and texts of all draws open", () => {
  let calls = 0;
  const streams = GcmStreams.open((bytes) => {
    calls += 1;
    fillRandom(bytes);
  })!;
  const key = anyKey();
  const nonces = new Set<string>();
  streams.useKey(key, new Uint8Array(0));
  for (let round = 0; round < 2_200; round++) {
    // A new key begins with nonces of its own.
    if (round === 700) streams.useKey(key, new Uint8Array(0));
    const plain = random.bytes(300);
    streams.text.clear().bytes(plain);
    const sealed = streams.seal(1, "owner")!;
    nonces.add(Buffer.from(sealed, "base64url").toString("hex", 2, 14));
    expect(opened(sealed, key, Buffer.from("owner")).equals(plain)).toBe(true);
  }
  expect(nonces.size).toBe(2_200);
  expect(calls).toBe(3);
});

test("a new key forgets the streams of the one before", () => {
  const streams = GcmStreams.open(fillRandom)!;
  for (let round = 0; round < 5; round++) {
    const key = anyKey();
    streams.useKey(key, Buffer.from("network"));
    streams.text.clear().text("once");
    expect(opened(streams.seal(0, "")!, key, Buffer.from("network")).toString("latin1")).toBe("\u0004once");
  }
});

test("texts that are too long, or not ASCII, are left to others", () => {
  const streams = GcmStreams.open(fillRandom)!;
  const key = anyKey();
  streams.useKey(key, new Uint8Array(0));
  streams.text.clear().bytes(new Uint8Array(513));
  expect(streams.seal(0, "owner")).toBeUndefined();
  streams.text.clear().bytes(new Uint8Array(5));
  expect(streams.seal(0, "o".repeat(513))).toBeUndefined();
  expect(streams.seal(0, "öwner")).toBeUndefined();
  streams.useKey(key, new Uint8Array(513));
  expect(streams.seal(0, "")).toBeUndefined();
  streams.useKey(key, new Uint8Array(0));
  // A longer owner leaves nothing behind for a shorter one.
  expect(opened(streams.seal(0, "owner, a long one")!, key, Buffer.from("owner, a long one")).length).toBe(5);
  streams.text.clear().bytes(new Uint8Array(5));
  expect(opened(streams.seal(0, "own")!, key, Buffer.from("own")).length).toBe(5);
});
