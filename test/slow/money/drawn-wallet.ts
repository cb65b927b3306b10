import type { Address } from "../../../src/primitives/address.ts";
import { viewOf, writeU64 } from "../../../src/primitives/bytes.ts";
import type { Random } from "../../../src/primitives/random.ts";
import { associatedTokenAddress, derive } from "../../../src/solana/pda.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import { extensionsOf } from "../../../src/solana/token/mint.ts";
import { PUMP_PROGRAM } from "../../../src/venues/pump-fun/layout.ts";
import { PUMP_SWAP_PROGRAM } from "../../../src/venues/pump-swap/layout.ts";
import { type AccountExtension, withExtensions } from "../../support/extended-account.ts";
import type { Svm } from "../../support/svm.ts";
import { BUYBACK_GROUP, recipientAddress } from "../venues/support/pump-fun.ts";
import type { DrawnWorld } from "./drawn-world.ts";

/** Lamports of a wallet that has enough for anything, and of those that have not. */
const RICH = 1n << 52n;
const SCARCE = [1n, 5_000n, 890_880n, 2_000_000n, 5_000_000n, 10n ** 8n] as const;
/** What somebody may have sent to an address at which nothing is yet. Lamports. */
const DUST = [1n, 650_240n, 890_880n, 1_488_440n, 1_488_441n, 3_000_000n] as const;
const NO_DATA = new Uint8Array(0);
/** The account of a durable nonce in use: it pays fees and nothing else. */
const NONCE = new Uint8Array(80);
NONCE[4] = 1;

/** Addresses that Pump's settings list in each of their groups. */
const LISTED = 8n;

/**
 * A wallet with accounts in any state that its owner, issuers and strangers can bring about; on Pump's markets also one of those that
 * fees go to.
 */
export function drawWallet(world: DrawnWorld, random: Random): Address {
  const { svm, mints } = world;
  if (world.places.some(({ venue }) => venue.startsWith("pump_")) && random.chance(0.2)) {
    const address = recipientAddress(Number(random.between(1n, BigInt(BUYBACK_GROUP))), Number(random.below(LISTED)));
    svm.setAccount({ address, owner: SYSTEM_PROGRAM, data: NO_DATA, lamports: RICH });
    for (const mint of mints) settleRich(world, random, address, mint);
    return address;
  }
  const wallet = svm.newWallet(random.chance(0.75) ? RICH : random.pick(SCARCE));
  const settle = random.chance(0.5) ? settleRich : settleOddly;
  for (const mint of mints) settle(world, random, wallet, mint);
  if (random.chance(0.3)) settleOddly(world, random, wallet, SOL_MINT);
  // Its owner has assigned it to a program, as thieves ask for.
  if (random.chance(0.03)) svm.setAccount({ ...svm.get(wallet)!, owner: TOKEN_PROGRAM });
  else if (random.chance(0.05)) svm.setAccount({ ...svm.get(wallet)!, data: NONCE });
  if (random.chance(0.3))
    for (const address of volumeAccounts(wallet)) if (random.chance(0.5)) dust(svm, random, address);
  return wallet;
}

const accountAt = ({ svm }: DrawnWorld, wallet: Address, mint: Address): Address =>
  associatedTokenAddress(wallet, mint, svm.get(mint)!.owner);

/** Plenty of every token, and no wrapped SOL. */
function settleRich(world: DrawnWorld, random: Random, wallet: Address, mint: Address): void {
  if (mint === SOL_MINT) return;
  openAccount(world, random, wallet, mint, random.chance(0.5) ? 1n << 60n : random.magnitude(1n << 50n));
}

/** No account, dust at its address, or an account of any kind. */
function settleOddly(world: DrawnWorld, random: Random, wallet: Address, mint: Address): void {
  const address = accountAt(world, wallet, mint);
  switch (random.pick(["none", "dust", "empty", "held", "held", "set up", "set up"])) {
    case "none":
      return;
    case "dust":
      dust(world.svm, random, address);
      return;
    case "empty":
      openAccount(world, random, wallet, mint, 0n);
      return;
    case "held":
      openAccount(world, random, wallet, mint, random.magnitude(1n << 50n));
      return;
    default:
      openAccount(world, random, wallet, mint, random.pick([0n, 1n, 10n ** 9n, 1n << 50n]));
      setUp(world, random, address, mint);
  }
}

/** A token account with the extensions that the token program itself would give it. */
export function openAccount({ svm }: DrawnWorld, random: Random, wallet: Address, mint: Address, amount: bigint): void {
  const address = svm.setTokens(wallet, mint, amount);
  if (svm.get(mint)!.owner === TOKEN_2022_PROGRAM) extend(svm, random, address, mint, []);
  // Accounts keep what rent was when they were made, and what strangers send.
  if (random.chance(0.3)) svm.setAccount({ ...svm.get(address)!, lamports: svm.lamports(address) + random.pick(DUST) });
}

/** What an extension of a mint gives each of its accounts: withheld fees, or a mark. */
const OF_MINTS: Readonly<Record<number, AccountExtension>> = {
  1: [2, new Uint8Array(8)],
  14: [15, new Uint8Array(1)],
  26: [27, NO_DATA],
};

/** Fees of transfers that the account got, if the mint takes any: it cannot be closed until somebody has collected them. */
const withheld = (one: AccountExtension): AccountExtension =>
  one[0] === 2 ? [2, Uint8Array.of(9, 0, 0, 0, 0, 0, 0, 0)] : one;

function extend(svm: Svm, random: Random, address: Address, mint: Address, more: readonly AccountExtension[]): void {
  const account = svm.get(address)!;
  const usual: AccountExtension[] = [[7, NO_DATA]];
  for (const { type } of extensionsOf(svm.get(mint)!.data)) if (OF_MINTS[type]) usual.push(OF_MINTS[type]);
  if (random.chance(0.1)) usual.splice(1, 1, ...usual.slice(1, 2).map(withheld));
  svm.setAccount({ address, owner: account.owner, data: withExtensions(account.data, [...usual, ...more]) });
}

const confidential = (takesPlain: number, balance: number): AccountExtension => {
  const value = new Uint8Array(295);
  value[262] = takesPlain;
  value[100] = balance;
  return [5, value];
};
/** Settings of owners. @see spl-token-2022 `extension/mod.rs`, enum ExtensionType */
const SETTINGS: readonly AccountExtension[] = [
  [8, Uint8Array.of(1)],
  [8, Uint8Array.of(0)],
  [11, Uint8Array.of(1)],
  [11, Uint8Array.of(0)],
  confidential(1, 0),
  confidential(1, 9),
  confidential(0, 0),
];
/** Offsets in a token account: its owner, a delegate and what it may spend, its state, who may close it. */
const AT = { owner: 32, delegate: 72, state: 108, delegated: 121, closer: 129 } as const;

/** Frozen, another's, with a delegate, with a close authority, or as the settings of Token-2022 have it. */
function setUp({ svm }: DrawnWorld, random: Random, address: Address, mint: Address): void {
  const account = svm.get(address)!;
  const { data } = account;
  const stranger = svm.newAddress();
  if (random.chance(0.15) && mint !== SOL_MINT) data[AT.state] = 2;
  if (random.chance(0.15)) data.set(stranger.bytes, AT.owner);
  if (random.chance(0.4)) {
    viewOf(data).setUint32(AT.delegate, 1, true);
    data.set(stranger.bytes, AT.delegate + 4);
    writeU64(data, AT.delegated, 1n << 40n);
  }
  if (random.chance(0.4)) {
    viewOf(data).setUint32(AT.closer, 1, true);
    data.set(stranger.bytes, AT.closer + 4);
  }
  svm.setAccount(account);
  if (account.owner !== TOKEN_2022_PROGRAM) return;
  extend(
    svm,
    random,
    address,
    mint,
    random.chance(0.7) ? [random.pick(SETTINGS)] : [random.pick(SETTINGS.slice(0, 2)), SETTINGS[4]!],
  );
}

function dust(svm: Svm, random: Random, address: Address): void {
  if (svm.get(address) === null)
    svm.setAccount({ address, owner: SYSTEM_PROGRAM, data: NO_DATA, lamports: random.pick(DUST) });
}

/** Where pump's programs count what a wallet trades, and where its cashback gathers. */
function volumeAccounts(wallet: Address): Address[] {
  return [PUMP_PROGRAM, PUMP_SWAP_PROGRAM].flatMap((program) => {
    const counter = derive(program, "user_volume_accumulator", wallet);
    return [counter, associatedTokenAddress(counter, SOL_MINT, TOKEN_PROGRAM)];
  });
}
