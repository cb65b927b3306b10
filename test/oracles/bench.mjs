// The same job done by the official SDKs and by Tradewire, on the same market in memory: price a buy for 100 SOL and write
// its unsigned transaction. Run by Node 24 after `npm run oracles`: `npm run bench:oracles`.
import { createRequire } from "node:module";
import { Address } from "../../src/primitives/address.ts";
import { buildTrade } from "../../src/trade/build/build-trade.ts";
import { memoryPorts } from "../support/memory-ports.ts";
import { readSampleMarkets } from "../support/sample-markets.ts";
import { Svm } from "../support/svm.ts";

const require = createRequire(import.meta.url);
const BN = require("bn.js");
const web3 = require("@solana/web3.js");
const spl = require("@solana/spl-token");
const { PublicKey, TransactionMessage, VersionedTransaction, ComputeBudgetProgram } = web3;

const FASTER = 20;
const AMOUNT = 100_000_000_000n;
const SLIPPAGE_BPS = 100;
const { mint, clock, markets } = readSampleMarkets();
const wallet = new Svm().newWallet();
const user = new PublicKey(wallet.bytes);
const token = new PublicKey(mint.bytes);
const SOL = spl.NATIVE_MINT;
const amountIn = new BN(AMOUNT.toString());
const blockhash = new PublicKey(new Uint8Array(32).fill(9)).toBase58();
const key = (address) => new PublicKey(address.bytes);
const ours = (publicKey) => Address.from(publicKey.toBytes());

/** A connection that answers from a sample market's accounts, the two mints, and what only the SDK asks for. */
function connectionOf({ accounts }, { tokens = [], mints = [] } = {}) {
  const svm = new Svm(clock);
  for (const address of [mint, ...mints]) svm.newMint({ address, decimals: 9 });
  for (const address of tokens) svm.setTokens(wallet, mint, 1n << 50n, address);
  const info = (publicKey) => {
    const address = ours(publicKey);
    const account = accounts.get(address) ?? svm.get(address);
    if (account == null) return null;
    return { data: Buffer.from(account.data), owner: key(account.owner), lamports: Number(account.lamports), executable: account.executable };
  };
  const context = { slot: Number(clock.slot) };
  const connection = new web3.Connection("http://127.0.0.1:9");
  return Object.assign(connection, {
    getAccountInfo: async (at) => (at.equals(web3.SYSVAR_CLOCK_PUBKEY) ? clockAccount() : info(at)),
    getAccountInfoAndContext: async (at) => ({ context, value: info(at) }),
    getMultipleAccountsInfo: async (list) => list.map((at) => (at.equals(web3.SYSVAR_CLOCK_PUBKEY) ? clockAccount() : info(at))),
    getMultipleAccountsInfoAndContext: async (list) => ({ context, value: list.map((at) => (at.equals(web3.SYSVAR_CLOCK_PUBKEY) ? clockAccount() : info(at))) }),
    getParsedAccountInfo: async () => ({ context, value: { data: { parsed: { info: { decimals: 9 } } } } }),
    getTokenSupply: async () => ({ context, value: { amount: "1", decimals: 9, uiAmount: 1 } }),
    getProgramAccounts: async () => [],
    getLatestBlockhash: async () => ({ blockhash, lastValidBlockHeight: 1_150 }),
    getSlot: async () => context.slot,
    getBlockTime: async () => Number(clock.unixTimestamp),
    getEpochInfo: async () => ({ epoch: Number(clock.epoch) }),
    getMinimumBalanceForRentExemption: async () => 1_488_440,
    simulateTransaction: async () => ({ context, value: { err: null, unitsConsumed: 100_000, logs: [] } }),
  });
}

function clockAccount() {
  const data = Buffer.alloc(40);
  data.writeBigUInt64LE(clock.slot, 0);
  data.writeBigUInt64LE(clock.epoch, 16);
  data.writeBigUInt64LE(clock.epoch, 24);
  data.writeBigInt64LE(clock.unixTimestamp, 32);
  return { data, owner: new PublicKey("Sysvar1111111111111111111111111111111111111"), lamports: 1, executable: false };
}

/** What callers of an SDK do with its instructions. */
function wire(instructions) {
  const budget = [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 200_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 10_000 }),
  ];
  const message = new TransactionMessage({ payerKey: user, recentBlockhash: blockhash, instructions: [...budget, ...instructions] });
  return new VersionedTransaction(message.compileToV0Message()).serialize();
}

const isBudget = ({ programId }) => programId.equals(ComputeBudgetProgram.programId);
const instructionsOf = (transaction) => transaction.instructions.filter((one) => !isBudget(one));
const account = (sample, address) => {
  const held = sample.accounts.get(address);
  return { data: Buffer.from(held.data), owner: key(held.owner), lamports: Number(held.lamports), executable: false };
};

/** By venue: prepares the SDK's state, and returns the job that is timed and says what comes out. */
const SDKS = {
  async pump_fun(sample) {
    const sdk = require("@pump-fun/pump-sdk");
    const { market, state } = sample.hot;
    const { PUMP_GLOBAL, PUMP_FEE_CONFIG } = await import("../../src/venues/pump-fun/layout.ts");
    const bondingCurve = sdk.PUMP_SDK.decodeBondingCurve(account(sample, market.address));
    const global = sdk.PUMP_SDK.decodeGlobal(account(sample, PUMP_GLOBAL));
    const feeConfig = sdk.PUMP_SDK.decodeFeeConfig(account(sample, PUMP_FEE_CONFIG));
    const quoting = { global, feeConfig, mintSupply: new BN(state.mints[0].supply.toString()), bondingCurve, quoteMint: SOL };
    return async () => {
      const amount = sdk.getBuyTokenAmountFromSolAmount({ ...quoting, amount: amountIn });
      const buy = await sdk.PUMP_SDK.getBuyV2InstructionRaw({
        user,
        mint: token,
        creator: bondingCurve.creator,
        amount,
        quoteAmount: amountIn.muln(101).divn(100),
        feeRecipient: global.feeRecipient,
        buybackFeeRecipient: global.feeRecipient,
        tokenProgram: spl.TOKEN_PROGRAM_ID,
        quoteMint: SOL,
        quoteTokenProgram: spl.TOKEN_PROGRAM_ID,
      });
      const ata = spl.getAssociatedTokenAddressSync(token, user, true);
      return [amount, wire([spl.createAssociatedTokenAccountIdempotentInstruction(user, ata, user, token), buy])];
    };
  },
  async pump_swap(sample) {
    const sdk = require("@pump-fun/pump-swap-sdk");
    const amm = sdk.PUMP_AMM_SDK;
    const { market, state } = sample.hot;
    const { PUMP_SWAP_GLOBAL, PUMP_SWAP_FEE_CONFIG } = await import("../../src/venues/pump-swap/layout.ts");
    const { tokenBalance } = await import("../../src/solana/token/token-account.ts");
    const [base, quote] = market.vaults.map((vault) => new BN(tokenBalance(sample.accounts.get(vault)).toString()));
    const pool = amm.decodePool(account(sample, market.address));
    const supply = state.mints[0].supply;
    const swapState = {
      globalConfig: amm.decodeGlobalConfig(account(sample, PUMP_SWAP_GLOBAL)),
      feeConfig: amm.decodeFeeConfig(account(sample, PUMP_SWAP_FEE_CONFIG)),
      poolKey: key(market.address),
      poolAccountInfo: account(sample, market.address),
      pool,
      poolBaseAmount: base,
      poolQuoteAmount: quote,
      baseTokenProgram: spl.TOKEN_PROGRAM_ID,
      quoteTokenProgram: spl.TOKEN_PROGRAM_ID,
      baseMint: token,
      baseMintAccount: { supply },
      user,
      userBaseTokenAccount: spl.getAssociatedTokenAddressSync(token, user, true),
      userQuoteTokenAccount: spl.getAssociatedTokenAddressSync(SOL, user, true),
      userBaseAccountInfo: null,
      userQuoteAccountInfo: null,
    };
    const quoting = {
      slippage: 1,
      baseReserve: base,
      quoteReserve: quote,
      virtualQuoteReserves: pool.virtualQuoteReserves,
      globalConfig: swapState.globalConfig,
      baseMintAccount: { supply },
      baseMint: token,
      coinCreator: pool.coinCreator,
      creator: pool.creator,
      feeConfig: swapState.feeConfig,
      quoteMint: SOL,
      isMayhemMode: pool.isMayhemMode,
      creatorFeeBps: pool.creatorFeeBps,
    };
    return async () => {
      const quoted = sdk.buyQuoteInput({ ...quoting, quote: amountIn });
      return [quoted.base, wire(await amm.buyInstructions(swapState, quoted.base, quoted.maxQuote))];
    };
  },
  async meteora_dlmm(sample) {
    const dlmm = require("@meteora-ag/dlmm");
    const DLMM = dlmm.default ?? dlmm.DLMM ?? dlmm;
    const { market } = sample.hot;
    const pair = await DLMM.create(connectionOf(sample, { tokens: market.reserves }), key(market.address));
    const swapForY = market.mints[0].toString() === SOL.toBase58();
    const { meteoraDlmm } = await import("../../src/venues/meteora-dlmm/venue.ts");
    const { DLMM_PROGRAM } = await import("../../src/venues/meteora-dlmm/layout.ts");
    const known = new Map([[market.address, sample.accounts.get(market.address)]]);
    const have = { get: (address) => known.get(address) };
    for (let missing = meteoraDlmm.needs(market, have); missing.length > 0; missing = meteoraDlmm.needs(market, have))
      for (const address of missing) known.set(address, sample.accounts.get(address) ?? null);
    const binArrays = [...known.values()]
      .filter((held) => held != null && held.owner === DLMM_PROGRAM && held.data.length > 5_000)
      .map((held) => ({ publicKey: key(held.address), account: pair.program.coder.accounts.decode("binArray", Buffer.from(held.data)) }))
      .sort((a, b) => (swapForY ? b.account.index.cmp(a.account.index) : a.account.index.cmp(b.account.index)));
    return async () => {
      const quoted = pair.swapQuote(amountIn, swapForY, new BN(SLIPPAGE_BPS), binArrays);
      const transaction = await pair.swap({
        inToken: SOL,
        outToken: token,
        inAmount: amountIn,
        minOutAmount: quoted.minOutAmount,
        lbPair: pair.pubkey,
        user,
        binArraysPubkey: quoted.binArraysPubkey,
      });
      return [quoted.outAmount, wire(instructionsOf(transaction))];
    };
  },
  async meteora_damm_v2(sample) {
    const { CpAmm, SwapMode } = require("@meteora-ag/cp-amm-sdk");
    const { market } = sample.hot;
    const client = new CpAmm(connectionOf(sample));
    const pool = await client.fetchPoolState(key(market.address));
    return async () => {
      const quoted = client.getQuote2({
        inputTokenMint: SOL,
        slippage: SLIPPAGE_BPS / 100,
        currentPoint: new BN(clock.unixTimestamp.toString()),
        poolState: pool,
        tokenADecimal: 9,
        tokenBDecimal: 9,
        hasReferral: false,
        swapMode: SwapMode.ExactIn,
        amountIn,
      });
      const transaction = await client.swap2({
        payer: user,
        pool: key(market.address),
        inputTokenMint: SOL,
        outputTokenMint: token,
        tokenAMint: pool.tokenAMint,
        tokenBMint: pool.tokenBMint,
        tokenAVault: pool.tokenAVault,
        tokenBVault: pool.tokenBVault,
        tokenAProgram: spl.TOKEN_PROGRAM_ID,
        tokenBProgram: spl.TOKEN_PROGRAM_ID,
        referralTokenAccount: null,
        poolState: pool,
        swapMode: SwapMode.ExactIn,
        amountIn,
        minimumAmountOut: quoted.minimumAmountOut,
      });
      return [quoted.outputAmount, wire(instructionsOf(transaction))];
    };
  },
  async meteora_dbc(sample) {
    const { DynamicBondingCurveClient, SwapMode } = require("@meteora-ag/dynamic-bonding-curve-sdk");
    const { market } = sample.hot;
    const client = new DynamicBondingCurveClient(connectionOf(sample), "confirmed");
    const virtualPool = await client.state.getPool(key(market.address));
    const config = await client.state.getPoolConfig(virtualPool.poolState.config);
    return async () => {
      const quoted = client.pool.swapQuote2({
        virtualPool,
        config,
        swapBaseForQuote: false,
        hasReferral: false,
        eligibleForFirstSwapWithMinFee: false,
        currentPoint: new BN(clock.unixTimestamp.toString()),
        slippageBps: SLIPPAGE_BPS,
        swapMode: SwapMode.ExactIn,
        amountIn,
      });
      const transaction = await client.pool.swap2({
        owner: user,
        pool: key(market.address),
        swapBaseForQuote: false,
        referralTokenAccount: null,
        swapMode: SwapMode.ExactIn,
        amountIn,
        minimumAmountOut: quoted.minimumAmountOut,
      });
      return [quoted.outputAmount, wire(instructionsOf(transaction))];
    };
  },
  async meteora_damm_v1(sample) {
    const dynamic = require("@meteora-ag/dynamic-amm-sdk");
    const Amm = dynamic.default ?? dynamic;
    const { address } = sample.hot.market;
    const lpMint = Address.from(sample.accounts.get(address).data, 8);
    const pool = await Amm.create(connectionOf(sample, { mints: [lpMint] }), key(address));
    return async () => {
      const quoted = pool.getSwapQuote(SOL, amountIn, SLIPPAGE_BPS / 100);
      const transaction = await pool.swap(user, SOL, amountIn, quoted.minSwapOutAmount);
      return [quoted.swapOutAmount, wire(instructionsOf(transaction))];
    };
  },
};

const REQUEST = {
  principal: { accountId: "bench", keyId: "bench", wallet },
  inMint: ours(SOL),
  outMint: mint,
  mode: "exactIn",
  amount: Number(AMOUNT) / 1e9,
  slippage: SLIPPAGE_BPS / 10_000,
  priority: "fast",
  maxPriceImpact: undefined,
  maxPriorityCost: undefined,
};

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];

/** Microseconds of one build of ours; batches even out the timer. */
function ourTime({ hot }) {
  const ports = memoryPorts({ mint, clock, wallet, markets: [hot] });
  const build = () => buildTrade(ports, REQUEST);
  for (let warm = 0; warm < 2_000; warm++) build();
  const times = [];
  for (let round = 0; round < 100; round++) {
    const start = performance.now();
    for (let index = 0; index < 20; index++) build();
    times.push(((performance.now() - start) * 1_000) / 20);
  }
  return { micros: median(times), out: build().estimates.outAmount };
}

async function theirTime(job) {
  for (let warm = 0; warm < 100; warm++) await job();
  const times = [];
  for (let round = 0; round < 300; round++) {
    const start = performance.now();
    await job();
    times.push((performance.now() - start) * 1_000);
  }
  return { micros: median(times), out: BigInt((await job())[0].toString()) };
}

let failed = false;
const lines = [["venue", "ours", "SDK", "ours is faster by", "output, ours", "output, SDK"]];
for (const [venue, prepare] of Object.entries(SDKS)) {
  const sample = markets.find(({ name }) => name === `${venue} 0`);
  try {
    const job = await prepare(sample);
    const theirs = await theirTime(job);
    const own = ourTime(sample);
    const ratio = theirs.micros / own.micros;
    lines.push([venue, `${own.micros.toFixed(1)} µs`, `${theirs.micros.toFixed(0)} µs`, `${ratio.toFixed(0)} ×`, String(own.out), String(theirs.out)]);
    failed ||= ratio < FASTER || own.out !== theirs.out;
  } catch (error) {
    lines.push([venue, "", `failed: ${error.message}`, "", "", ""]);
    failed = true;
    if (process.argv.includes("--trace")) console.error(error);
  }
}
const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
for (const line of lines) console.log(line.map((cell, column) => cell.padEnd(widths[column])).join("  ").trimEnd());
console.log(`Promise: at least ${FASTER} times faster on each, with the same output.`);
process.exit(failed ? 1 : 0);
