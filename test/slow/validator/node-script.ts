import { Keypair, PublicKey, SystemProgram, Transaction } from "@solana/web3.js";
import bs58 from "bs58";
import { WebSocket } from "ws";
import { eventually } from "../../support/eventually.ts";

/** A node to put to the test, embedded or real. */
export interface NodeUrls {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  /** A program and one of its accounts. */
  readonly program: string;
  readonly account: string;
}

/** A check and how it went; undefined means that it holds. */
export interface CheckResult {
  readonly name: string;
  readonly fault: string | undefined;
}

type Json = Readonly<Record<string, unknown>>;
interface RpcAnswer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

const COMMITMENTS = ["processed", "confirmed", "finalized"] as const;
const CLOCK = "SysvarC1ock11111111111111111111111111111111";
const TXV1_FEATURE = "txv1aq4pp281K9um3tnPgkfX8UqtFT6wcVW3hNezGLL";
const SOL = 1_000_000_000;
const FAR_SLOT = 4_000_000_000_000;
const INVALID_PARAMS = -32602;
const METHOD_NOT_FOUND = -32601;
const MIN_CONTEXT = -32016;

/** The same calls and subscriptions for every node, over every method the service uses: shapes and meaning, not values. */
export async function runNodeScript(node: NodeUrls): Promise<readonly CheckResult[]> {
  const script = new NodeScript(node);
  await script.checkChain();
  await script.checkAccounts();
  await script.checkRefusals();
  await script.checkTransactions();
  await script.checkSubscriptions();
  return script.results;
}

class NodeScript {
  readonly results: CheckResult[] = [];
  readonly #node: NodeUrls;
  #lastId = 0;

  constructor(node: NodeUrls) {
    this.#node = node;
  }

  async checkChain(): Promise<void> {
    await this.#holds("getGenesisHash is a hash", async () => isHash(await this.#result("getGenesisHash")));
    await this.#holds("getGenesisHash never changes", async () => {
      const [a, b] = [await this.#result("getGenesisHash"), await this.#result("getGenesisHash")];
      return a === b;
    });
    await this.#holds("getVersion names a version", async () => {
      const version = asJson(await this.#result("getVersion"));
      return typeof version["solana-core"] === "string" && typeof version["feature-set"] === "number";
    });
    await this.#holds("getHealth is ok", async () => (await this.#result("getHealth")) === "ok");
    for (const commitment of COMMITMENTS) await this.#checkHead(commitment);
    await this.#holds("slots are ordered by commitment", async () => {
      const slots: number[] = [];
      for (const commitment of ["finalized", "confirmed", "processed"])
        slots.push(Number(await this.#result("getSlot", [{ commitment }])));
      return slots.every((slot, i) => i === 0 || slot >= slots[i - 1]!);
    });
    await this.#holds("the slot moves", async () => {
      const before = Number(await this.#result("getSlot", [{ commitment: "processed" }]));
      await eventually(async () => {
        if (Number(await this.#result("getSlot", [{ commitment: "processed" }])) <= before)
          throw new Error("stands still");
      });
      return true;
    });
    await this.#checkRentAndFees();
  }

  async #checkHead(commitment: (typeof COMMITMENTS)[number]): Promise<void> {
    const config = { commitment };
    await this.#holds(`getSlot at ${commitment} is an integer`, async () =>
      isInteger(await this.#result("getSlot", [config])),
    );
    await this.#holds(`getBlockHeight at ${commitment} is at most the slot`, async () => {
      const height = Number(await this.#result("getBlockHeight", [config]));
      return isInteger(height) && height <= Number(await this.#result("getSlot", [{ commitment: "processed" }]));
    });
    await this.#holds(`getEpochInfo at ${commitment} has slot, height and epoch`, async () => {
      const info = asJson(await this.#result("getEpochInfo", [config]));
      const { absoluteSlot, blockHeight, epoch, slotIndex, slotsInEpoch } = info;
      return (
        [absoluteSlot, blockHeight, epoch, slotIndex, slotsInEpoch].every(isInteger) && blockHeight! <= absoluteSlot!
      );
    });
    await this.#holds(`getLatestBlockhash at ${commitment} has a blockhash and its last height`, async () => {
      const { slot, value } = asContext(await this.#result("getLatestBlockhash", [config]));
      const { blockhash, lastValidBlockHeight } = asJson(value);
      return isInteger(slot) && isHash(blockhash) && isInteger(lastValidBlockHeight);
    });
    await this.#holds(`a blockhash at ${commitment} is good for 150 blocks`, async () => {
      const [latest, info] = await Promise.all([
        this.#result("getLatestBlockhash", [config]),
        this.#result("getEpochInfo", [config]),
      ]);
      const { lastValidBlockHeight } = asJson(asContext(latest).value);
      const blocks = Number(lastValidBlockHeight) - Number(asJson(info).blockHeight);
      return Math.abs(blocks - 150) <= 3;
    });
    await this.#holds(`isBlockhashValid at ${commitment} knows the finalized blockhash`, async () => {
      const latest = asContext(await this.#result("getLatestBlockhash", [{ commitment: "finalized" }]));
      const { blockhash } = asJson(latest.value);
      return asContext(await this.#result("isBlockhashValid", [blockhash, config])).value === true;
    });
    await this.#holds(
      `isBlockhashValid at ${commitment} does not know a stranger`,
      async () =>
        asContext(await this.#result("isBlockhashValid", [bs58.encode(Buffer.alloc(32, 7)), config])).value === false,
    );
    for (const method of ["getSlot", "getBlockHeight", "getEpochInfo", "getLatestBlockhash"])
      await this.#refuses(`${method} at ${commitment} refuses a slot that is not reached`, MIN_CONTEXT, method, [
        { commitment, minContextSlot: FAR_SLOT },
      ]);
  }

  async #checkRentAndFees(): Promise<void> {
    const rent = async (size: number) => Number(await this.#result("getMinimumBalanceForRentExemption", [size]));
    await this.#holds("rent is linear in the size", async () => {
      const [none, one, hundred] = [await rent(0), await rent(1), await rent(100)];
      return none > 0 && (one - none) * 100 === hundred - none && none === 128 * (one - none);
    });
    await this.#holds("performance samples are a list of slots over seconds", async () => {
      const samples = (await this.#result("getRecentPerformanceSamples", [1])) as Json[];
      return (
        samples.length <= 1 &&
        samples.every(({ numSlots, samplePeriodSecs }) => isInteger(numSlots) && isInteger(samplePeriodSecs))
      );
    });
    await this.#holds("recent fees are a list by slot", async () =>
      isFeeList(await this.#result("getRecentPrioritizationFees", [[]])),
    );
    await this.#holds("recent fees of an account are a list by slot", async () =>
      isFeeList(await this.#result("getRecentPrioritizationFees", [[this.#node.account]])),
    );
    await this.#holds("an idle slot is not among recent fees", async () => {
      const fees = (await this.#result("getRecentPrioritizationFees", [[]])) as Json[];
      return fees.every(({ prioritizationFee }) => Number(prioritizationFee) >= 0) && fees.length < 150;
    });
  }

  async checkAccounts(): Promise<void> {
    const { account, program } = this.#node;
    const nobody = Keypair.generate().publicKey.toBase58();
    for (const commitment of COMMITMENTS) {
      const config = { encoding: "base64", commitment };
      await this.#holds(`getMultipleAccounts at ${commitment} answers in order, null for nobody`, async () => {
        const { slot, value } = asContext(
          await this.#result("getMultipleAccounts", [[CLOCK, nobody, account], config]),
        );
        const [clock, absent, held] = value as unknown[];
        return isInteger(slot) && isAccount(clock) && absent === null && isAccount(held);
      });
      await this.#holds(`getAccountInfo at ${commitment} is that account`, async () =>
        isAccount(asContext(await this.#result("getAccountInfo", [account, config])).value),
      );
      await this.#holds(
        `getAccountInfo at ${commitment} is null for nobody`,
        async () => asContext(await this.#result("getAccountInfo", [nobody, config])).value === null,
      );
      await this.#holds(`the clock at ${commitment} is at most at its context's slot`, async () => {
        const { slot, value } = asContext(await this.#result("getAccountInfo", [CLOCK, config]));
        const data = Buffer.from((asJson(value).data as string[])[0]!, "base64");
        return data.length === 40 && Number(data.readBigUInt64LE(0)) <= Number(slot);
      });
      await this.#holds(`getBalance at ${commitment} is an integer`, async () =>
        isInteger(asContext(await this.#result("getBalance", [account, { commitment }])).value),
      );
      await this.#holds(`getProgramAccounts at ${commitment} lists accounts with their keys`, async () => {
        const list = (await this.#result("getProgramAccounts", [program, config])) as Json[];
        return list.length > 0 && list.every(({ pubkey, account }) => typeof pubkey === "string" && isAccount(account));
      });
      await this.#refuses(
        `getMultipleAccounts at ${commitment} refuses a slot that is not reached`,
        MIN_CONTEXT,
        "getMultipleAccounts",
        [[CLOCK], { ...config, minContextSlot: FAR_SLOT }],
      );
    }
    await this.#holds("a memcmp filter finds the account, and a wrong one none", async () => {
      const { value } = asContext(await this.#result("getAccountInfo", [account, { encoding: "base64" }]));
      const data = Buffer.from((asJson(value).data as string[])[0]!, "base64");
      const search = async (bytes: string) =>
        (await this.#result("getProgramAccounts", [
          program,
          {
            encoding: "base64",
            filters: [{ dataSize: data.length }, { memcmp: { offset: 0, bytes, encoding: "base58" } }],
          },
        ])) as Json[];
      const found = await search(bs58.encode(data.subarray(0, 8)));
      const none = await search(bs58.encode(Buffer.alloc(8, 0xee)));
      return found.some(({ pubkey }) => pubkey === account) && none.length === 0;
    });
    await this.#holds("a data slice is that part of the data", async () => {
      const config = { encoding: "base64", dataSlice: { offset: 8, length: 5 } };
      const { value } = asContext(await this.#result("getAccountInfo", [account, config]));
      return Buffer.from((asJson(value).data as string[])[0]!, "base64").length === 5;
    });
    await this.#holds("the feature account of version 1 is owned by the feature program and activated", async () => {
      const { value } = asContext(await this.#result("getAccountInfo", [TXV1_FEATURE, { encoding: "base64" }]));
      const { owner, data } = asJson(value);
      const bytes = Buffer.from((data as string[])[0]!, "base64");
      return owner === "Feature111111111111111111111111111111111111" && bytes.length === 9 && bytes[0] === 1;
    });
  }

  async checkRefusals(): Promise<void> {
    const signature = bs58.encode(Buffer.alloc(64, 9));
    const wrong: readonly (readonly [string, readonly unknown[]])[] = [
      ["getAccountInfo", ["not a key"]],
      ["getAccountInfo", []],
      ["getMultipleAccounts", [["not a key"]]],
      ["getMultipleAccounts", [Array.from({ length: 101 }, () => CLOCK)]],
      ["getProgramAccounts", ["not a key"]],
      ["getSignatureStatuses", [["not a signature"]]],
      ["getSignatureStatuses", [Array.from({ length: 257 }, () => signature)]],
      ["getTransaction", ["not a signature"]],
      ["getTransaction", [signature, { commitment: "processed" }]],
      ["isBlockhashValid", []],
      ["getFeeForMessage", ["not base64!"]],
      ["getRecentPrioritizationFees", [["not a key"]]],
      ["getRecentPrioritizationFees", [Array.from({ length: 129 }, () => CLOCK)]],
      ["sendTransaction", ["not base64!", { encoding: "base64" }]],
      ["sendTransaction", [Buffer.alloc(5_000).toString("base64"), { encoding: "base64" }]],
      ["sendTransaction", []],
      ["simulateTransaction", ["not base64!", { encoding: "base64" }]],
      ["requestAirdrop", ["not a key", 1]],
      ["getSignaturesForAddress", ["not a key"]],
    ];
    for (const [method, params] of wrong)
      await this.#refuses(`${method} refuses ${JSON.stringify(params).slice(0, 50)}`, INVALID_PARAMS, method, params);
    await this.#refuses("an unknown method is refused", METHOD_NOT_FOUND, "getNothing", []);
    await this.#holds("statuses of strangers are null, in order", async () => {
      for (const searchTransactionHistory of [false, true]) {
        const params = [[signature, signature], { searchTransactionHistory }];
        const { value } = asContext(await this.#result("getSignatureStatuses", params));
        if (JSON.stringify(value) !== "[null,null]") return false;
      }
      return true;
    });
    await this.#holds(
      "the record of a stranger is null",
      async () => (await this.#result("getTransaction", [signature, { maxSupportedTransactionVersion: 1 }])) === null,
    );
    await this.#holds("an id is given back as it came", async () => {
      const body = { jsonrpc: "2.0", id: "a text", method: "getSlot" };
      return (await this.#post(body)).id === "a text";
    });
    await this.#holds("a batch is answered whole", async () => {
      const calls = [1, 2, 3].map((id) => ({ jsonrpc: "2.0", id, method: "getHealth" }));
      const answers = (await this.#post(calls)) as unknown as Json[];
      return answers.length === 3 && answers.every(({ result }) => result === "ok");
    });
  }

  async checkTransactions(): Promise<void> {
    const payer = Keypair.generate();
    const to = Keypair.generate().publicKey;
    let signature = "";
    await this.#holds("an airdrop lands and is paid", async () => {
      const airdrop = await this.#result("requestAirdrop", [payer.publicKey.toBase58(), 5 * SOL]);
      await this.#landed(String(airdrop));
      return (await this.#balance(payer.publicKey)) === 5 * SOL;
    });
    const transfer = async (lamports: number, priceOf?: number): Promise<Transaction> => {
      const latest = asContext(await this.#result("getLatestBlockhash", [{ commitment: "confirmed" }]));
      const { blockhash } = asJson(latest.value);
      const made = new Transaction({ feePayer: payer.publicKey, recentBlockhash: String(blockhash) });
      if (priceOf !== undefined) made.add(priceInstruction(priceOf));
      made.add(SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports }));
      made.sign(payer);
      return made;
    };
    const send = (bytes: Uint8Array) =>
      this.#call("sendTransaction", [
        Buffer.from(bytes).toString("base64"),
        { encoding: "base64", skipPreflight: true, maxRetries: 0 },
      ]);

    await this.#holds("a message's fee is 5,000 lamports a signature", async () => {
      const message = (await transfer(SOL)).compileMessage().serialize().toString("base64");
      return asContext(await this.#result("getFeeForMessage", [message, { commitment: "confirmed" }])).value === 5_000;
    });
    await this.#holds("the fee of a message on an unknown blockhash is null", async () => {
      const strange = await transfer(SOL);
      strange.recentBlockhash = bs58.encode(Buffer.alloc(32, 3));
      const message = strange.compileMessage().serialize().toString("base64");
      return asContext(await this.#result("getFeeForMessage", [message, { commitment: "confirmed" }])).value === null;
    });
    await this.#holds("a simulation says what would happen and changes nothing", async () => {
      const encoded = (await transfer(SOL)).serialize().toString("base64");
      const { value } = asContext(
        await this.#result("simulateTransaction", [encoded, { encoding: "base64", commitment: "confirmed" }]),
      );
      const { err, logs, unitsConsumed } = asJson(value);
      return (
        err === null &&
        Array.isArray(logs) &&
        isInteger(unitsConsumed) &&
        (await this.#balance(payer.publicKey)) === 5 * SOL
      );
    });
    await this.#holds("a transfer is taken, and its answer is the signature", async () => {
      const sent = await transfer(SOL, 70_000);
      const answer = await send(sent.serialize());
      signature = String(answer.result);
      return signature === bs58.encode(sent.signature!);
    });
    await this.#holds("it becomes confirmed with a slot and no error", async () => {
      const status = await this.#landed(signature);
      return isInteger(status.slot) && status.err === null && status.confirmationStatus !== "processed";
    });
    await this.#holds("a status has the old form beside the new", async () => {
      const status = await this.#landed(signature);
      return JSON.stringify(status.status) === '{"Ok":null}' && "confirmations" in status;
    });
    await this.#holds("sender and receiver have what was sent, and the fee is taken", async () => {
      const fee = 5_000 + Math.ceil((70_000 * 400_000) / 1e6);
      const [left, got] = [await this.#balance(payer.publicKey), await this.#balance(to)];
      return got === SOL && left <= 4 * SOL - 5_000 && left >= 4 * SOL - fee;
    });
    await this.#checkRecord(() => signature, payer.publicKey);
    await this.#holds("the slot of a paid transaction is among recent fees, with its price", async () => {
      const { slot } = await this.#landed(signature);
      const fees = (await this.#result("getRecentPrioritizationFees", [[payer.publicKey.toBase58()]])) as Json[];
      return fees.some((fee) => fee.slot === slot && fee.prioritizationFee === 70_000);
    });
    await this.#holds("history by address names it", async () => {
      let names = false;
      await eventually(async () => {
        const config = { commitment: "confirmed", limit: 10 };
        const list = (await this.#result("getSignaturesForAddress", [payer.publicKey.toBase58(), config])) as Json[];
        names = list.some((entry) => entry.signature === signature && entry.err === null && isInteger(entry.slot));
        if (!names) throw new Error("not listed yet");
      });
      return names;
    });
    await this.#holds("the same bytes again are taken and change nothing", async () => {
      const again = await transfer(SOL / 2);
      await send(again.serialize());
      await this.#landed(bs58.encode(again.signature!));
      const before = await this.#balance(payer.publicKey);
      const answer = await send(again.serialize());
      await this.#passSlots(4);
      return answer.error === undefined && (await this.#balance(payer.publicKey)) === before;
    });
    await this.#holds("a transfer that cannot be paid lands failed, with its error and its fee", async () => {
      const failing = await transfer(1_000 * SOL);
      const before = await this.#balance(payer.publicKey);
      await send(failing.serialize());
      const { err } = await this.#landed(bs58.encode(failing.signature!));
      const isCustom = JSON.stringify(err) === '{"InstructionError":[0,{"Custom":1}]}';
      return isCustom && before - (await this.#balance(payer.publicKey)) === 5_000;
    });
    await this.#holds("with preflight it is refused, with the error", async () => {
      const encoded = (await transfer(1_000 * SOL)).serialize().toString("base64");
      const config = { encoding: "base64", preflightCommitment: "confirmed" };
      const { error } = await this.#call("sendTransaction", [encoded, config]);
      return error?.code === -32002 && JSON.stringify(error.data).includes("InstructionError");
    });
    await this.#holds("a badly signed one is refused with preflight, and dropped without", async () => {
      const bytes = Buffer.from((await transfer(SOL / 4)).serialize());
      bytes[10]! ^= 1;
      const config = { encoding: "base64", preflightCommitment: "confirmed" };
      const checked = await this.#call("sendTransaction", [bytes.toString("base64"), config]);
      const signed = bs58.encode(bytes.subarray(1, 65));
      await send(bytes);
      await this.#passSlots(4);
      const { value } = asContext(await this.#result("getSignatureStatuses", [[signed]]));
      const isRefused = checked.error?.code === -32002 && asJson(checked.error.data).err === "SignatureFailure";
      return isRefused && JSON.stringify(value) === "[null]";
    });
    await this.#holds("one on an unknown blockhash is taken and dropped", async () => {
      const strange = await transfer(SOL / 8);
      strange.recentBlockhash = bs58.encode(Buffer.alloc(32, 5));
      strange.sign(payer);
      const answer = await send(strange.serialize());
      await this.#passSlots(4);
      const { value } = asContext(await this.#result("getSignatureStatuses", [[answer.result]]));
      return answer.error === undefined && JSON.stringify(value) === "[null]";
    });
  }

  async #checkRecord(signature: () => string, payer: PublicKey): Promise<void> {
    const read = async (more: Json = {}) =>
      asJson(
        await this.#result("getTransaction", [
          signature(),
          { encoding: "json", commitment: "confirmed", maxSupportedTransactionVersion: 1, ...more },
        ]),
      );
    await this.#holds("its record has slot, time and version", async () => {
      const { slot, blockTime, version } = await read();
      return isInteger(slot) && isInteger(blockTime) && version === "legacy";
    });
    await this.#holds("its record names the signature and the accounts", async () => {
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
    await this.#holds("its record has balances of every account before and after", async () => {
      const { meta, transaction } = await read();
      const { preBalances, postBalances, fee } = asJson(meta);
      const count = (asJson(asJson(transaction).message).accountKeys as string[]).length;
      const [pre, post] = [preBalances as number[], postBalances as number[]];
      const taken = pre.reduce((sum, one) => sum + one, 0) - post.reduce((sum, one) => sum + one, 0);
      return pre.length === count && post.length === count && taken === fee;
    });
    await this.#holds("its record has logs, units, no error, and empty token balances", async () => {
      const { err, logMessages, computeUnitsConsumed, preTokenBalances, postTokenBalances } = asJson(
        (await read()).meta,
      );
      const isPlain = err === null && isInteger(computeUnitsConsumed);
      const hasLogs = (logMessages as string[]).some((line) => line.includes("success"));
      return isPlain && hasLogs && JSON.stringify([preTokenBalances, postTokenBalances]) === "[[],[]]";
    });
    await this.#holds("its record has no loaded addresses and a list of inner instructions", async () => {
      const { loadedAddresses, innerInstructions } = asJson((await read()).meta);
      const { readonly, writable } = asJson(loadedAddresses);
      return JSON.stringify([readonly, writable]) === "[[],[]]" && Array.isArray(innerInstructions);
    });
    await this.#holds("its record in base64 is the bytes that were sent", async () => {
      const [bytes, encoding] = (await read({ encoding: "base64" })).transaction as string[];
      return encoding === "base64" && bs58.encode(Buffer.from(bytes!, "base64").subarray(1, 65)) === signature();
    });
  }

  async checkSubscriptions(): Promise<void> {
    const socket = new WebSocket(this.#node.wsUrl);
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    const client = new ScriptSocket(socket);
    try {
      await this.#checkSlots(client);
      await this.#checkAccountNotices(client);
      await this.#checkSignatureNotices(client);
      await this.#holds(
        "an unknown subscription is refused as a method",
        async () => (await client.ask("nothingSubscribe", [])).error?.code === METHOD_NOT_FOUND,
      );
      await this.#holds(
        "accountSubscribe refuses what is not a key",
        async () => (await client.ask("accountSubscribe", ["x"])).error?.code === INVALID_PARAMS,
      );
      await this.#holds(
        "slotUnsubscribe refuses an unknown number",
        async () => (await client.ask("slotUnsubscribe", [999_999_999])).error?.code === INVALID_PARAMS,
      );
    } finally {
      socket.close();
    }
  }

  async #checkSlots(client: ScriptSocket): Promise<void> {
    const { result: id } = await client.ask("slotSubscribe", []);
    await this.#holds("slotSubscribe answers with a number", async () => isInteger(id));
    await client.collects("slotNotification", 5);
    const slots = client.noticesOf(id).map(asJson);
    await this.#holds("slot notices have slot, parent and root", async () =>
      slots.every(({ slot, parent, root }) => [slot, parent, root].every(isInteger)),
    );
    await this.#holds("a slot is above its parent, and a parent not below the root", async () =>
      slots.every(({ slot, parent, root }) => slot! > parent! && parent! >= root!),
    );
    await this.#holds("slots rise", async () => slots.every(({ slot }, i) => i === 0 || slot! > slots[i - 1]!.slot!));
    await this.#holds("each slot's parent was reported before", async () =>
      slots.every(({ parent }, i) => i === 0 || slots.slice(0, i).some(({ slot }) => slot === parent)),
    );
    await this.#holds(
      "slotUnsubscribe answers true",
      async () => (await client.ask("slotUnsubscribe", [id])).result === true,
    );
  }

  async #checkAccountNotices(client: ScriptSocket): Promise<void> {
    const payer = Keypair.generate();
    await this.#landed(String(await this.#result("requestAirdrop", [payer.publicKey.toBase58(), 20 * SOL])));
    const watched = Keypair.generate().publicKey.toBase58();
    const params = [watched, { encoding: "base64", commitment: "processed" }];
    const { result: id } = await client.ask("accountSubscribe", params);
    await this.#holds("accountSubscribe answers with a number", async () => isInteger(id));
    await this.#holds(
      "the same subscription on one connection has the same number",
      async () => (await client.ask("accountSubscribe", params)).result === id,
    );
    const other = await client.ask("accountSubscribe", [watched, { encoding: "base64", commitment: "confirmed" }]);
    await this.#holds(
      "another commitment is another subscription",
      async () => isInteger(other.result) && other.result !== id,
    );
    await this.#pay(payer, watched, 3 * SOL);
    await client.collectsOf(id, 1);
    const [first] = client.noticesOf(id);
    await this.#holds("an account notice has context and account", async () => {
      const { slot, value } = asContext(first);
      return isInteger(slot) && isAccount(value) && asJson(value).lamports === 3 * SOL;
    });
    await client.collectsOf(other.result, 1);
    await this.#holds(
      "the notice at confirmed holds the same account",
      async () => asJson(asContext(client.noticesOf(other.result)[0]).value).lamports === 3 * SOL,
    );
    await this.#holds("several changes within a slot are one notice", async () => {
      const before = client.noticesOf(id).length;
      await Promise.all([1, 2, 3, 4].map((sol) => this.#pay(payer, watched, sol * SOL)));
      await eventually(async () => {
        if ((await this.#balance(new PublicKey(watched))) !== 13 * SOL) throw new Error("not all paid");
      });
      await this.#passSlots(3);
      const notices = client.noticesOf(id).slice(before);
      const slots = notices.map((notice) => asContext(notice).slot);
      const last = asJson(asContext(notices.at(-1)).value).lamports;
      return new Set(slots).size === slots.length && last === 13 * SOL;
    });
    await this.#holds("unsubscribing once ends it for both", async () => {
      const first = await client.ask("accountUnsubscribe", [id]);
      const second = await client.ask("accountUnsubscribe", [id]);
      return first.result === true && second.error?.code === INVALID_PARAMS;
    });
    await this.#holds("an ended subscription reports nothing", async () => {
      const before = client.noticesOf(id).length;
      await this.#pay(payer, watched, SOL);
      await this.#passSlots(4);
      return client.noticesOf(id).length === before;
    });
  }

  async #checkSignatureNotices(client: ScriptSocket): Promise<void> {
    const to = Keypair.generate().publicKey.toBase58();
    const signature = String(await this.#result("requestAirdrop", [to, SOL]));
    const { result: id } = await client.ask("signatureSubscribe", [signature, { commitment: "confirmed" }]);
    await this.#holds("signatureSubscribe answers with a number", async () => isInteger(id));
    await client.collectsOf(id, 1);
    await this.#holds("a signature notice has context and no error", async () => {
      const { slot, value } = asContext(client.noticesOf(id)[0]);
      return isInteger(slot) && JSON.stringify(value) === '{"err":null}';
    });
    await this.#holds("it is the only one, and its subscription is over", async () => {
      await this.#passSlots(3);
      const ended = await client.ask("signatureUnsubscribe", [id]);
      return client.noticesOf(id).length === 1 && ended.error?.code === INVALID_PARAMS;
    });
    await this.#holds("a subscription to what has landed already is answered at once", async () => {
      const { result: late } = await client.ask("signatureSubscribe", [signature, { commitment: "confirmed" }]);
      await client.collectsOf(late, 1);
      return JSON.stringify(asContext(client.noticesOf(late)[0]).value) === '{"err":null}';
    });
    await this.#refusesSocket(client, "signatureSubscribe refuses what is no signature", "signatureSubscribe", ["x"]);
  }

  async #refusesSocket(client: ScriptSocket, name: string, method: string, params: readonly unknown[]): Promise<void> {
    await this.#holds(name, async () => (await client.ask(method, params)).error?.code === INVALID_PARAMS);
  }

  async #holds(name: string, check: () => Promise<boolean>): Promise<void> {
    try {
      this.results.push({ name, fault: (await check()) ? undefined : "does not hold" });
    } catch (error) {
      this.results.push({ name, fault: String(error).slice(0, 300) });
    }
  }

  async #refuses(name: string, code: number, method: string, params: readonly unknown[]): Promise<void> {
    const answer = await this.#call(method, params);
    const fault = answer.error?.code === code ? undefined : `answers ${JSON.stringify(answer).slice(0, 200)}`;
    this.results.push({ name, fault });
  }

  async #landed(signature: string): Promise<Json> {
    let status: Json | undefined;
    await eventually(async () => {
      const { value } = asContext(await this.#result("getSignatureStatuses", [[signature]]));
      const [found] = value as (Json | null)[];
      if (found === null || found === undefined || found.confirmationStatus === "processed")
        throw new Error("not confirmed");
      status = found;
    });
    return status!;
  }

  async #passSlots(count: number): Promise<void> {
    const slot = async () => Number(await this.#result("getSlot", [{ commitment: "processed" }]));
    const last = (await slot()) + count;
    await eventually(async () => {
      if ((await slot()) < last) throw new Error("not yet");
    });
  }

  async #balance(address: PublicKey): Promise<number> {
    return Number(asContext(await this.#result("getBalance", [address.toBase58(), { commitment: "confirmed" }])).value);
  }

  /** Sends lamports, without waiting for them to arrive. */
  async #pay(from: Keypair, to: string, lamports: number): Promise<void> {
    const latest = asContext(await this.#result("getLatestBlockhash", [{ commitment: "confirmed" }]));
    const transfer = new Transaction({ feePayer: from.publicKey, recentBlockhash: asJson(latest.value).blockhash });
    transfer.add(SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: new PublicKey(to), lamports }));
    transfer.sign(from);
    const config = { encoding: "base64", skipPreflight: true };
    await this.#result("sendTransaction", [transfer.serialize().toString("base64"), config]);
  }

  async #result(method: string, params: readonly unknown[] = []): Promise<unknown> {
    const answer = await this.#call(method, params);
    if (answer.error !== undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  }

  async #call(method: string, params: readonly unknown[]): Promise<RpcAnswer> {
    return (await this.#post({ jsonrpc: "2.0", id: ++this.#lastId, method, params })) as RpcAnswer;
  }

  async #post(body: unknown): Promise<Json> {
    const response = await fetch(this.#node.rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Json;
  }
}

/** One WebSocket connection: requests with their answers, notices by their subscription's number. */
class ScriptSocket {
  readonly #socket: WebSocket;
  readonly #answers = new Map<number, (answer: RpcAnswer) => void>();
  readonly #notices: { readonly method: string; readonly id: unknown; readonly result: unknown }[] = [];
  #lastId = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => {
      const message = JSON.parse(String(data));
      if (typeof message.id === "number") this.#answers.get(message.id)?.(message);
      else
        this.#notices.push({ method: message.method, id: message.params.subscription, result: message.params.result });
    });
  }

  ask(method: string, params: readonly unknown[]): Promise<RpcAnswer> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#answers.set(id, resolve);
      this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  noticesOf(id: unknown): readonly unknown[] {
    return this.#notices.filter((notice) => notice.id === id).map(({ result }) => result);
  }

  async collects(method: string, count: number): Promise<void> {
    await eventually(() => {
      if (this.#notices.filter((notice) => notice.method === method).length < count) throw new Error("too few notices");
    });
  }

  async collectsOf(id: unknown, count: number): Promise<void> {
    await eventually(() => {
      if (this.noticesOf(id).length < count) throw new Error("too few notices");
    });
  }
}

const isInteger = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isHash = (value: unknown): value is string =>
  typeof value === "string" && bs58.decodeUnsafe(value)?.length === 32;
// biome-ignore lint/suspicious/noExplicitAny: every field is checked where it is used.
function asJson(value: unknown): Readonly<Record<string, any>> {
  if (typeof value !== "object" || value === null) throw new Error(`${JSON.stringify(value)} is no object`);
  return value;
}

function asContext(value: unknown): { readonly slot: unknown; readonly value: unknown } {
  const outer = asJson(value);
  return { slot: asJson(outer.context).slot, value: outer.value };
}

function isAccount(value: unknown): boolean {
  const { lamports, owner, data, executable, space } = asJson(value);
  const isEncoded = Array.isArray(data) && (data as unknown[])[1] === "base64";
  return isInteger(lamports) && isHash(owner) && isEncoded && typeof executable === "boolean" && isInteger(space);
}

function isFeeList(value: unknown): boolean {
  const list = value as Json[];
  const slots = list.map(({ slot }) => Number(slot));
  const rises = slots.every((slot, i) => i === 0 || slot > slots[i - 1]!);
  return rises && list.every(({ slot, prioritizationFee }) => isInteger(slot) && isInteger(prioritizationFee));
}

function priceInstruction(microLamports: number) {
  const data = Buffer.alloc(9);
  data[0] = 3;
  data.writeBigUInt64LE(BigInt(microLamports), 1);
  return { keys: [], programId: new PublicKey("ComputeBudget111111111111111111111111111111"), data };
}
