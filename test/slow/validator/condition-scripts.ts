import { Keypair, SystemProgram, Transaction } from "@solana/web3.js";
import bs58 from "bs58";
import { asContext, asJson, type CheckResult, type Json, NodeCalls, type NodeUrls, SOL } from "./node-calls.ts";
import { signVersion1 } from "./version1.ts";

/** Conditions under which a node is put to the test beside the script. */
export interface NodeConditions {
  /** False on a cluster that has not activated version 1. */
  readonly hasVersion1: boolean;
  /** True if the node cuts logs at `CUT_LOG_BYTES`. */
  readonly cutsLogs: boolean;
}

/** Bytes after which the logs of a cutting node end. */
export const CUT_LOG_BYTES = 200;
/** Enough instructions for more logs than that. */
const NOTED_TRANSFERS = 6;

/** What differs between nodes by their features and settings: the same calls for the embedded chain and a real node. */
export async function runConditionScript(node: NodeUrls, conditions: NodeConditions): Promise<readonly CheckResult[]> {
  const script = new ConditionScript(node);
  await script.checkVersion1(conditions);
  await script.checkLogs(conditions);
  await script.checkDropped();
  await script.checkUnknownCommitment();
  return script.results;
}

class ConditionScript extends NodeCalls {
  async checkVersion1({ hasVersion1 }: NodeConditions): Promise<void> {
    const payer = await this.#funded();
    const to = Keypair.generate().publicKey;
    const bytes = signVersion1(payer, to, BigInt(SOL), await this.#blockhash());
    const signature = bs58.encode(bytes.subarray(bytes.length - 64));
    await this.holds("a version 1 transfer is taken, and its answer is the signature", async () => {
      return (await this.#send(bytes)).result === signature;
    });
    if (hasVersion1) {
      await this.holds("it lands, and its record is of version 1", async () => {
        await this.landed(signature);
        const config = { encoding: "json", commitment: "confirmed", maxSupportedTransactionVersion: 1 };
        return asJson(await this.result("getTransaction", [signature, config])).version === 1;
      });
      await this.holds("it moved what it said", async () => (await this.balance(to)) === SOL);
      return;
    }
    await this.holds("without the feature it is dropped", () => this.#isDropped(signature));
    await this.holds("and moved nothing", async () => (await this.balance(to)) === 0);
    await this.holds("the feature's account is absent or not activated", async () => {
      const feature = "txv1aq4pp281K9um3tnPgkfX8UqtFT6wcVW3hNezGLL";
      const { value } = asContext(
        await this.result("getAccountInfo", [feature, { encoding: "base64", commitment: "processed" }]),
      );
      return value === null || Buffer.from(String(asJson(value).data[0]), "base64")[0] === 0;
    });
  }

  async checkLogs({ cutsLogs }: NodeConditions): Promise<void> {
    const payer = await this.#funded();
    const made = await this.#transfers(payer, NOTED_TRANSFERS, SOL);
    await this.#send(made.serialize());
    const signature = bs58.encode(made.signature!);
    let meta: Json = {};
    await this.holds("the last of many transfers fails, and all of them with it", async () => {
      const { err } = await this.landed(signature);
      const config = { encoding: "json", commitment: "confirmed", maxSupportedTransactionVersion: 1 };
      meta = asJson(asJson(await this.result("getTransaction", [signature, config])).meta);
      return JSON.stringify(err) === `{"InstructionError":[${NOTED_TRANSFERS - 1},{"Custom":1}]}`;
    });
    await this.holds("the record names the error as the status does", async () => {
      return JSON.stringify(meta.err) === `{"InstructionError":[${NOTED_TRANSFERS - 1},{"Custom":1}]}`;
    });
    const lines = (meta.logMessages ?? []) as readonly string[];
    const cuts = lines.filter((line) => line === "Log truncated").length;
    if (cutsLogs) {
      await this.holds("its logs are cut, once, and say so", async () => cuts === 1);
      await this.holds("what is left is within the limit", async () => {
        const kept = lines.filter((line) => line !== "Log truncated");
        return kept.reduce((sum, line) => sum + line.length, 0) < CUT_LOG_BYTES;
      });
      return;
    }
    await this.holds("its logs are whole, to the line of the failure", async () => {
      return cuts === 0 && lines.some((line) => line.includes("failed: custom program error: 0x1"));
    });
  }

  async checkDropped(): Promise<void> {
    const poor = Keypair.generate();
    const made = await this.#transfers(poor, 1, 1);
    await this.holds("a transaction whose payer has nothing is taken without preflight", async () => {
      return (await this.#send(made.serialize())).result === bs58.encode(made.signature!);
    });
    await this.holds("and dropped", () => this.#isDropped(bs58.encode(made.signature!)));
    await this.holds("with preflight it is refused", async () => {
      const config = { encoding: "base64", preflightCommitment: "confirmed" };
      const { error } = await this.call("sendTransaction", [made.serialize().toString("base64"), config]);
      return error?.code === -32002 && asJson(error.data).err === "AccountNotFound";
    });
  }

  async checkUnknownCommitment(): Promise<void> {
    const config = { commitment: "certain" };
    const finalized = async () => Number(await this.result("getSlot", [{ commitment: "finalized" }]));
    for (const [method, params] of [
      ["getLatestBlockhash", [config]],
      ["getBalance", [this.node.account, config]],
      ["getAccountInfo", [this.node.account, { encoding: "base64", ...config }]],
      ["getMultipleAccounts", [[this.node.account], { encoding: "base64", ...config }]],
    ] as const)
      await this.holds(`${method} reads a finalized state at an unknown commitment`, async () => {
        const before = await finalized();
        const slot = Number(asContext(await this.result(method, params)).slot);
        return before <= slot && slot <= (await finalized());
      });
  }

  async #isDropped(signature: string): Promise<boolean> {
    await this.passSlots(6);
    const { value } = asContext(await this.result("getSignatureStatuses", [[signature]]));
    return JSON.stringify(value) === "[null]";
  }

  async #funded(): Promise<Keypair> {
    const payer = Keypair.generate();
    await this.landed(String(await this.result("requestAirdrop", [payer.publicKey.toBase58(), 3 * SOL])));
    return payer;
  }

  async #blockhash(): Promise<string> {
    const latest = asContext(await this.result("getLatestBlockhash", [{ commitment: "confirmed" }]));
    return String(asJson(latest.value).blockhash);
  }

  /** Transfers of `lamports` each to strangers, in one transaction. */
  async #transfers(payer: Keypair, count: number, lamports: number): Promise<Transaction> {
    const made = new Transaction({ feePayer: payer.publicKey, recentBlockhash: await this.#blockhash() });
    for (let i = 0; i < count; i++) {
      const toPubkey = Keypair.generate().publicKey;
      const isLast = i === count - 1;
      made.add(
        SystemProgram.transfer({
          fromPubkey: payer.publicKey,
          toPubkey,
          lamports: isLast ? 100 * lamports : lamports / 2,
        }),
      );
    }
    made.sign(payer);
    return made;
  }

  #send(bytes: Uint8Array) {
    // The node sends it again by itself: on a busy machine, a leader may lose a packet.
    const config = { encoding: "base64", skipPreflight: true };
    return this.call("sendTransaction", [Buffer.from(bytes).toString("base64"), config]);
  }
}
