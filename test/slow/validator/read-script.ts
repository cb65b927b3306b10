import { Keypair } from "@solana/web3.js";
import bs58 from "bs58";
import { eventually } from "../../support/eventually.ts";
import {
  asContext,
  asJson,
  INVALID_PARAMS,
  isAccount,
  isFeeList,
  isHash,
  isInteger,
  type Json,
  METHOD_NOT_FOUND,
  NodeCalls,
} from "./node-calls.ts";

const COMMITMENTS = ["processed", "confirmed", "finalized"] as const;
const CLOCK = "SysvarC1ock11111111111111111111111111111111";
const TXV1_FEATURE = "txv1aq4pp281K9um3tnPgkfX8UqtFT6wcVW3hNezGLL";
const FAR_SLOT = 4_000_000_000_000;
const MIN_CONTEXT = -32016;

/** Checks of the chain, its accounts, and what a node refuses. */
export class ReadScript extends NodeCalls {
  async checkChain(): Promise<void> {
    await this.holds("getGenesisHash is a hash", async () => isHash(await this.result("getGenesisHash")));
    await this.holds("getGenesisHash never changes", async () => {
      const [a, b] = [await this.result("getGenesisHash"), await this.result("getGenesisHash")];
      return a === b;
    });
    await this.holds("getVersion names a version", async () => {
      const version = asJson(await this.result("getVersion"));
      return typeof version["solana-core"] === "string" && typeof version["feature-set"] === "number";
    });
    await this.holds("getHealth is ok", async () => (await this.result("getHealth")) === "ok");
    for (const commitment of COMMITMENTS) await this.#checkHead(commitment);
    await this.holds("slots are ordered by commitment", async () => {
      const slots: number[] = [];
      for (const commitment of ["finalized", "confirmed", "processed"])
        slots.push(Number(await this.result("getSlot", [{ commitment }])));
      return slots.every((slot, i) => i === 0 || slot >= slots[i - 1]!);
    });
    await this.holds("the slot moves", async () => {
      const before = Number(await this.result("getSlot", [{ commitment: "processed" }]));
      await eventually(async () => {
        if (Number(await this.result("getSlot", [{ commitment: "processed" }])) <= before)
          throw new Error("stands still");
      });
      return true;
    });
    await this.holds("the first available block is at most the finalized slot", async () => {
      const first = await this.result("getFirstAvailableBlock");
      return isInteger(first) && Number(first) <= Number(await this.result("getSlot", [{ commitment: "finalized" }]));
    });
    await this.holds("final blocks have one height after another, whichever slots have none", async () => {
      const config = {
        commitment: "finalized",
        transactionDetails: "none",
        rewards: false,
        maxSupportedTransactionVersion: 1,
      };
      const last = Number(await this.result("getSlot", [config]));
      const range = [Math.max(Number(await this.result("getFirstAvailableBlock")), last - 60), last];
      const slots = (await this.result("getBlocks", [...range, { commitment: "finalized" }])) as number[];
      const heights: number[] = [];
      for (const slot of [slots[0], slots.at(-1)])
        heights.push(Number(asJson(await this.result("getBlock", [slot, config])).blockHeight));
      return slots.length > 0 && heights[1]! - heights[0]! === slots.length - 1;
    });
    await this.#checkRentAndFees();
  }

  async #checkHead(commitment: (typeof COMMITMENTS)[number]): Promise<void> {
    const config = { commitment };
    await this.holds(`getSlot at ${commitment} is an integer`, async () =>
      isInteger(await this.result("getSlot", [config])),
    );
    await this.holds(`getBlockHeight at ${commitment} is at most the slot`, async () => {
      const height = Number(await this.result("getBlockHeight", [config]));
      return isInteger(height) && height <= Number(await this.result("getSlot", [{ commitment: "processed" }]));
    });
    await this.holds(`getEpochInfo at ${commitment} has slot, height and epoch`, async () => {
      const info = asJson(await this.result("getEpochInfo", [config]));
      const { absoluteSlot, blockHeight, epoch, slotIndex, slotsInEpoch } = info;
      return (
        [absoluteSlot, blockHeight, epoch, slotIndex, slotsInEpoch].every(isInteger) && blockHeight! <= absoluteSlot!
      );
    });
    await this.holds(`getLatestBlockhash at ${commitment} has a blockhash and its last height`, async () => {
      const { slot, value } = asContext(await this.result("getLatestBlockhash", [config]));
      const { blockhash, lastValidBlockHeight } = asJson(value);
      return isInteger(slot) && isHash(blockhash) && isInteger(lastValidBlockHeight);
    });
    await this.holds(`a blockhash at ${commitment} is good for 150 blocks`, async () => {
      const [latest, info] = await Promise.all([
        this.result("getLatestBlockhash", [config]),
        this.result("getEpochInfo", [config]),
      ]);
      const { lastValidBlockHeight } = asJson(asContext(latest).value);
      const blocks = Number(lastValidBlockHeight) - Number(asJson(info).blockHeight);
      return Math.abs(blocks - 150) <= 3;
    });
    await this.holds(`isBlockhashValid at ${commitment} knows the finalized blockhash`, async () => {
      const latest = asContext(await this.result("getLatestBlockhash", [{ commitment: "finalized" }]));
      const { blockhash } = asJson(latest.value);
      return asContext(await this.result("isBlockhashValid", [blockhash, config])).value === true;
    });
    await this.holds(
      `isBlockhashValid at ${commitment} does not know a stranger`,
      async () =>
        asContext(await this.result("isBlockhashValid", [bs58.encode(Buffer.alloc(32, 7)), config])).value === false,
    );
    for (const method of ["getSlot", "getBlockHeight", "getEpochInfo", "getLatestBlockhash"])
      await this.refuses(`${method} at ${commitment} refuses a slot that is not reached`, MIN_CONTEXT, method, [
        { commitment, minContextSlot: FAR_SLOT },
      ]);
  }

  async #checkRentAndFees(): Promise<void> {
    const rent = async (size: number) => Number(await this.result("getMinimumBalanceForRentExemption", [size]));
    await this.holds("rent is linear in the size", async () => {
      const [none, one, hundred] = [await rent(0), await rent(1), await rent(100)];
      return none > 0 && (one - none) * 100 === hundred - none && none === 128 * (one - none);
    });
    await this.holds("performance samples are a list of slots over seconds", async () => {
      const samples = (await this.result("getRecentPerformanceSamples", [1])) as Json[];
      return (
        samples.length <= 1 &&
        samples.every(({ numSlots, samplePeriodSecs }) => isInteger(numSlots) && isInteger(samplePeriodSecs))
      );
    });
    await this.holds("recent fees are a list by slot", async () =>
      isFeeList(await this.result("getRecentPrioritizationFees", [[]])),
    );
    await this.holds("recent fees of an account are a list by slot", async () =>
      isFeeList(await this.result("getRecentPrioritizationFees", [[this.node.account]])),
    );
    await this.holds("an idle slot is not among recent fees", async () => {
      const fees = (await this.result("getRecentPrioritizationFees", [[]])) as Json[];
      return fees.every(({ prioritizationFee }) => Number(prioritizationFee) >= 0) && fees.length < 150;
    });
  }

  async checkAccounts(): Promise<void> {
    const { account, program } = this.node;
    const nobody = Keypair.generate().publicKey.toBase58();
    for (const commitment of COMMITMENTS) {
      const config = { encoding: "base64", commitment };
      await this.holds(`getMultipleAccounts at ${commitment} answers in order, null for nobody`, async () => {
        const { slot, value } = asContext(await this.result("getMultipleAccounts", [[CLOCK, nobody, account], config]));
        const [clock, absent, held] = value as unknown[];
        return isInteger(slot) && isAccount(clock) && absent === null && isAccount(held);
      });
      await this.holds(`getAccountInfo at ${commitment} is that account`, async () =>
        isAccount(asContext(await this.result("getAccountInfo", [account, config])).value),
      );
      await this.holds(
        `getAccountInfo at ${commitment} is null for nobody`,
        async () => asContext(await this.result("getAccountInfo", [nobody, config])).value === null,
      );
      await this.holds(`the clock at ${commitment} is at most at its context's slot`, async () => {
        const { slot, value } = asContext(await this.result("getAccountInfo", [CLOCK, config]));
        const data = Buffer.from((asJson(value).data as string[])[0]!, "base64");
        return data.length === 40 && Number(data.readBigUInt64LE(0)) <= Number(slot);
      });
      await this.holds(`getBalance at ${commitment} is an integer`, async () =>
        isInteger(asContext(await this.result("getBalance", [account, { commitment }])).value),
      );
      await this.holds(`getProgramAccounts at ${commitment} lists accounts with their keys`, async () => {
        const list = (await this.result("getProgramAccounts", [program, config])) as Json[];
        return list.length > 0 && list.every(({ pubkey, account }) => typeof pubkey === "string" && isAccount(account));
      });
      await this.refuses(
        `getMultipleAccounts at ${commitment} refuses a slot that is not reached`,
        MIN_CONTEXT,
        "getMultipleAccounts",
        [[CLOCK], { ...config, minContextSlot: FAR_SLOT }],
      );
    }
    await this.holds("a memcmp filter finds the account, and a wrong one none", async () => {
      const { value } = asContext(await this.result("getAccountInfo", [account, { encoding: "base64" }]));
      const data = Buffer.from((asJson(value).data as string[])[0]!, "base64");
      const search = async (bytes: string) =>
        (await this.result("getProgramAccounts", [
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
    await this.holds("a data slice is that part of the data", async () => {
      const config = { encoding: "base64", dataSlice: { offset: 8, length: 5 } };
      const { value } = asContext(await this.result("getAccountInfo", [account, config]));
      return Buffer.from((asJson(value).data as string[])[0]!, "base64").length === 5;
    });
    await this.holds("the feature account of version 1 is owned by the feature program and activated", async () => {
      const { value } = asContext(await this.result("getAccountInfo", [TXV1_FEATURE, { encoding: "base64" }]));
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
      ["getRecentPrioritizationFees", [[], { percentile: 5_000 }]],
      ["getGenesisHash", [1]],
      ["getSlot", [{ commitment: "processed" }, 1]],
      ["getMultipleAccounts", [[CLOCK], { encoding: "base64" }, 1]],
      ["getRecentPrioritizationFees", [Array.from({ length: 129 }, () => CLOCK)]],
      ["sendTransaction", ["not base64!", { encoding: "base64" }]],
      ["sendTransaction", [Buffer.alloc(5_000).toString("base64"), { encoding: "base64" }]],
      ["sendTransaction", []],
      ["simulateTransaction", ["not base64!", { encoding: "base64" }]],
      ["requestAirdrop", ["not a key", 1]],
      ["getSignaturesForAddress", ["not a key"]],
    ];
    for (const [method, params] of wrong)
      await this.refuses(`${method} refuses ${JSON.stringify(params).slice(0, 50)}`, INVALID_PARAMS, method, params);
    await this.refuses("an unknown method is refused", METHOD_NOT_FOUND, "getNothing", []);
    await this.holds("statuses of strangers are null, in order", async () => {
      for (const searchTransactionHistory of [false, true]) {
        const params = [[signature, signature], { searchTransactionHistory }];
        const { value } = asContext(await this.result("getSignatureStatuses", params));
        if (JSON.stringify(value) !== "[null,null]") return false;
      }
      return true;
    });
    await this.holds(
      "the record of a stranger is null",
      async () => (await this.result("getTransaction", [signature, { maxSupportedTransactionVersion: 1 }])) === null,
    );
    await this.holds("an id is given back as it came", async () => {
      const body = { jsonrpc: "2.0", id: "a text", method: "getSlot" };
      return (await this.post(body)).id === "a text";
    });
    await this.holds("a batch is answered whole", async () => {
      const calls = [1, 2, 3].map((id) => ({ jsonrpc: "2.0", id, method: "getHealth" }));
      const answers = (await this.post(calls)) as unknown as Json[];
      return answers.length === 3 && answers.every(({ result }) => result === "ok");
    });
  }
}
