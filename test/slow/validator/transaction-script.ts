import { Keypair, type PublicKey, SystemProgram, Transaction } from "@solana/web3.js";
import bs58 from "bs58";
import { eventually } from "../../support/eventually.ts";
import { asContext, asJson, isHash, isInteger, type Json, NodeCalls, priceInstruction, SOL } from "./node-calls.ts";

/** Checks of what is sent, what becomes of it, and its record. */
export class TransactionScript extends NodeCalls {
  async checkTransactions(): Promise<void> {
    const payer = Keypair.generate();
    const to = Keypair.generate().publicKey;
    let signature = "";
    await this.holds("an airdrop lands and is paid", async () => {
      const airdrop = await this.result("requestAirdrop", [payer.publicKey.toBase58(), 5 * SOL]);
      await this.landed(String(airdrop));
      return (await this.balance(payer.publicKey)) === 5 * SOL;
    });
    const transfer = async (lamports: number, priceOf?: number): Promise<Transaction> => {
      const latest = asContext(await this.result("getLatestBlockhash", [{ commitment: "confirmed" }]));
      const { blockhash } = asJson(latest.value);
      const made = new Transaction({ feePayer: payer.publicKey, recentBlockhash: String(blockhash) });
      if (priceOf !== undefined) made.add(priceInstruction(priceOf));
      made.add(SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports }));
      made.sign(payer);
      return made;
    };
    const send = (bytes: Uint8Array) =>
      this.call("sendTransaction", [
        Buffer.from(bytes).toString("base64"),
        { encoding: "base64", skipPreflight: true, maxRetries: 0 },
      ]);

    await this.holds("a message's fee is 5,000 lamports a signature", async () => {
      const message = (await transfer(SOL)).compileMessage().serialize().toString("base64");
      return asContext(await this.result("getFeeForMessage", [message, { commitment: "confirmed" }])).value === 5_000;
    });
    await this.holds("the fee of a message on an unknown blockhash is null", async () => {
      const strange = await transfer(SOL);
      strange.recentBlockhash = bs58.encode(Buffer.alloc(32, 3));
      const message = strange.compileMessage().serialize().toString("base64");
      return asContext(await this.result("getFeeForMessage", [message, { commitment: "confirmed" }])).value === null;
    });
    await this.holds("a simulation says what would happen and changes nothing", async () => {
      const encoded = (await transfer(SOL)).serialize().toString("base64");
      const { value } = asContext(
        await this.result("simulateTransaction", [encoded, { encoding: "base64", commitment: "confirmed" }]),
      );
      const { err, logs, unitsConsumed } = asJson(value);
      return (
        err === null &&
        Array.isArray(logs) &&
        isInteger(unitsConsumed) &&
        (await this.balance(payer.publicKey)) === 5 * SOL
      );
    });
    await this.holds("a transfer is taken, and its answer is the signature", async () => {
      const sent = await transfer(SOL, 70_000);
      const answer = await send(sent.serialize());
      signature = String(answer.result);
      return signature === bs58.encode(sent.signature!);
    });
    await this.holds("it becomes confirmed with a slot and no error", async () => {
      const status = await this.landed(signature);
      return isInteger(status.slot) && status.err === null && status.confirmationStatus !== "processed";
    });
    await this.holds("a status has the old form beside the new", async () => {
      const status = await this.landed(signature);
      return JSON.stringify(status.status) === '{"Ok":null}' && "confirmations" in status;
    });
    await this.holds("sender and receiver have what was sent, and the fee is taken", async () => {
      const fee = 5_000 + Math.ceil((70_000 * 400_000) / 1e6);
      const [left, got] = [await this.balance(payer.publicKey), await this.balance(to)];
      return got === SOL && left <= 4 * SOL - 5_000 && left >= 4 * SOL - fee;
    });
    await this.#checkRecord(() => signature, payer.publicKey);
    await this.holds("the slot of a paid transaction is among recent fees, with its price", async () => {
      const { slot } = await this.landed(signature);
      const fees = (await this.result("getRecentPrioritizationFees", [[payer.publicKey.toBase58()]])) as Json[];
      return fees.some((fee) => fee.slot === slot && fee.prioritizationFee === 70_000);
    });
    await this.holds("history by address names it", async () => {
      let names = false;
      await eventually(async () => {
        const config = { commitment: "confirmed", limit: 10 };
        const list = (await this.result("getSignaturesForAddress", [payer.publicKey.toBase58(), config])) as Json[];
        names = list.some((entry) => entry.signature === signature && entry.err === null && isInteger(entry.slot));
        if (!names) throw new Error("not listed yet");
      });
      return names;
    });
    const again = await transfer(SOL / 2);
    await send(again.serialize());
    await this.landed(bs58.encode(again.signature!));
    const before = await this.balance(payer.publicKey);
    await this.holds("the same bytes again are taken", async () => (await send(again.serialize())).error === undefined);
    await this.holds("and change nothing", async () => {
      await this.passSlots(4);
      return (await this.balance(payer.publicKey)) === before;
    });
    await this.holds("a transfer that cannot be paid lands failed, with its error and its fee", async () => {
      const failing = await transfer(1_000 * SOL);
      const before = await this.balance(payer.publicKey);
      await send(failing.serialize());
      const { err } = await this.landed(bs58.encode(failing.signature!));
      const isCustom = JSON.stringify(err) === '{"InstructionError":[0,{"Custom":1}]}';
      return isCustom && before - (await this.balance(payer.publicKey)) === 5_000;
    });
    await this.holds("with preflight it is refused, with the error", async () => {
      const encoded = (await transfer(1_000 * SOL)).serialize().toString("base64");
      const config = { encoding: "base64", preflightCommitment: "confirmed" };
      const { error } = await this.call("sendTransaction", [encoded, config]);
      return error?.code === -32002 && JSON.stringify(error.data).includes("InstructionError");
    });
    await this.holds("a badly signed one is refused with preflight, and dropped without", async () => {
      const bytes = Buffer.from((await transfer(SOL / 4)).serialize());
      bytes[10]! ^= 1;
      const config = { encoding: "base64", preflightCommitment: "confirmed" };
      const checked = await this.call("sendTransaction", [bytes.toString("base64"), config]);
      const signed = bs58.encode(bytes.subarray(1, 65));
      await send(bytes);
      await this.passSlots(4);
      const { value } = asContext(await this.result("getSignatureStatuses", [[signed]]));
      const isRefused = checked.error?.code === -32002 && asJson(checked.error.data).err === "SignatureFailure";
      return isRefused && JSON.stringify(value) === "[null]";
    });
    await this.holds("one on an unknown blockhash is taken and dropped", async () => {
      const strange = await transfer(SOL / 8);
      strange.recentBlockhash = bs58.encode(Buffer.alloc(32, 5));
      strange.sign(payer);
      const answer = await send(strange.serialize());
      await this.passSlots(4);
      const { value } = asContext(await this.result("getSignatureStatuses", [[answer.result]]));
      return answer.error === undefined && JSON.stringify(value) === "[null]";
    });
  }

  async #checkRecord(signature: () => string, payer: PublicKey): Promise<void> {
    const read = async (more: Json = {}) =>
      asJson(
        await this.result("getTransaction", [
          signature(),
          { encoding: "json", commitment: "confirmed", maxSupportedTransactionVersion: 1, ...more },
        ]),
      );
    await this.holds("its record has slot, time and version", async () => {
      const { slot, blockTime, version } = await read();
      return isInteger(slot) && isInteger(blockTime) && version === "legacy";
    });
    await this.holds("its record names the signature and the accounts", async () => {
      const transaction = asJson((await read()).transaction);
      const { accountKeys, instructions, recentBlockhash } = asJson(transaction.message);
      const keys = accountKeys as string[];
      return (
        (transaction.signatures as string[])[0] === signature() &&
        keys[0] === payer.toBase58() &&
        isHash(recentBlockhash) &&
        (instructions as Json[]).every(({ programIdIndex }) => isInteger(programIdIndex))
      );
    });
    await this.holds("its record has balances of every account before and after", async () => {
      const { meta, transaction } = await read();
      const { preBalances, postBalances, fee } = asJson(meta);
      const count = (asJson(asJson(transaction).message).accountKeys as string[]).length;
      const [pre, post] = [preBalances as number[], postBalances as number[]];
      const taken = pre.reduce((sum, one) => sum + one, 0) - post.reduce((sum, one) => sum + one, 0);
      return pre.length === count && post.length === count && taken === fee;
    });
    await this.holds("its record has logs, units, no error, and empty token balances", async () => {
      const { err, logMessages, computeUnitsConsumed, preTokenBalances, postTokenBalances } = asJson(
        (await read()).meta,
      );
      const isPlain = err === null && isInteger(computeUnitsConsumed);
      const hasLogs = (logMessages as string[]).some((line) => line.includes("success"));
      return isPlain && hasLogs && JSON.stringify([preTokenBalances, postTokenBalances]) === "[[],[]]";
    });
    await this.holds("its record has no loaded addresses and a list of inner instructions", async () => {
      const { loadedAddresses, innerInstructions } = asJson((await read()).meta);
      const { readonly, writable } = asJson(loadedAddresses);
      return JSON.stringify([readonly, writable]) === "[[],[]]" && Array.isArray(innerInstructions);
    });
    await this.holds("its record in base64 is the bytes that were sent", async () => {
      const [bytes, encoding] = (await read({ encoding: "base64" })).transaction as string[];
      return encoding === "base64" && bs58.encode(Buffer.from(bytes!, "base64").subarray(1, 65)) === signature();
    });
  }
}
