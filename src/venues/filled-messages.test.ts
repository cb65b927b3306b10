import { expect, test } from "vitest";
import { readSampleMarkets, type SampleMarket } from "../../test/support/sample-markets.ts";
import { TradewireError } from "../errors/tradewire-error.ts";
import { Address } from "../primitives/address.ts";
import { createRandom, type Random } from "../primitives/random.ts";
import { associatedTokenAccount } from "../solana/derived-address.ts";
import type { Instruction } from "../solana/instruction.ts";
import { messageTemplates } from "../solana/message/message-template.ts";
import { compileMessage, type MessagePlan } from "../solana/message.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../solana/programs.ts";
import { closeTokenAccount, createTokenAccount, transferLamports } from "../solana/token/token-instructions.ts";
import { openWrappedSol } from "../solana/token/wrapped-sol.ts";
import type { Quote } from "./venue.ts";

const { mint, clock, markets } = readSampleMarkets();
const ROUNDS = 60;
const ids = [...new Set(markets.map(({ venue }) => venue.id))];

/** The instruction with its accounts and data written out: such a message is compiled, whatever came before it. */
const written = ({ program, accounts, data }: Instruction): Instruction => ({ program, accounts, data });

test.each(ids)(
  "%s: a message filled in is, to the byte, the one compiled, in every form, for any wallet and any state",
  (id) => {
    const random = createRandom(218);
    const own = markets.filter(({ venue }) => venue.id === id);
    const filled = own.reduce((sum, market) => sum + countFilled(random, market), 0);
    expect(filled).toBeGreaterThan(2 * own.length);
  },
);

/** Builds messages on a market, and fails if one is not the one compiled. @returns how many were filled in */
function countFilled(random: Random, { venue, hot, accounts }: SampleMarket): number {
  const drawn = () => Address.from(random.bytes(32));
  const wallets = Array.from({ length: 8 }, drawn);
  const { address } = hot.market;
  const swap = { wallet: wallets[0]!, source: drawn(), destination: drawn(), threshold: 1n, exists: () => true };
  let filled = 0;
  let { market, state } = hot;
  for (let round = 0; round < ROUNDS; round++) {
    // As after a change of one of its accounts; and, at times, as after a change of what names them.
    if (random.chance(0.3)) state = venue.read(market, accounts);
    if (random.chance(0.02)) market = venue.decode(accounts.get(address)!, { a: mint, b: SOL_MINT })!;
    const [inMint, outMint] = random.chance(0.5) ? [mint, SOL_MINT] : [SOL_MINT, mint];
    const mode = random.chance(0.7) ? "exactIn" : "exactOut";
    const quote = quoted(() =>
      venue.quote(state, { mode, inMint, outMint, amount: 1n << BigInt(5 + (random.u32() % 32)), clock }),
    );
    if (quote === undefined) continue;
    const older = random.chance(0.3) ? (venue.older?.(state, quote) ?? quote) : quote;
    const form = random.chance(0.3) ? (venue.lean?.(state, older) ?? older) : older;
    const salt = random.u32() % (1 << 14);
    const { instructions: named } = venue.swap(state, form, { ...swap, salt });
    // A wallet that the market itself names, now and then.
    const isNamed = random.chance(0.1);
    const wallet = isNamed ? random.pick(named[0]!.accounts).address : random.pick(wallets);
    const tokens = associatedTokenAccount(wallet, mint, TOKEN_PROGRAM).address;
    const wrapped = drawn();
    const [source, destination] = inMint === mint ? [tokens, wrapped] : [wrapped, tokens];
    const terms = { wallet, source, destination, salt, threshold: BigInt(random.u32()), exists: () => true };
    const { instructions: swaps } = venue.swap(state, form, terms);
    const lamports = BigInt(random.u32());
    const order = { account: wrapped, wallet, seed: "AbCdEfGhIjK", lamports, rent: 2_039_280n };
    const instructions = [
      ...(random.chance(0.5) ? [createTokenAccount(tokens, wallet, mint, TOKEN_PROGRAM)] : []),
      ...openWrappedSol(order),
      ...swaps,
      closeTokenAccount(wrapped, wallet, TOKEN_PROGRAM),
      ...(random.chance(0.2) ? [transferLamports(wallet, random.pick(wallets), lamports)] : []),
    ];
    const plan: MessagePlan = { payer: wallet, instructions, blockhash: random.bytes(32), lookupTables: [] };
    const expected = Buffer.from(compileMessage({ ...plan, instructions: instructions.map(written) }));
    const template = messageTemplates.fill(address, plan, 0);
    if (template !== undefined) {
      filled += 1;
      if (!expected.equals(template)) expect.fail(`filled in, round ${round}`);
    }
    if (!expected.equals(compileMessage({ ...plan, kind: address }))) expect.fail(`compiled, round ${round}`);
  }
  return filled;
}

/** The quote; undefined if the market refuses it. */
function quoted(ask: () => Quote): Quote | undefined {
  try {
    return ask();
  } catch (error) {
    if (error instanceof TradewireError) return undefined;
    throw error;
  }
}
