import {
  type AccountInfo,
  ComputeBudgetProgram,
  Connection,
  type KeyedAccountInfo,
  Keypair,
  PublicKey,
  SendTransactionError,
  SystemProgram,
  Transaction,
  TransactionInstruction,
} from "@solana/web3.js";
import bs58 from "bs58";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { Address } from "../../src/primitives/address.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { associatedTokenAddress } from "../../src/solana/pda.ts";
import { ASSOCIATED_TOKEN_PROGRAM, SOL_MINT, TOKEN_PROGRAM } from "../../src/solana/programs.ts";

const SOL = 1_000_000_000;
const FEE = 5_000;
const TOKEN_ACCOUNT_RENT = 1_488_440;
const tokenProgram = new PublicKey(TOKEN_PROGRAM.toString());
const wrappedSol = new PublicKey(SOL_MINT.toString());

let sandbox: Sandbox;
let connection: Connection;

beforeAll(async () => {
  sandbox = await startSandbox({
    slotMs: 20,
    finalizedAfterSlots: 8,
    world: { programs: [], accounts: [], tokens: [], lookupTables: [] },
  });
  connection = new Connection(sandbox.rpcUrl, "confirmed");
});

afterAll(async () => {
  // Without this its WebSocket connects again and again, and prints that it cannot.
  const { _rpcWebSocket: socket } = connection as unknown as {
    readonly _rpcWebSocket: { setAutoReconnect(on: boolean): void; close(): void };
  };
  socket.setAutoReconnect(false);
  await sandbox.close();
});

async function fund(lamports = 10 * SOL): Promise<Keypair> {
  const wallet = Keypair.generate();
  const lifetime = await connection.getLatestBlockhash();
  const signature = await connection.requestAirdrop(wallet.publicKey, lamports);
  await connection.confirmTransaction({ signature, ...lifetime }, "confirmed");
  return wallet;
}

async function sign(wallet: Keypair, ...instructions: TransactionInstruction[]): Promise<Transaction> {
  const lifetime = await connection.getLatestBlockhash();
  const transaction = new Transaction({ feePayer: wallet.publicKey, ...lifetime }).add(...instructions);
  transaction.sign(wallet);
  return transaction;
}

const transfer = (from: Keypair, to: PublicKey, lamports: number) =>
  SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports });

async function run(wallet: Keypair, ...instructions: TransactionInstruction[]): Promise<string> {
  const transaction = await sign(wallet, ...instructions);
  const signature = await connection.sendRawTransaction(transaction.serialize());
  const result = await connection.confirmTransaction(
    { signature, blockhash: transaction.recentBlockhash!, lastValidBlockHeight: transaction.lastValidBlockHeight! },
    "confirmed",
  );
  expect(result.value.err).toBeNull();
  return signature;
}

/** Opens a wrapped-SOL account of the wallet and puts lamports into it. */
function wrap(wallet: Keypair, lamports: number) {
  const address = Address.from(wallet.publicKey.toBytes());
  const account = new PublicKey(associatedTokenAddress(address, SOL_MINT, TOKEN_PROGRAM).bytes);
  const meta = (pubkey: PublicKey, isWritable = false, isSigner = false) => ({ pubkey, isSigner, isWritable });
  const create = new TransactionInstruction({
    programId: new PublicKey(ASSOCIATED_TOKEN_PROGRAM.bytes),
    keys: [
      meta(wallet.publicKey, true, true),
      meta(account, true),
      meta(wallet.publicKey),
      meta(wrappedSol),
      meta(SystemProgram.programId),
      meta(tokenProgram),
    ],
    data: Buffer.of(1),
  });
  const sync = new TransactionInstruction({
    programId: tokenProgram,
    keys: [meta(account, true)],
    data: Buffer.of(17),
  });
  return { account, instructions: [create, transfer(wallet, account, lamports), sync] };
}

async function call(body: unknown): Promise<{ status: number; answer: never }> {
  const response = await fetch(sandbox.rpcUrl, {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return {
    status: response.status,
    answer: (text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : text) as never,
  };
}

describe("the embedded chain, through web3.js", () => {
  it("gives the pace of its slots from the first moment on", async () => {
    const world = { programs: [], accounts: [], tokens: [], lookupTables: [] };
    const young = await startSandbox({ slotMs: 150, world });
    try {
      const node = new Connection(young.rpcUrl, "processed");
      const paceOf = async () =>
        (await node.getRecentPerformanceSamples(1)).map((one) => [one.numSlots, one.samplePeriodSecs]);
      expect(await paceOf()).toEqual([[400, 60]]);
      await young.setSlotMs(300);
      expect(await paceOf()).toEqual([[200, 60]]);
      await young.pause();
      expect(await paceOf()).toEqual([]);
    } finally {
      await young.close();
    }
  });

  it("answers airdrops once their lamports show, and the chain keeps its pace", async () => {
    const world = { programs: [], accounts: [], tokens: [], lookupTables: [] };
    const [startSlot, startedAtMs] = [1_000, Date.now()];
    const timed = await startSandbox({ slotMs: 1_000, startSlot, world });
    try {
      const node = new Connection(timed.rpcUrl, "processed");
      const wallets = Array.from({ length: 8 }, () => Keypair.generate().publicKey);
      await Promise.all(wallets.map((wallet) => node.requestAirdrop(wallet, SOL)));
      for (const wallet of wallets) expect(await node.getBalance(wallet)).toBe(SOL);
      const slot = await node.getSlot();
      expect(slot).toBeLessThanOrEqual(startSlot + 1 + (Date.now() - startedAtMs) / 1_000);
    } finally {
      await timed.close();
    }
  });

  it.each([
    ["time stands still", 50],
    ["slots are long", 600_000],
  ])("answers an airdrop at once while %s", async (state, slotMs) => {
    const slow = await startSandbox({ slotMs, world: { programs: [], accounts: [], tokens: [], lookupTables: [] } });
    try {
      if (state === "time stands still") await slow.pause();
      const node = new Connection(slow.rpcUrl, "processed");
      const wallet = Keypair.generate().publicKey;
      await node.requestAirdrop(wallet, SOL);
      expect(await node.getBalance(wallet)).toBe(SOL);
    } finally {
      await slow.close();
    }
  });

  it("pays airdrops and answers balances", async () => {
    const wallet = await fund(3 * SOL);
    expect(await connection.getBalance(wallet.publicKey)).toBe(3 * SOL);
    expect(await connection.getBalance(Keypair.generate().publicKey)).toBe(0);
    expect(await connection.getAccountInfo(Keypair.generate().publicKey)).toBeNull();
  });

  it("records a transfer with its fee and balances", async () => {
    const wallet = await fund();
    const to = Keypair.generate().publicKey;
    const signature = await run(wallet, transfer(wallet, to, SOL));
    const record = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
    expect(record?.meta).toMatchObject({
      err: null,
      fee: FEE,
      preBalances: [10 * SOL, 0, 1],
      postBalances: [9 * SOL - FEE, SOL, 1],
      computeUnitsConsumed: 150,
    });
    const [newest] = await connection.getSignaturesForAddress(to);
    expect(newest).toMatchObject({ signature, slot: record?.slot, err: null });
    const block = await connection.getBlock(record!.slot, {
      commitment: "confirmed",
      maxSupportedTransactionVersion: 1,
    });
    expect(block?.transactions.map(({ transaction }) => transaction.signatures[0])).toContain(signature);
  });

  it("records token accounts, token balances and inner instructions", async () => {
    const wallet = await fund();
    const { account, instructions } = wrap(wallet, SOL);
    const signature = await run(wallet, ...instructions);
    expect(await connection.getMinimumBalanceForRentExemption(165)).toBe(TOKEN_ACCOUNT_RENT);
    expect(await connection.getBalance(account)).toBe(SOL + TOKEN_ACCOUNT_RENT);
    expect((await connection.getTokenAccountBalance(account)).value).toMatchObject({
      amount: String(SOL),
      decimals: 9,
      uiAmountString: "1",
    });
    const { meta } = (await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 }))!;
    expect(meta?.preTokenBalances).toEqual([]);
    expect(meta?.postTokenBalances).toMatchObject([
      {
        mint: SOL_MINT.toString(),
        owner: wallet.publicKey.toBase58(),
        programId: TOKEN_PROGRAM.toString(),
        uiTokenAmount: { amount: String(SOL), decimals: 9 },
      },
    ]);
    expect(meta?.innerInstructions?.[0]?.index).toBe(0);
    expect(meta?.innerInstructions?.[0]?.instructions.length).toBeGreaterThan(1);
  });

  it("finds accounts of a program by filters, and token accounts by owner, plain and parsed", async () => {
    const wallet = await fund();
    const { account, instructions } = wrap(wallet, SOL);
    await run(wallet, ...instructions);
    const filters = [{ dataSize: 165 }, { memcmp: { offset: 32, bytes: wallet.publicKey.toBase58() } }];
    const found = await connection.getProgramAccounts(tokenProgram, { filters, dataSlice: { offset: 0, length: 32 } });
    expect(found.map(({ pubkey }) => pubkey.toBase58())).toEqual([account.toBase58()]);
    expect(found[0]?.account.data).toEqual(wrappedSol.toBuffer());
    const none = await connection.getProgramAccounts(tokenProgram, { filters: [filters[1]!, { dataSize: 82 }] });
    expect(none).toEqual([]);
    const owned = await connection.getTokenAccountsByOwner(wallet.publicKey, { mint: wrappedSol });
    expect(owned.value.map(({ pubkey }) => pubkey.toBase58())).toEqual([account.toBase58()]);
    const parsed = await connection.getParsedTokenAccountsByOwner(wallet.publicKey, { programId: tokenProgram });
    expect(parsed.value[0]?.account.data.parsed.info).toMatchObject({
      isNative: true,
      tokenAmount: { uiAmountString: "1" },
    });
  });

  it("notifies of accounts, programs, signatures, logs, slots and roots", async () => {
    const wallet = await fund();
    const { account, instructions } = wrap(wallet, SOL);
    const seen = { account: 0, program: "", logs: "", slot: 0, root: 0, updates: new Set<string>() };
    const ids = [
      connection.onAccountChange(
        account,
        ({ lamports }: AccountInfo<Buffer>) => {
          seen.account = lamports;
        },
        { commitment: "confirmed" },
      ),
      connection.onProgramAccountChange(
        tokenProgram,
        ({ accountId }: KeyedAccountInfo) => {
          seen.program = accountId.toBase58();
        },
        { commitment: "processed" },
      ),
    ];
    const logs = connection.onLogs(
      wallet.publicKey,
      ({ signature }) => {
        seen.logs = signature;
      },
      "confirmed",
    );
    const slots = connection.onSlotChange(({ slot }) => {
      seen.slot = slot;
    });
    const roots = connection.onRootChange((root) => {
      seen.root = root;
    });
    const updates = connection.onSlotUpdate(({ type }) => {
      seen.updates.add(type);
    });
    await expect.poll(() => seen.root).toBeGreaterThan(0);
    const transaction = await sign(wallet, ...instructions);
    const received = new Promise((resolve) => {
      connection.onSignature(bs58.encode(transaction.signature!), ({ err }) => resolve(err), "finalized");
    });
    const signature = await connection.sendRawTransaction(transaction.serialize());
    expect(await received).toBeNull();
    await expect.poll(() => seen.account).toBe(SOL + TOKEN_ACCOUNT_RENT);
    expect(seen.program).toBe(account.toBase58());
    expect(seen.logs).toBe(signature);
    expect(seen.slot).toBeGreaterThan(seen.root);
    expect([...seen.updates].sort()).toEqual(
      ["completed", "createdBank", "firstShredReceived", "frozen", "optimisticConfirmation", "root"].sort(),
    );
    await Promise.all([
      ...ids.map((id, index) =>
        index === 0 ? connection.removeAccountChangeListener(id) : connection.removeProgramAccountChangeListener(id),
      ),
      connection.removeOnLogsListener(logs),
      connection.removeSlotChangeListener(slots),
      connection.removeRootChangeListener(roots),
      connection.removeSlotUpdateListener(updates),
    ]);
  });

  it("also serves WebSocket on the HTTP port, and refuses unknown methods", async () => {
    const socket = new WebSocket(sandbox.rpcUrl.replace("http", "ws"));
    await new Promise((resolve) => socket.once("open", resolve));
    const ask = (body: object): Promise<Record<string, unknown>> => {
      const answer = new Promise<Record<string, unknown>>((resolve) => {
        socket.once("message", (data) => resolve(JSON.parse(String(data))));
      });
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 7, ...body }));
      return answer;
    };
    for (const kind of ["block", "constructor", "toString", "__proto__"])
      expect(await ask({ method: `${kind}Subscribe`, params: ["all"] })).toMatchObject({ error: { code: -32601 } });
    expect(await ask({ method: "accountSubscribe", params: ["x"] })).toMatchObject({ error: { code: -32602 } });
    expect(await ask({ method: "slotUnsubscribe", params: [999_999] })).toMatchObject({ error: { code: -32602 } });
    // As nodes do: equal subscriptions of one connection have one number, and end together.
    const watched = { method: "accountSubscribe", params: [Keypair.generate().publicKey.toBase58()] };
    const { result: id } = await ask(watched);
    expect(await ask(watched)).toMatchObject({ result: id });
    expect(await ask({ method: "accountUnsubscribe", params: [id] })).toMatchObject({ result: true });
    expect(await ask({ method: "accountUnsubscribe", params: [id] })).toMatchObject({ error: { code: -32602 } });
    socket.close();
  });

  it("climbs from processed to confirmed to finalized", async () => {
    const wallet = await fund();
    await sandbox.pause();
    try {
      await sandbox.advanceSlots(8);
      const transaction = await sign(wallet, transfer(wallet, Keypair.generate().publicKey, SOL));
      const signature = await connection.sendRawTransaction(transaction.serialize());
      const status = async () => (await connection.getSignatureStatus(signature)).value;
      const balance = () => connection.getBalance(wallet.publicKey, "confirmed");
      const record = () =>
        connection.getTransaction(signature, { commitment: "confirmed", maxSupportedTransactionVersion: 0 });
      const balanceNow = () => connection.getBalance(wallet.publicKey, "processed");
      const before = await connection.getSlot("processed");
      expect([await status(), await balanceNow()]).toEqual([null, 10 * SOL]);
      await sandbox.advanceSlots(1);
      const sent = await connection.getSlot("processed");
      expect(sent).toBe(before + 1);
      expect(await status()).toMatchObject({
        confirmationStatus: "processed",
        confirmations: 0,
        slot: sent,
        err: null,
      });
      expect(await balanceNow()).toBe(9 * SOL - FEE);
      expect(await balance()).toBe(10 * SOL);
      expect(await record()).toBeNull();
      await sandbox.advanceSlots(1);
      expect(await status()).toMatchObject({ confirmationStatus: "confirmed", confirmations: 1 });
      expect(await connection.getSlot("confirmed")).toBe(sent);
      expect(await balance()).toBe(9 * SOL - FEE);
      expect((await record())?.slot).toBe(sent);
      expect(await connection.getBalance(wallet.publicKey, "finalized")).toBe(10 * SOL);
      await sandbox.advanceSlots(6);
      expect(await status()).toMatchObject({ confirmationStatus: "finalized", confirmations: null });
      expect(await connection.getBalance(wallet.publicKey, "finalized")).toBe(9 * SOL - FEE);
    } finally {
      await sandbox.resume();
    }
  });

  it("knows 151 blockhashes and drops a transaction on an older one", async () => {
    const wallet = await fund();
    await sandbox.pause();
    try {
      const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash("processed");
      const height = await connection.getBlockHeight("processed");
      expect(lastValidBlockHeight).toBe(height + 150);
      const build = (lamports: number) => {
        const to = Keypair.generate().publicKey;
        const transaction = new Transaction({ feePayer: wallet.publicKey, blockhash, lastValidBlockHeight });
        transaction.add(transfer(wallet, to, lamports)).sign(wallet);
        return transaction.serialize();
      };
      await sandbox.advanceSlots(150);
      expect((await connection.isBlockhashValid(blockhash, { commitment: "processed" })).value).toBe(true);
      await connection.sendRawTransaction(build(SOL));
      await sandbox.advanceSlots(1);
      expect(await connection.getBalance(wallet.publicKey, "processed")).toBe(9 * SOL - FEE);
      expect((await connection.isBlockhashValid(blockhash, { commitment: "processed" })).value).toBe(false);
      await expect(connection.sendRawTransaction(build(2 * SOL))).rejects.toThrow("Blockhash not found");
      const dropped = await connection.sendRawTransaction(build(3 * SOL), { skipPreflight: true });
      expect((await connection.getSignatureStatus(dropped, { searchTransactionHistory: true })).value).toBeNull();
    } finally {
      await sandbox.resume();
    }
  });

  it("executes a message once, however often it is sent", async () => {
    const wallet = await fund();
    const bytes = (await sign(wallet, transfer(wallet, Keypair.generate().publicKey, SOL))).serialize();
    const signature = await connection.sendRawTransaction(bytes);
    expect(await connection.sendRawTransaction(bytes, { skipPreflight: true })).toBe(signature);
    await expect(connection.sendRawTransaction(bytes)).rejects.toThrow("already been processed");
    await sandbox.advanceSlots(1);
    expect(await connection.getBalance(wallet.publicKey, "processed")).toBe(9 * SOL - FEE);
  });

  it("refuses in preflight as a node does, and lands the failure when preflight is skipped", async () => {
    const wallet = await fund(SOL);
    const transaction = await sign(wallet, transfer(wallet, Keypair.generate().publicKey, 5 * SOL));
    const refusal = await connection.sendRawTransaction(transaction.serialize()).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(SendTransactionError);
    expect(String(refusal)).toContain("Error processing Instruction 0: custom program error: 0x1");
    expect((refusal as SendTransactionError).logs?.length).toBeGreaterThan(1);
    const signature = await connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true });
    await sandbox.advanceSlots(1);
    expect((await connection.getSignatureStatus(signature)).value?.err).toEqual({
      InstructionError: [0, { Custom: 1 }],
    });
    expect(await connection.getBalance(wallet.publicKey, "processed")).toBe(SOL - FEE);
  });

  it("simulates without a signature and on any blockhash, and returns accounts", async () => {
    const wallet = await fund();
    const to = Keypair.generate().publicKey;
    const transaction = new Transaction({
      feePayer: wallet.publicKey,
      blockhash: bs58.encode(new Uint8Array(32).fill(9)),
      lastValidBlockHeight: 1,
    });
    transaction.add(transfer(wallet, to, SOL));
    const encoded = transaction.serialize({ requireAllSignatures: false }).toString("base64");
    const options = {
      encoding: "base64",
      replaceRecentBlockhash: true,
      accounts: { encoding: "base64", addresses: [to.toBase58()] },
    };
    const { answer } = await call({ jsonrpc: "2.0", id: 1, method: "simulateTransaction", params: [encoded, options] });
    expect(answer).toMatchObject({
      result: { value: { err: null, unitsConsumed: 150, accounts: [{ lamports: SOL }], fee: FEE } },
    });
    const signed = await call({
      jsonrpc: "2.0",
      id: 1,
      method: "simulateTransaction",
      params: [encoded, { encoding: "base64", sigVerify: true }],
    });
    expect(signed.answer).toMatchObject({ result: { value: { err: "SignatureFailure" } } });
    expect(await connection.getBalance(to, "processed")).toBe(0);
  });

  it("answers with fees that transactions paid", async () => {
    const wallet = await fund();
    const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 70_000 });
    const limit = ComputeBudgetProgram.setComputeUnitLimit({ units: 1_000 });
    const transaction = await sign(wallet, price, limit, transfer(wallet, Keypair.generate().publicKey, SOL));
    const quoted = await connection.getFeeForMessage(transaction.compileMessage());
    expect(quoted.value).toBe(FEE + 70);
    const signature = await run(wallet, ...transaction.instructions);
    const record = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
    expect(record?.meta?.fee).toBe(FEE + 70);
    const fees = await connection.getRecentPrioritizationFees({ lockedWritableAccounts: [wallet.publicKey] });
    expect(fees.find(({ slot }) => slot === record?.slot)?.prioritizationFee).toBe(70_000);
  });

  it("refuses oversized, malformed and badly signed transactions", async () => {
    const wallet = await fund();
    const send = async (bytes: Uint8Array) => {
      const params = [Buffer.from(bytes).toString("base64"), { encoding: "base64" }];
      return (await call({ jsonrpc: "2.0", id: 1, method: "sendTransaction", params })).answer;
    };
    const good = (await sign(wallet, transfer(wallet, Keypair.generate().publicKey, SOL))).serialize();
    const flipped = Uint8Array.from(good);
    flipped[10] = flipped[10]! ^ 1;
    expect(await send(flipped)).toMatchObject({ error: { code: -32002, data: { err: "SignatureFailure" } } });
    expect(await send(new Uint8Array(1_233).fill(1))).toMatchObject({
      error: { code: -32602, message: expect.stringContaining("too large") },
    });
    expect(await send(good.subarray(0, 100))).toMatchObject({ error: { code: -32602 } });
    expect(await send(Uint8Array.of(...good, 0))).toMatchObject({ error: { code: -32602 } });
    expect(await connection.getBalance(wallet.publicKey, "processed")).toBe(10 * SOL);
  });

  it("speaks JSON-RPC: batches, codes, minContextSlot", async () => {
    const one = { jsonrpc: "2.0", id: "a", method: "getHealth" };
    const slot = await connection.getSlot("processed");
    const tooEarly = { jsonrpc: "2.0", id: 2, method: "getSlot", params: [{ minContextSlot: slot + 1_000 }] };
    const { answer } = await call([one, tooEarly, { jsonrpc: "2.0", id: 3, method: "nope" }, 5]);
    expect(answer).toMatchObject([
      { id: "a", result: "ok" },
      { id: 2, error: { code: -32016, data: { contextSlot: expect.any(Number) } } },
      { id: 3, error: { code: -32601 } },
      { id: null, error: { code: -32600 } },
    ]);
    expect((await call("{broken")).answer).toMatchObject({ error: { code: -32700 } });
    expect((await call("[]")).answer).toMatchObject({ error: { code: -32600 } });
    expect((await call("x".repeat(60_000))).status).toBe(413);
    expect((await fetch(`${sandbox.rpcUrl}/health`)).status).toBe(200);
  });

  it("survives nonsense for every method", async () => {
    const methods = [
      "getAccountInfo",
      "getMultipleAccounts",
      "getProgramAccounts",
      "getTokenAccountsByOwner",
      "getTokenAccountBalance",
      "getTokenSupply",
      "getBalance",
      "getSignatureStatuses",
      "getSignaturesForAddress",
      "getTransaction",
      "getBlock",
      "getBlocks",
      "getBlockTime",
      "getLatestBlockhash",
      "isBlockhashValid",
      "getFeeForMessage",
      "simulateTransaction",
      "sendTransaction",
      "requestAirdrop",
      "getRecentPrioritizationFees",
      "getRecentPerformanceSamples",
      "getSlot",
      "getMinimumBalanceForRentExemption",
      "getEpochInfo",
      "getSupply",
    ];
    const values = [
      undefined,
      null,
      -1,
      1e300,
      "",
      "x",
      {},
      [],
      [null],
      { commitment: 5 },
      { encoding: {} },
      { filters: [{}] },
      TOKEN_PROGRAM.toString(),
    ];
    for (const method of methods) {
      const batch = values.flatMap((first) =>
        values.map((second) => ({ jsonrpc: "2.0", id: 1, method, params: [first, second] })),
      );
      const { answer } = await call(batch);
      for (const { error } of answer as { error?: { code: number; message: string } }[]) {
        expect(error?.message ?? "").not.toContain("Internal error");
      }
    }
    expect(await connection.getSlot()).toBeGreaterThan(0);
  });

  it("moves the clock of the chain", async () => {
    const before = await connection.getBlockTime(await connection.getSlot("processed"));
    await sandbox.warpClock(86_400);
    const slot = await sandbox.advanceSlots(1);
    await sandbox.advanceSlots(1);
    const after = await connection.getBlockTime(slot);
    expect(after! - before!).toBeGreaterThanOrEqual(86_400);
  });
});
