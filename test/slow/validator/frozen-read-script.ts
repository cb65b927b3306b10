import { Keypair } from "@solana/web3.js";
import bs58 from "bs58";
import { WebSocket } from "ws";
import { eventually } from "../../support/eventually.ts";
import { asContext, asJson, NodeCalls, SOL } from "./node-calls.ts";
import { ScriptSocket } from "./script-socket.ts";

/** Slots over which an account is paid and read. */
const SLOTS = 6;
const READS_PER_PAYMENT = 4;
/** Slots after which a notice that was left out must have been made up for: as many as were left out in a row, and one. */
const LATE_SLOTS = 4;

/** A balance as a read or a notice gave it. */
interface Seen {
  readonly slot: number;
  readonly lamports: number;
}

/** Checks that `processed` means the newest frozen bank everywhere: nothing is shown of a slot that is still being filled. */
export class FrozenReadScript extends NodeCalls {
  async checkFrozenReads(): Promise<void> {
    const socket = new WebSocket(this.node.wsUrl);
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    try {
      const payer = Keypair.generate();
      await this.landed(String(await this.result("requestAirdrop", [payer.publicKey.toBase58(), 20 * SOL])));
      await this.#checkBalances(new ScriptSocket(socket, this.methods), payer);
      await this.#checkStatuses(new ScriptSocket(socket, this.methods), payer);
    } finally {
      socket.close();
    }
  }

  async #checkBalances(client: ScriptSocket, payer: Keypair): Promise<void> {
    const paid = Keypair.generate().publicKey.toBase58();
    const { result: id } = await client.ask("accountSubscribe", [
      paid,
      { encoding: "base64", commitment: "processed" },
    ]);
    const reads: Seen[] = [];
    let total = SOL;
    await this.pay(payer, paid, total);
    for (let i = 1; new Set(reads.map(({ slot }) => slot)).size < SLOTS; i++) {
      await this.pay(payer, paid, 1_000_000 + i);
      total += 1_000_000 + i;
      for (let n = 0; n < READS_PER_PAYMENT; n++) reads.push(await this.#read(paid));
    }
    await eventually(() => {
      if (noticesOf(client, id).at(-1)?.lamports !== total) throw new Error("not all reported");
    });
    const notices = noticesOf(client, id);
    await this.holds("a balance never changes within a slot, at processed either", async () => {
      const balances = new Map(reads.map(({ slot, lamports }) => [slot, lamports]));
      return reads.every(({ slot, lamports }) => balances.get(slot) === lamports);
    });
    await this.holds("slots of reads at processed never go back", async () =>
      reads.every(({ slot }, i) => i === 0 || slot >= reads[i - 1]!.slot),
    );
    await this.holds("reads and notices at processed agree on every slot", async () => {
      const lastAt = (slot: number) => notices.findLast((notice) => notice.slot <= slot)?.lamports ?? 0;
      const isLate = ({ slot, lamports }: Seen) => {
        const next = notices.find((notice) => notice.slot > slot);
        // Each payment adds: the next notice holds what was left out, and what came after it.
        return next !== undefined && next.slot <= slot + LATE_SLOTS && next.lamports >= lamports;
      };
      const wrong = reads.filter(({ slot, lamports }) => lastAt(slot) !== lamports);
      const found = wrong.find((read) => this.node.mayLeaveOutSlots !== true || !isLate(read));
      if (found !== undefined) throw new Error(`${JSON.stringify(found)}, notices ${JSON.stringify(notices)}`);
      return true;
    });
  }

  async #checkStatuses(client: ScriptSocket, payer: Keypair): Promise<void> {
    const to = Keypair.generate().publicKey.toBase58();
    const signature = await this.pay(payer, to, SOL);
    const { result: id } = await client.ask("signatureSubscribe", [signature, { commitment: "processed" }]);
    const seen = { status: 0, context: 0 };
    await eventually(async () => {
      const { slot, value } = asContext(await this.result("getSignatureStatuses", [[signature]]));
      const [status] = value as unknown[];
      if (status === null) throw new Error("not seen yet");
      Object.assign(seen, { status: Number(asJson(status).slot), context: Number(slot) });
    });
    await this.holds(
      "a status is of a slot that its answer's context has reached",
      async () => seen.status <= seen.context,
    );
    await client.collectsOf(id, 1);
    await this.holds("the notice at processed names a slot that a read then has reached", async () => {
      const { slot } = asContext(client.noticesOf(id)[0]);
      const params = [to, { commitment: "processed", minContextSlot: seen.status }];
      const { value } = asContext(await this.result("getBalance", params));
      return Number(slot) >= seen.status && value === SOL;
    });
    await this.holds("a blockhash at processed is valid at processed at once", async () => {
      const config = { commitment: "processed" };
      const { blockhash } = asJson(asContext(await this.result("getLatestBlockhash", [config])).value);
      return bs58.decode(String(blockhash)).length === 32 && this.#isValid(String(blockhash));
    });
  }

  async #read(address: string): Promise<Seen> {
    const { slot, value } = asContext(await this.result("getBalance", [address, { commitment: "processed" }]));
    return { slot: Number(slot), lamports: Number(value) };
  }

  async #isValid(blockhash: string): Promise<boolean> {
    return asContext(await this.result("isBlockhashValid", [blockhash, { commitment: "processed" }])).value === true;
  }
}

function noticesOf(client: ScriptSocket, id: unknown): Seen[] {
  return client.noticesOf(id).map((notice) => {
    const { slot, value } = asContext(notice);
    return { slot: Number(slot), lamports: Number(asJson(value).lamports) };
  });
}
