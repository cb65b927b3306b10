import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import bs58 from "bs58";
import { createRandom } from "../../../src/primitives/random.ts";
import { createTestWallet } from "../../support/wallet.ts";
import type { ClientTrade } from "./client-process.ts";
import type { Rig } from "./rig.ts";
import type { ServiceProcess } from "./service-process.ts";

const CLIENT = fileURLToPath(new URL("./client-process.ts", import.meta.url));
const SKEWED_CLOCK = fileURLToPath(new URL("./skewed-clock.ts", import.meta.url));
const LAMPORTS = 1_000_000_000_000;

/** A caller in a process of its own, by the client library, whose wall clock is wrong. */
export class SkewedClient {
  readonly #rig: Rig;
  readonly #service: ServiceProcess;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #address: string;

  private constructor(rig: Rig, service: ServiceProcess, child: ChildProcess, address: string) {
    this.#rig = rig;
    this.#service = service;
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    this.#address = address;
  }

  static async start(rig: Rig, service: ServiceProcess, seed: number, skewMs: number): Promise<SkewedClient> {
    const key = createRandom(seed).bytes(32);
    const address = createTestWallet(key).address.toString();
    await rig.rpc("requestAirdrop", [address, LAMPORTS]);
    const isFunded = async () =>
      (await rig.rpc<{ value: number }>("getBalance", [address, { commitment: "confirmed" }])).value > 0;
    while (!(await isFunded())) await sleep(20);
    const child = spawn(process.execPath, ["--import", SKEWED_CLOCK, CLIENT, service.url, bs58.encode(key)], {
      env: { PATH: process.env.PATH, CLOCK_SKEW_MS: `${skewMs}` },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const client = new SkewedClient(rig, service, child, address);
    if ((await client.#line()) !== "ready") throw new Error("the client did not register");
    return client;
  }

  /** Buys, and waits for what the client library says of it. It is in the history too. */
  async buy(mint: string): Promise<ClientTrade> {
    const startedAtMs = Date.now();
    this.#child.stdin!.write(`${mint}\n`);
    const trade = JSON.parse(await this.#line()) as ClientTrade;
    const { signed, submissionToken, lastValidBlockHeight, outcome, slot } = trade;
    const wire = Buffer.from(signed, "base64");
    const messageHash = createHash("sha256").update(wire.subarray(65)).digest("hex");
    const signature = bs58.encode(wire.subarray(1, 65));
    const none = { baseFee: "0", priorityFee: "0", tip: "0", rentPaid: "0", rentReturned: "0" };
    this.#rig.history.builds.push({
      messageHash,
      wallet: this.#address,
      startedAtMs,
      endedAtMs: startedAtMs,
      submissionToken,
      signed,
      signature,
      expiresAtMs: Date.parse(trade.expiresAt),
      lastValidBlockHeight,
      blockhash: "",
      estimates: { inputAmountRaw: "0", outputAmountRaw: "0" },
      priorityCostLamports: 0n,
      costs: none,
    });
    const status = (["pending", "processed", "confirmed", "finalized"] as const).find((one) => one === outcome);
    this.#rig.history.submits.push({
      messageHash,
      service: this.#service.name,
      startedAtMs,
      endedAtMs: Date.now(),
      status: status === undefined ? 422 : 200,
      data:
        status === undefined
          ? undefined
          : { signature, status, slot, inputMint: "", outputMint: mint, tradeResult: null, costs: none },
      error: status === undefined ? { code: outcome, message: outcome, safeToRebuild: trade.safeToRebuild } : undefined,
      text: "",
    });
    return trade;
  }

  close(): void {
    this.#child.kill();
  }

  async #line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error("the client process ended");
    return value;
  }
}
