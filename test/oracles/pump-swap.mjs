// Golden vectors of PumpSwap: pools as account bytes, what @pump-fun/pump-swap-sdk quotes and builds for them.
import { createRequire } from "node:module";
import { bytes, createKeyTable, createSeeded, feeConfig } from "./vectors.mjs";

const require = createRequire(import.meta.url);
const BN = require("bn.js");
const { PublicKey } = require("@solana/web3.js");
const { getAssociatedTokenAddressSync, NATIVE_MINT, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } = require("@solana/spl-token");
const sdk = require("@pump-fun/pump-swap-sdk");

const POOLS = 220;
const SUPPLY = 1_000_000_000_000_000n;
const USDC = new PublicKey("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v");
const big = (value) => new BN(value.toString());

function globalBytes(seeded, configurable) {
  const out = bytes(949, "95089ccaa0fcb0d9");
  const list = (at, count) => {
    for (let i = 0; i < count; i++) out.key(at + 32 * i, seeded.key());
  };
  list(57, 8);
  list(385, 1);
  list(418, 7);
  list(643, 8);
  out.u8(940, configurable ? 1 : 0);
  return out.data;
}

export async function makePumpSwap() {
  const seeded = createSeeded("pump_swap");
  const table = createKeyTable();
  const settings = [false, true].map((configurable) => ({ data: globalBytes(seeded, configurable), fees: feeConfig(seeded) }));
  const amm = sdk.PUMP_AMM_SDK;
  const program = sdk.OFFLINE_PUMP_AMM_PROGRAM;
  const account = (data) => ({ data, owner: sdk.PUMP_AMM_PROGRAM_ID, lamports: 1, executable: false });
  const random = Math.random;
  const pools = [];
  for (let index = 0; index < POOLS; index++) {
    const setting = index % 2;
    const kind = index % 6;
    const base = seeded.key();
    const user = seeded.key();
    const quote = seeded.pick([NATIVE_MINT, NATIVE_MINT, NATIVE_MINT, USDC, seeded.key()]);
    const baseProgram = seeded.pick([TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID]);
    const quoteProgram = quote.equals(NATIVE_MINT) || quote.equals(USDC) ? TOKEN_PROGRAM_ID : seeded.pick([TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID]);
    const canonical = kind !== 5;
    const poolKey = canonical ? sdk.canonicalPumpPoolPda(base, quote) : seeded.key();
    const creator = canonical ? sdk.pumpPoolAuthorityPda(base) : seeded.key();
    const coinCreator = canonical && kind !== 4 ? seeded.key() : PublicKey.default;
    const out = bytes(300, "f19a6d0411b16dbc");
    const vaults = [
      getAssociatedTokenAddressSync(base, poolKey, true, baseProgram),
      getAssociatedTokenAddressSync(quote, poolKey, true, quoteProgram),
    ];
    [creator, base, quote, seeded.key(), ...vaults].forEach((key, place) => out.key(11 + 32 * place, key));
    out.u64(203, 1_000_000);
    out.key(211, coinCreator);
    out.u8(243, kind === 2 ? 1 : 0);
    out.u8(244, kind === 1 ? 1 : 0);
    const baseAmount = seeded.between(1_000_000_000n, 206_900_000_000_000n);
    const quoteAmount = seeded.between(1_000_000n, 85_000_000_000n) * 10n ** seeded.below(3);
    if (canonical && seeded.chance(30)) out.u64(245, seeded.below(quoteAmount));
    out.u64(261, kind === 3 ? seeded.between(1, 500) : 0);
    const size = index % 11 === 10 ? seeded.pick([245, 261, 271]) : 300;
    const data = out.data.subarray(0, size);

    const { data: globalData, fees } = settings[setting];
    const globalConfig = amm.decodeGlobalConfig(account(globalData));
    const config = amm.decodeFeeConfig(account(fees));
    const pool = amm.decodePool(account(data));
    const quoting = {
      slippage: 0,
      baseReserve: big(baseAmount),
      quoteReserve: big(quoteAmount),
      virtualQuoteReserves: pool.virtualQuoteReserves,
      globalConfig,
      baseMintAccount: { supply: SUPPLY },
      baseMint: base,
      coinCreator: pool.coinCreator,
      creator: pool.creator,
      feeConfig: config,
      quoteMint: quote,
      isMayhemMode: pool.isMayhemMode,
      creatorFeeBps: pool.creatorFeeBps,
    };
    const attempt = (run) => {
      try {
        return run().toString();
      } catch {
        return null;
      }
    };
    const sizes = (most) => [1_000n, most / 1_000_000n + 10n, seeded.between(10, most), most];
    const quotes = {
      buyOut: sizes((baseAmount * 9n) / 10n).map((amount) => [String(amount), attempt(() => sdk.buyBaseInput({ ...quoting, base: big(amount) }).uiQuote)]),
      buyIn: sizes(quoteAmount).map((amount) => [String(amount), attempt(() => sdk.buyQuoteInput({ ...quoting, quote: big(amount) }).base)]),
      sellIn: sizes(baseAmount).map((amount) => [String(amount), attempt(() => sdk.sellBaseInput({ ...quoting, base: big(amount) }).uiQuote)]),
      sellOut: sizes((quoteAmount * 8n) / 10n).map((amount) => [String(amount), attempt(() => sdk.sellQuoteInput({ ...quoting, quote: big(amount) }).base)]),
    };

    const recipient = Number(seeded.below(8));
    const [amount, bound] = [seeded.between(1, 1n << 62n), seeded.between(1, 1n << 62n)];
    const [userBase, userQuote] = [
      getAssociatedTokenAddressSync(base, user, true, baseProgram),
      getAssociatedTokenAddressSync(quote, user, true, quoteProgram),
    ];
    const exists = (owner) => ({ data: Buffer.alloc(165), owner, lamports: 1, executable: false });
    const state = {
      globalConfig,
      feeConfig: config,
      poolKey,
      poolAccountInfo: account(data),
      pool,
      poolBaseAmount: big(baseAmount),
      poolQuoteAmount: big(quoteAmount),
      baseTokenProgram: baseProgram,
      quoteTokenProgram: quoteProgram,
      baseMint: base,
      baseMintAccount: { supply: SUPPLY },
      user,
      userBaseTokenAccount: userBase,
      userQuoteTokenAccount: userQuote,
      userBaseAccountInfo: exists(baseProgram),
      userQuoteAccountInfo: exists(quoteProgram),
    };
    // The SDK draws recipients by chance: this decides it.
    Math.random = () => (recipient + 0.5) / 8;
    const ours = (list) => list.filter(({ programId }) => programId.equals(sdk.PUMP_AMM_PROGRAM_ID));
    const buy = ours(await amm.buyInstructions(state, big(amount), big(bound)));
    const sell = ours(await amm.sellInstructions(state, big(amount), big(bound)));
    Math.random = random;
    const last = buy.at(-1);
    const named = Object.fromEntries(
      program.idl.instructions.find(({ name }) => name === "buy").accounts.map(({ name }, place) => [name, last.keys[place].pubkey]),
    );
    const budget = await program.methods
      .buyExactQuoteIn(big(amount), big(bound), { 0: true })
      .accountsPartial(named)
      .remainingAccounts(last.keys.slice(23))
      .instruction();
    pools.push({
      setting,
      address: table.place(poolKey),
      data: data.toString("base64"),
      user: table.place(user),
      userAccounts: [table.place(userBase), table.place(userQuote)],
      token2022: [baseProgram.equals(TOKEN_2022_PROGRAM_ID), quoteProgram.equals(TOKEN_2022_PROGRAM_ID)],
      reserves: [String(baseAmount), String(quoteAmount)],
      salt: recipient + 256 * recipient,
      amount: String(amount),
      bound: String(bound),
      instructions: {
        buy: buy.map(table.instruction),
        buyWithBudget: [...buy.slice(0, -1), budget].map(table.instruction),
        sell: sell.map(table.instruction),
      },
      quotes,
    });
  }
  return {
    source: "@pump-fun/pump-swap-sdk 1.20.0",
    settings: settings.map(({ data, fees }) => ({ global: data.toString("base64"), fees: fees.subarray(0, 1200).toString("base64") })),
    pools,
    keys: table.keys,
  };
}
