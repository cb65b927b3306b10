import { Keypair, PublicKey } from "@solana/web3.js";
import { WebSocket } from "ws";
import { eventually } from "../../support/eventually.ts";
import {
  asContext,
  asJson,
  INVALID_PARAMS,
  isAccount,
  isInteger,
  METHOD_NOT_FOUND,
  NodeCalls,
  SOL,
} from "./node-calls.ts";
import { ScriptSocket } from "./script-socket.ts";

/** Checks of slots, accounts and signatures as subscriptions report them. */
export class SubscriptionScript extends NodeCalls {
  async checkSubscriptions(): Promise<void> {
    const socket = new WebSocket(this.node.wsUrl);
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    const client = new ScriptSocket(socket, this.methods);
    try {
      await this.#checkSlots(client);
      await this.#checkAccountNotices(client);
      await this.#checkSignatureNotices(client);
      await this.holds(
        "an unknown subscription is refused as a method",
        async () => (await client.ask("nothingSubscribe", [])).error?.code === METHOD_NOT_FOUND,
      );
      await this.holds(
        "accountSubscribe refuses what is not a key",
        async () => (await client.ask("accountSubscribe", ["x"])).error?.code === INVALID_PARAMS,
      );
      await this.holds(
        "slotUnsubscribe refuses an unknown number",
        async () => (await client.ask("slotUnsubscribe", [999_999_999])).error?.code === INVALID_PARAMS,
      );
    } finally {
      socket.close();
    }
  }

  async #checkSlots(client: ScriptSocket): Promise<void> {
    const { result: id } = await client.ask("slotSubscribe", []);
    await this.holds("slotSubscribe answers with a number", async () => isInteger(id));
    await client.collects("slotNotification", 5);
    const slots = client.noticesOf(id).map(asJson);
    await this.holds("slot notices have slot, parent and root", async () =>
      slots.every(({ slot, parent, root }) => [slot, parent, root].every(isInteger)),
    );
    await this.holds("a slot is above its parent, and a parent not below the root", async () =>
      slots.every(({ slot, parent, root }) => slot! > parent! && parent! >= root!),
    );
    await this.holds("slots rise", async () => slots.every(({ slot }, i) => i === 0 || slot! > slots[i - 1]!.slot!));
    await this.holds("each slot's parent was reported before", async () => {
      const reported = new Set(slots.map(({ slot }) => Number(slot)));
      const missing = slots.slice(1).flatMap(({ parent }) => (reported.has(Number(parent)) ? [] : [Number(parent)]));
      if (missing.length === 0 || this.node.mayLeaveOutSlots !== true) return missing.length === 0;
      // Left out of the notices, not of the chain.
      const blocks = await this.blocks(Math.min(...missing), Math.max(...missing));
      return missing.every((slot) => blocks.has(slot));
    });
    await this.holds(
      "slotUnsubscribe answers true",
      async () => (await client.ask("slotUnsubscribe", [id])).result === true,
    );
  }

  async #checkAccountNotices(client: ScriptSocket): Promise<void> {
    const payer = Keypair.generate();
    await this.landed(String(await this.result("requestAirdrop", [payer.publicKey.toBase58(), 20 * SOL])));
    const watched = Keypair.generate().publicKey.toBase58();
    const params = [watched, { encoding: "base64", commitment: "processed" }];
    const { result: id } = await client.ask("accountSubscribe", params);
    await this.holds("accountSubscribe answers with a number", async () => isInteger(id));
    await this.holds(
      "the same subscription on one connection has the same number",
      async () => (await client.ask("accountSubscribe", params)).result === id,
    );
    const other = await client.ask("accountSubscribe", [watched, { encoding: "base64", commitment: "confirmed" }]);
    await this.holds(
      "another commitment is another subscription",
      async () => isInteger(other.result) && other.result !== id,
    );
    await this.pay(payer, watched, 3 * SOL);
    await client.collectsOf(id, 1);
    const [first] = client.noticesOf(id);
    await this.holds("an account notice has context and account", async () => {
      const { slot, value } = asContext(first);
      return isInteger(slot) && isAccount(value) && asJson(value).lamports === 3 * SOL;
    });
    await client.collectsOf(other.result, 1);
    await this.holds(
      "the notice at confirmed holds the same account",
      async () => asJson(asContext(client.noticesOf(other.result)[0]).value).lamports === 3 * SOL,
    );
    await this.holds("several changes within a slot are one notice", async () => {
      const before = client.noticesOf(id).length;
      await Promise.all([1, 2, 3, 4].map((sol) => this.pay(payer, watched, sol * SOL)));
      await eventually(async () => {
        if ((await this.balance(new PublicKey(watched))) !== 13 * SOL) throw new Error("not all paid");
      });
      await this.passSlots(3);
      const notices = client.noticesOf(id).slice(before);
      const slots = notices.map((notice) => asContext(notice).slot);
      const last = asJson(asContext(notices.at(-1)).value).lamports;
      return new Set(slots).size === slots.length && last === 13 * SOL;
    });
    await this.holds("unsubscribing once ends it for both", async () => {
      const first = await client.ask("accountUnsubscribe", [id]);
      const second = await client.ask("accountUnsubscribe", [id]);
      return first.result === true && second.error?.code === INVALID_PARAMS;
    });
    await this.holds("an ended subscription reports nothing", async () => {
      const before = client.noticesOf(id).length;
      await this.pay(payer, watched, SOL);
      await this.passSlots(4);
      return client.noticesOf(id).length === before;
    });
  }

  async #checkSignatureNotices(client: ScriptSocket): Promise<void> {
    const to = Keypair.generate().publicKey.toBase58();
    const signature = String(await this.result("requestAirdrop", [to, SOL]));
    const { result: id } = await client.ask("signatureSubscribe", [signature, { commitment: "confirmed" }]);
    await this.holds("signatureSubscribe answers with a number", async () => isInteger(id));
    await client.collectsOf(id, 1);
    await this.holds("a signature notice has context and no error", async () => {
      const { slot, value } = asContext(client.noticesOf(id)[0]);
      return isInteger(slot) && JSON.stringify(value) === '{"err":null}';
    });
    await this.holds("it is the only one, and its subscription is over", async () => {
      await this.passSlots(3);
      const ended = await client.ask("signatureUnsubscribe", [id]);
      return client.noticesOf(id).length === 1 && ended.error?.code === INVALID_PARAMS;
    });
    await this.holds("a subscription to what has landed already is answered at once", async () => {
      const { result: late } = await client.ask("signatureSubscribe", [signature, { commitment: "confirmed" }]);
      await client.collectsOf(late, 1);
      return JSON.stringify(asContext(client.noticesOf(late)[0]).value) === '{"err":null}';
    });
    await this.#refusesSocket(client, "signatureSubscribe refuses what is no signature", "signatureSubscribe", ["x"]);
  }

  async #refusesSocket(client: ScriptSocket, name: string, method: string, params: readonly unknown[]): Promise<void> {
    await this.holds(name, async () => (await client.ask(method, params)).error?.code === INVALID_PARAMS);
  }
}
