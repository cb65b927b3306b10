import { createPrivateKey, sign } from "node:crypto";
import { type Keypair, type PublicKey, SystemProgram } from "@solana/web3.js";
import bs58 from "bs58";

const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
/** Priority fee, unit limit and data limit are stated. */
const CONFIG_MASK = 0b1111;
const PRIORITY_LAMPORTS = 700n;
const UNIT_LIMIT = 10_000;
const DATA_LIMIT = 1_000_000;
/** Of the system program. */
const TRANSFER = 2;

/** A signed version 1 transfer, written down from SIMD-0385 by hand; its signature is the last 64 bytes. */
export function signVersion1(from: Keypair, to: PublicKey, lamports: bigint, blockhash: string): Uint8Array {
  const config = Buffer.alloc(16);
  config.writeBigUInt64LE(PRIORITY_LAMPORTS, 0);
  config.writeUInt32LE(UNIT_LIMIT, 8);
  config.writeUInt32LE(DATA_LIMIT, 12);
  const transfer = Buffer.alloc(12);
  transfer.writeUInt32LE(TRANSFER, 0);
  transfer.writeBigUInt64LE(lamports, 4);
  const message = Buffer.concat([
    Buffer.of(0x81, 1, 0, 1),
    Buffer.of(CONFIG_MASK, 0, 0, 0),
    bs58.decode(blockhash),
    Buffer.of(1, 3),
    from.publicKey.toBytes(),
    to.toBytes(),
    SystemProgram.programId.toBytes(),
    config,
    Buffer.of(2, 2, transfer.length, 0),
    Buffer.of(0, 1),
    transfer,
  ]);
  const der = Buffer.concat([PKCS8_PREFIX, from.secretKey.subarray(0, 32)]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  return Buffer.concat([message, sign(null, message, key)]);
}
