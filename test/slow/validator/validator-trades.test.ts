import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Tradewire } from "../../../src/client/tradewire.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import { eventually } from "../../support/eventually.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { findValidator, startValidator, type Validator } from "./validator.ts";
import { type ValidatorWorld, writeValidatorWorld } from "./validator-world.ts";

const program = findValidator();
const SOL = 100;

interface Row {
  readonly trade: string;
  readonly platform: string;
  readonly exact: boolean;
}

describe.skipIf(program === undefined)("trades on a real validator", () => {
  const folder = mkdtempSync(join(tmpdir(), "tradewire-validator-"));
  const rows: Row[] = [];
  let made: ValidatorWorld;
  let validator: Validator;
  let service: TestService;
  let client: Tradewire;

  beforeAll(async () => {
    made = writeValidatorWorld(folder);
    validator = await startValidator(program!, folder, made.arguments);
    service = await startTestService({
      SOLANA_RPC_URL: validator.rpcUrl,
      SOLANA_WS_URL: validator.wsUrl,
      LOOKUP_TABLES: made.world.lookupTables.join(","),
      STATE_MAX_AGE_MS: "2000",
      BLOCKHASH_MAX_AGE_MS: "10000",
      SOLANA_RPC_TIMEOUT_MS: "4000",
    });
    client = await service.newClient(SOL);
    await eventually(async () => expect(await lamportsOf()).toBe(SOL * 1e9));
  });
  afterAll(async () => {
    await service?.close();
    await validator?.close();
    rmSync(folder, { recursive: true, force: true });
    console.table(rows);
  });

  const lamportsOf = async () => {
    const params = [client.wallet.publicKey.toString(), { commitment: "confirmed" }];
    return (await service.rpc<{ value: number }>("getBalance", params)).value;
  };

  /** Base units of a mint in the wallet, by the ledger's own word. */
  const tokensOf = async (mint: string) => {
    const params = [client.wallet.publicKey.toString(), { mint }, { encoding: "jsonParsed", commitment: "confirmed" }];
    const { value } = await service.rpc<{
      value: { account: { data: { parsed: { info: { tokenAmount: { amount: string } } } } } }[];
    }>("getTokenAccountsByOwner", params);
    return value.reduce((sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount), 0n);
  };

  const buyExactly = async (symbol: string, mint: string, name = `buy ${symbol}`) => {
    const before = await tokensOf(mint);
    const { tradeResult, platform } = await client.buy({ mint, solAmount: 0.1, slippage: 0.05, priority: "fast" });
    const gained = (await tokensOf(mint)) - before;
    const exact = gained === BigInt(tradeResult!.outputAmountRaw) && gained > 0n;
    rows.push({ trade: name, platform, exact });
    expect(exact, name).toBe(true);
  };

  it("buys on every venue of the world give what the ledger shows, to the base unit", async () => {
    for (const { mint, symbol, quoteMint } of made.world.tokens)
      if (quoteMint === SOL_MINT) await buyExactly(symbol, mint.toString());
    expect(rows.length).toBeGreaterThanOrEqual(8);
  });

  it("trades go on after the node has been suspended, and after it was killed and started on its ledger", async () => {
    const { mint, symbol } = made.world.tokens.find(({ quoteMint }) => quoteMint === SOL_MINT)!;
    validator.suspend();
    await sleep(4_000);
    validator.resume();
    await eventually(() => buyExactly(symbol, mint.toString(), "after SIGSTOP"));
    await validator.restart("sameLedger");
    await eventually(() => buyExactly(symbol, mint.toString(), "after kill -9"));
  });
});
