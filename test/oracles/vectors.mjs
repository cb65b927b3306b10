// What every oracle shares: seeded values, account bytes, and the compact form of instructions.
import { createHash } from "node:crypto";
import { PublicKey } from "@solana/web3.js";

/** Values drawn from a seed: the same on every machine. */
export function createSeeded(seed) {
  let counter = 0;
  const draw = () => createHash("sha256").update(`${seed}/${counter++}`).digest();
  const below = (bound) => BigInt(`0x${draw().toString("hex")}`) % BigInt(bound);
  return {
    below,
    between: (low, high) => BigInt(low) + below(BigInt(high) - BigInt(low) + 1n),
    chance: (percent) => below(100) < BigInt(percent),
    key: () => new PublicKey(draw()),
    pick: (list) => list[Number(below(list.length))],
  };
}

/** Bytes of an account, written field by field at the offsets the IDL gives. */
export function bytes(size, discriminator) {
  const data = Buffer.alloc(size);
  data.write(discriminator, "hex");
  return {
    data,
    u8: (at, value) => data.writeUInt8(Number(value), at),
    u16: (at, value) => data.writeUInt16LE(Number(value), at),
    u32: (at, value) => data.writeUInt32LE(Number(value), at),
    u64: (at, value) => data.writeBigUInt64LE(BigInt(value), at),
    key: (at, key) => data.set(key.toBytes(), at),
  };
}

/** A fee configuration with SOL tiers, USDC tiers and rates for other quotes. */
export function feeConfig(seeded) {
  const out = bytes(4097, "8f3492bbdb7b4c9b");
  let at = 41;
  const rates = () => {
    for (const most of [30, 120, 100]) {
      out.u64(at, seeded.below(most));
      at += 8;
    }
  };
  rates();
  for (let list = 0; list < 2; list++) {
    out.u32(at, 12);
    at += 4;
    for (let tier = 0; tier < 12; tier++) {
      out.u64(at, tier === 0 ? 0 : 10n ** BigInt(6 + tier) * seeded.between(1, 9));
      at += 16;
      rates();
    }
  }
  rates();
  return out.data;
}

/** Instructions as indices into one list of keys, four times the index plus two for writable plus one for signer. */
export function createKeyTable() {
  const places = new Map();
  const keys = [];
  const place = (key) => {
    const text = key.toBase58();
    if (!places.has(text)) places.set(text, keys.push(text) - 1);
    return places.get(text);
  };
  return {
    keys,
    place,
    instruction: ({ keys: metas, data }) => ({
      data: Buffer.from(data).toString("hex"),
      accounts: metas.map(({ pubkey, isWritable, isSigner }) => place(pubkey) * 4 + (isWritable ? 2 : 0) + (isSigner ? 1 : 0)),
    }),
  };
}
