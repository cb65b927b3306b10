import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";
import { Address } from "../../primitives/address.ts";
import { concatBytes, hex, textBytes, writeU32 } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from "../../solana/programs.ts";
import { transferLamports } from "../../solana/token/token-instructions.ts";
import { decodeTransaction, type WireTransaction } from "../transaction/wire-transaction.ts";

/** 500 million SOL. */
const FUNDS_LAMPORTS = 500_000_000_000_000_000n;
const UNIT_LIMIT = 1_000;
/** DER wrapping of a raw 32-byte Ed25519 private key. @see RFC 8410 */
const PKCS8_PREFIX = hex("302e020100300506032b657004220420");

/** An airdrop that was asked for. */
export interface AirdropOrder {
  readonly to: Address;
  readonly lamports: bigint;
}

/** The account that pays airdrops. */
export interface Faucet {
  readonly account: Omit<Account, "slot">;
  /** A signed transfer. No two are alike, even of the same amount on the same blockhash. */
  transfer(order: AirdropOrder, blockhash: Uint8Array): WireTransaction;
}

/** A faucet whose key follows from the seed. */
export function createFaucet(seed: number): Faucet {
  const secret = createHash("sha256")
    .update(textBytes(`tradewire sandbox faucet ${seed}`))
    .digest();
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, secret]), format: "der", type: "pkcs8" });
  const publicKey = createPublicKey(privateKey).export({ format: "der", type: "spki" });
  const address = Address.from(publicKey, publicKey.length - 32);
  let sent = 0;
  return {
    account: { address, owner: SYSTEM_PROGRAM, lamports: FUNDS_LAMPORTS, data: new Uint8Array(0), executable: false },
    transfer({ to, lamports }, blockhash) {
      const message = encodeTransfer(address, to, lamports, UNIT_LIMIT + (sent++ % 1_000_000), blockhash);
      return decodeTransaction(concatBytes(Uint8Array.of(1), sign(null, message, privateKey), message));
    },
  };
}

/** A legacy message: set the compute-unit limit, which makes it unlike any other, and transfer. */
function encodeTransfer(
  from: Address,
  to: Address,
  lamports: bigint,
  unitLimit: number,
  blockhash: Uint8Array,
): Uint8Array {
  const setUnitLimit = new Uint8Array(5);
  setUnitLimit[0] = 2;
  writeU32(setUnitLimit, 1, unitLimit);
  const transfer = transferLamports(from, to, lamports).data;
  return concatBytes(
    Uint8Array.of(1, 0, 2, 4),
    from.bytes,
    to.bytes,
    SYSTEM_PROGRAM.bytes,
    COMPUTE_BUDGET_PROGRAM.bytes,
    blockhash,
    Uint8Array.of(2, 3, 0, setUnitLimit.length),
    setUnitLimit,
    Uint8Array.of(2, 2, 0, 1, transfer.length),
    transfer,
  );
}
