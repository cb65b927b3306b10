import {
  appendTransactionMessageInstruction,
  compileTransaction,
  createKeyPairSignerFromBytes,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getTransactionDecoder,
  getTransactionEncoder,
  address as kitAddress,
  blockhash as kitBlockhash,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransaction,
} from "@solana/kit";
import { Keypair, VersionedTransaction } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Tradewire } from "../../src/client/tradewire.ts";
import { readTransaction } from "../../src/client/verify/read-transaction.ts";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;
let mint: string;

beforeAll(async () => {
  service = await startTestService();
  mint = service.mintOn("raydium_cpmm", "EMBER");
});
afterAll(() => service?.close());

async function clientOf(keypair: Keypair): Promise<Tradewire> {
  const client = Tradewire.connect({ baseUrl: service.url, wallet: keypair });
  await service.rpc("requestAirdrop", [keypair.publicKey.toBase58(), 5e9]);
  await client.register();
  return client;
}

const order = () => ({ mint, solAmount: 0.1, slippage: 0.05, priority: "fast" as const });

describe("wire transactions", () => {
  test("are decoded, signed and written by web3.js and kit to the same bytes as by this library, and land", async () => {
    const keypair = Keypair.generate();
    const client = await clientOf(keypair);
    const { keyPair } = await createKeyPairSignerFromBytes(keypair.secretKey);
    for (const signer of ["web3.js", "kit"] as const) {
      const built = await client.buildBuy(order());
      const ours = await client.sign(built);

      const web3 = VersionedTransaction.deserialize(built.unsignedTransaction);
      expect(web3.serialize()).toEqual(built.unsignedTransaction);
      web3.sign([keypair]);
      const decoded = getTransactionDecoder().decode(built.unsignedTransaction);
      expect(new Uint8Array(getTransactionEncoder().encode(decoded))).toEqual(built.unsignedTransaction);
      const kit = await signTransaction([keyPair], decoded);
      const kitWire = Uint8Array.from(Buffer.from(getBase64EncodedWireTransaction(kit), "base64"));

      expect(web3.serialize()).toEqual(ours);
      expect(kitWire).toEqual(ours);
      const signed = signer === "kit" ? kitWire : web3.serialize();
      expect((await client.submit(built.submissionToken, signed)).status).toBe("confirmed");
    }
  });

  test("say the same to web3.js and to the verifier", async () => {
    const client = await clientOf(Keypair.generate());
    const built = await client.buildBuy(order());
    const ours = readTransaction(built.unsignedTransaction);
    const { message } = VersionedTransaction.deserialize(built.unsignedTransaction);
    expect(ours.accounts.map(({ address }) => address.toString())).toEqual(
      message.staticAccountKeys.map((key) => key.toBase58()),
    );
    for (const { index, signer, writable } of ours.accounts) {
      expect([message.isAccountSigner(index), message.isAccountWritable(index)]).toEqual([signer, writable]);
    }
    expect(ours.instructions.map(({ accounts, data }) => [accounts.map(({ index }) => index), [...data]])).toEqual(
      message.compiledInstructions.map(({ accountKeyIndexes, data }) => [[...accountKeyIndexes], [...data]]),
    );
  });

  test("of version 1 and legacy, as kit writes them, are read as they were meant", () => {
    const payer = kitAddress("4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi");
    const instruction = {
      programAddress: kitAddress("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"),
      data: Uint8Array.of(1, 2, 3),
      accounts: [],
    };
    for (const version of ["legacy", 0, 1] as const) {
      const message = pipe(
        createTransactionMessage({ version: version as 0 }),
        (plan) => setTransactionMessageFeePayer(payer, plan),
        (plan) =>
          setTransactionMessageLifetimeUsingBlockhash(
            { blockhash: kitBlockhash("4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi"), lastValidBlockHeight: 1n },
            plan,
          ),
        (plan) => appendTransactionMessageInstruction(instruction, plan),
      );
      const wire = new Uint8Array(getTransactionEncoder().encode(compileTransaction(message)));
      const read = readTransaction(wire);
      expect(read.version).toBe(version);
      expect(read.accounts.map(({ address, signer, writable }) => [address.toString(), signer, writable])).toEqual([
        [payer, true, true],
        [instruction.programAddress, false, false],
      ]);
      expect(read.instructions.map(({ data }) => [...data])).toEqual([[1, 2, 3]]);
    }
  });
});
