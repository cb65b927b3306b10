// Golden vectors of the bonding curve: coins as account bytes, what @pump-fun/pump-sdk quotes and builds for them.
import { createRequire } from "node:module";
import { bytes, createKeyTable, createSeeded, feeConfig } from "./vectors.mjs";

const require = createRequire(import.meta.url);
const BN = require("bn.js");
const { PublicKey } = require("@solana/web3.js");
const { getAssociatedTokenAddressSync, NATIVE_MINT, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } = require("@solana/spl-token");
const sdk = require("@pump-fun/pump-sdk");

const COINS = 240;
const SUPPLY = 1_000_000_000_000_000n;
const USDC = new PublicKey("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v");
const big = (value) => new BN(value.toString());

function globalBytes(seeded, configurable) {
  const out = bytes(1087, "a7e8e8b1c86c727f");
  out.u8(8, 1);
  const recipients = { fee: [], mayhem: [], buyback: [] };
  const list = (into, at, count) => {
    for (let i = 0; i < count; i++) {
      const key = seeded.key();
      into.push(key);
      out.key(at + 32 * i, key);
    }
  };
  list(recipients.fee, 41, 1);
  list(recipients.fee, 162, 7);
  list(recipients.mayhem, 483, 1);
  list(recipients.mayhem, 516, 7);
  list(recipients.buyback, 741, 8);
  out.u8(1045, configurable ? 1 : 0);
  out.u64(1046, 500);
  return { data: out.data, recipients };
}

function curveBytes(seeded, index, quoteMint) {
  const kind = index % 6;
  const size = index % 10 === 9 ? seeded.pick([81, 82, 83, 115, 123]) : seeded.pick([125, 151]);
  const out = bytes(151, "17b7f83760d8ac60");
  const realTokens = seeded.between(1_000_000_000n, 793_100_000_000_000n);
  const realQuote = seeded.between(1_000_000n, 85_000_000_000n);
  out.u64(8, realTokens + 279_900_000_000_000n);
  out.u64(16, realQuote + 30_000_000_000n * 10n ** seeded.below(4));
  out.u64(24, realTokens);
  out.u64(32, realQuote);
  out.u64(40, SUPPLY);
  const creator = kind === 5 ? PublicKey.default : seeded.key();
  out.key(49, creator);
  out.u8(81, kind === 2 ? 1 : 0);
  out.u8(82, kind === 1 ? 1 : 0);
  if (!quoteMint.equals(NATIVE_MINT)) out.key(83, quoteMint);
  out.u64(115, kind === 4 ? seeded.between(1, 500) : 0);
  out.u8(124, kind === 3 ? 1 : 0);
  return out.data.subarray(0, quoteMint.equals(NATIVE_MINT) ? size : Math.max(size, 125));
}

export async function makePumpFun() {
  const seeded = createSeeded("pump_fun");
  const table = createKeyTable();
  const settings = [false, true].map((configurable) => ({ ...globalBytes(seeded, configurable), fees: feeConfig(seeded) }));
  const program = sdk.PUMP_SDK.offlinePumpProgram;
  const account = (data) => ({ data, owner: sdk.PUMP_PROGRAM_ID, lamports: 1, executable: false });
  const coins = [];
  for (let index = 0; index < COINS; index++) {
    const setting = index % 2;
    const { data: globalData, fees, recipients } = settings[setting];
    const mint = seeded.key();
    const user = seeded.key();
    const quoteMint = seeded.pick([NATIVE_MINT, NATIVE_MINT, NATIVE_MINT, USDC, seeded.key()]);
    const baseProgram = seeded.pick([TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID]);
    const quoteProgram = quoteMint.equals(NATIVE_MINT) || quoteMint.equals(USDC) ? TOKEN_PROGRAM_ID : seeded.pick([TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID]);
    const data = curveBytes(seeded, index, quoteMint);
    const bondingCurve = sdk.PUMP_SDK.decodeBondingCurve(account(data));
    const global = sdk.PUMP_SDK.decodeGlobal(account(globalData));
    const feeConfigValue = sdk.PUMP_SDK.decodeFeeConfig(account(fees));
    const quoting = { global, feeConfig: feeConfigValue, mintSupply: big(SUPPLY), bondingCurve, quoteMint };
    const real = BigInt(bondingCurve.realTokenReserves.toString());
    const virtualQuote = BigInt(bondingCurve.virtualQuoteReserves.toString());
    const sizes = (most) => [1n, 1_000n, most / 1_000_000n + 1n, seeded.between(1, most), most];
    const quotes = {
      buyOut: sizes(real).map((amount) => [amount, sdk.getBuySolAmountFromTokenAmount({ ...quoting, amount: big(amount) })].map(String)),
      buyIn: sizes(virtualQuote / 20n).map((amount) => [amount, sdk.getBuyTokenAmountFromSolAmount({ ...quoting, amount: big(amount) })].map(String)),
      sellIn: sizes(real).map((amount) => [amount, sdk.getSellSolAmountFromTokenAmount({ ...quoting, amount: big(amount) })].map(String)),
    };

    const fee = Number(seeded.below(8));
    const buyback = Number(seeded.below(8));
    const [amount, bound] = [seeded.between(1, real), seeded.between(1, 1n << 63n)];
    const common = {
      user,
      mint,
      creator: bondingCurve.creator,
      amount: big(amount),
      quoteAmount: big(bound),
      feeRecipient: (bondingCurve.isMayhemMode ? recipients.mayhem : recipients.fee)[fee],
      buybackFeeRecipient: recipients.buyback[buyback],
      tokenProgram: baseProgram,
      quoteMint,
      quoteTokenProgram: quoteProgram,
    };
    const buy = await sdk.PUMP_SDK.getBuyV2InstructionRaw(common);
    const sell = await sdk.PUMP_SDK.getSellV2InstructionRaw(common);
    // The SDK has no builder for the third instruction: its IDL's own, over the accounts of buy_v2, which are the same.
    const named = Object.fromEntries(
      program.idl.instructions.find(({ name }) => name === "buyV2").accounts.map(({ name }, place) => [name, buy.keys[place].pubkey]),
    );
    const budget = await program.methods.buyExactQuoteInV2(big(amount), big(bound)).accountsPartial(named).instruction();
    coins.push({
      setting,
      curve: data.toString("base64"),
      mint: table.place(mint),
      user: table.place(user),
      quote: table.place(quoteMint),
      token2022: [baseProgram.equals(TOKEN_2022_PROGRAM_ID), quoteProgram.equals(TOKEN_2022_PROGRAM_ID)],
      userAccounts: [
        table.place(getAssociatedTokenAddressSync(mint, user, true, baseProgram)),
        table.place(getAssociatedTokenAddressSync(quoteMint, user, true, quoteProgram)),
      ],
      salt: fee + 256 * buyback,
      amount: String(amount),
      bound: String(bound),
      instructions: { buy: table.instruction(buy), buyWithBudget: table.instruction(budget), sell: table.instruction(sell) },
      quotes,
    });
  }
  return {
    source: "@pump-fun/pump-sdk 2.0.0",
    settings: settings.map(({ data, fees }) => ({ global: data.toString("base64"), fees: fees.subarray(0, 1200).toString("base64") })),
    coins,
    keys: table.keys,
  };
}
