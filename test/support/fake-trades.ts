import bs58 from "bs58";
import type { Accounts, KeyDirectory, KeySummary, Principal } from "../../src/accounts/port.ts";
import { invalidField, TradewireError } from "../../src/errors/tradewire-error.ts";
import { Address } from "../../src/primitives/address.ts";
import { parseAmount, parseRawAmount } from "../../src/primitives/amount.ts";
import { equalBytes } from "../../src/primitives/bytes.ts";
import { maximumIn, minimumOut, parseSlippage } from "../../src/primitives/slippage.ts";
import type { BuiltTrade, SubmittedTrade, TradeRequest, Trades } from "../../src/trade/trade.ts";

/** The one token that the fake trades: a thousand for one SOL. */
export const TOKEN = Address.of("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
const SOL = Address.of("So11111111111111111111111111111111111111112");
const DECIMALS = new Map([
  [SOL, 9],
  [TOKEN, 6],
]);
const NOT_MEASURED = { sample: 0, landedShare: undefined, slots: undefined, slotsP90: undefined };
const MARKET = Address.of("ComputeBudget111111111111111111111111111111");
const POOL_TOKENS = 1_000_000_000_000n;

/** Two accounts with a key each; a third key that is known and revoked. */
export const ALICE = { key: "api_alice", wallet: Address.of("SysvarC1ock11111111111111111111111111111111") };
export const BOB = { key: "api_bob", wallet: Address.of("SysvarRent111111111111111111111111111111111") };
export const REVOKED_KEY = "api_revoked";
export const CHALLENGE = "tradewire.example wants you to sign in";
/** A wallet that makes the store fail, for what callers must not see. */
export const POISONED_WALLET = Address.of("Stake11111111111111111111111111111111111111");

export interface FakeTrades extends Trades {
  /** How many transactions were broadcast. */
  broadcasts(): number;
}

/** A product of one constant price, in memory, for tests of the edge. Refuses what the real one refuses, by the same codes. */
export function createFakeTrades(): FakeTrades {
  const built = new Map<string, { readonly principal: Principal; readonly trade: BuiltTrade }>();
  const submitted = new Map<string, { readonly principal: Principal; readonly trade: SubmittedTrade }>();

  const quote = (request: Omit<TradeRequest, "principal" | "priority">) => {
    const inDecimals = decimalsOf(request.inMint, "inMint");
    const outDecimals = decimalsOf(request.outMint, "outMint");
    const decimals = request.mode === "exactIn" ? inDecimals : outDecimals;
    const exact =
      request.amountRaw === undefined ? parseAmount(request.amount, decimals) : parseRawAmount(request.amountRaw);
    if (exact === undefined) throw invalidField("amount", "The amount is out of range.");
    // 1 SOL is 10^9 base units and 1,000 tokens are 10^9 base units, so both sides are equal.
    if (request.outMint === TOKEN && exact > POOL_TOKENS) {
      throw new TradewireError("INSUFFICIENT_LIQUIDITY", "The pool holds less than that.");
    }
    const slippage = parseSlippage(request.slippage)!;
    const leg = {
      venue: "fake",
      market: MARKET,
      inMint: request.inMint,
      outMint: request.outMint,
      inAmount: exact,
      outAmount: exact,
      ...(request.mode === "exactOut" ? { arrayNumbers: [-120, 0, 60] } : {}),
    };
    return {
      inMint: request.inMint,
      outMint: request.outMint,
      inDecimals,
      outDecimals,
      platform: "fake",
      estimates: {
        inAmount: exact,
        outAmount: exact,
        priceImpact: 0,
        threshold: request.mode === "exactIn" ? minimumOut(exact, slippage) : maximumIn(exact, slippage),
      },
      route: [leg],
    };
  };

  const find = (principal: Principal, signature: string): SubmittedTrade => {
    const found = submitted.get(signature);
    if (found?.principal.accountId !== principal.accountId) {
      throw new TradewireError("TRADE_NOT_FOUND", "No trade of this account has that signature.");
    }
    return found.trade;
  };

  return {
    broadcasts: () => submitted.size,
    venueCounts: () => new Map(),

    build(request) {
      const message = Buffer.from(`trade ${built.size} of ${request.principal.accountId}`);
      const trade: BuiltTrade = {
        ...quote(request),
        submissionToken: `token_${built.size}`,
        unsignedTransaction: Buffer.concat([Buffer.of(1), Buffer.alloc(64), message]),
        expiresAtMs: Date.UTC(2026, 10, 20, 12, 0, 30),
        costs: { baseFee: 5_000n, priorityFee: 20_000n, tip: 0n, rentPaid: 2_039_280n, rentReturned: 0n },
        lastValidBlockHeight: 300_000_150n,
      };
      built.set(trade.submissionToken, { principal: request.principal, trade });
      return trade;
    },

    quote(request) {
      const quoted = quote(request);
      return {
        ...quoted,
        needsOpenAccounts: false,
        alternatives: [
          {
            platform: "worse",
            inAmount: 10n,
            outAmount: 9n,
            priceImpact: 0.25,
            route: quoted.route,
            needsOpenAccounts: true,
          },
        ],
        faults: [{ venue: "broken", market: undefined, reason: "paused" }],
      };
    },

    async submit({ principal, submissionToken, signedTransaction }) {
      const found = built.get(submissionToken);
      if (found?.principal.accountId !== principal.accountId) {
        throw new TradewireError("INVALID_SUBMISSION_TOKEN", "The token is not one of this account.");
      }
      const { trade } = found;
      if (
        !equalBytes(signedTransaction.subarray(65), trade.unsignedTransaction.subarray(65)) ||
        signedTransaction[0] !== 1
      ) {
        throw new TradewireError("MESSAGE_MISMATCH", "These are not the bytes that were built.");
      }
      const signature = signedTransaction.subarray(1, 65);
      if (signature.every((byte) => byte === 0))
        throw new TradewireError("NOT_FULLY_SIGNED", "The signature is missing.");
      if (!signature.every((byte) => byte === 7)) {
        throw new TradewireError("INVALID_SIGNATURE", "The signature is not the wallet's.");
      }
      const text = bs58.encode(signature.map((byte, i) => byte + (i === 63 ? Number(submissionToken.slice(6)) : 0)));
      const result: SubmittedTrade = {
        ...trade,
        signature: text,
        status: "confirmed",
        slot: 300_000_001n,
        witnesses: 2,
        pendingReason: undefined,
        diagnosis: undefined,
        result: { inAmount: trade.estimates.inAmount, outAmount: trade.estimates.outAmount },
      };
      submitted.set(text, { principal, trade: result });
      return result;
    },

    async find(principal, signature) {
      return find(principal, signature);
    },

    async list(principal, { most }) {
      const own = [...submitted.values()].filter((entry) => entry.principal.accountId === principal.accountId);
      const trades = own.reverse().slice(0, most);
      return {
        trades: trades.map(({ trade: { signature, status, slot }, trade }) => {
          return { signature, status, slot, submittedAtMs: 1_795_000_000_000, endedAtMs: undefined, trade };
        }),
        next: undefined,
      };
    },

    async *watch(principal, signature, signal) {
      const trade = find(principal, signature);
      const sent = { kind: "sent", atMs: 1_795_000_000_000, sender: "rpc-1" } as const;
      yield { ...trade, status: "pending", slot: undefined, result: undefined, events: [sent] };
      if (!signal.aborted) yield { ...trade, events: [] };
    },

    async balances({ wallet }, mints) {
      return {
        wallet,
        lamports: 5_000_000_000n,
        tokens: mints.map((mint) => ({ mint, decimals: 6, amount: 7n })),
        slot: 1n,
      };
    },

    landings: { ofLevel: () => NOT_MEASURED, ofSender: () => undefined },

    priorities: () => [
      { level: "economy", microLamportsPerCu: 0n, typicalCostLamports: 0n, expectedSlots: 4, landing: NOT_MEASURED },
      {
        level: "fast",
        microLamportsPerCu: 100_000n,
        typicalCostLamports: 20_000n,
        expectedSlots: 2,
        landing: NOT_MEASURED,
      },
    ],
  };
}

function decimalsOf(mint: Address, field: string): number {
  const decimals = DECIMALS.get(mint);
  if (decimals === undefined) throw new TradewireError("TOKEN_NOT_FOUND", "No such mint.", { field });
  return decimals;
}

/** Signs a transaction of the fake as its wallet would. */
export function fakeSign(unsigned: Uint8Array): Uint8Array<ArrayBuffer> {
  const signed = new Uint8Array(unsigned);
  signed.fill(7, 1, 65);
  return signed;
}

/** The keys and accounts that go with it. Alice's key is known at once, Bob's is looked up. */
export function createFakeAccounts(): Accounts & KeyDirectory {
  const principals = new Map<string, Principal>(
    [ALICE, BOB].map(({ key, wallet }) => [key, { accountId: `account of ${key}`, keyId: `id of ${key}`, wallet }]),
  );
  const revoked = new Set<string>();
  const watched = new Set<{ readonly keyId: string; readonly revoked: () => void }>();
  const known = (apiKey: string): Principal => {
    const principal = principals.get(apiKey);
    if (principal === undefined || revoked.has(principal.keyId)) {
      throw new TradewireError(
        "AUTH_ERROR",
        apiKey === REVOKED_KEY ? "The API key was revoked." : "The API key is not known.",
      );
    }
    return principal;
  };
  const summaries = (principal: Principal): KeySummary[] => [
    { keyId: principal.keyId, label: "", createdAtMs: 0, revokedAtMs: undefined },
    { keyId: "old", label: "laptop", createdAtMs: 0, revokedAtMs: 1_000 },
  ];

  return {
    recall: (apiKey) => (apiKey === BOB.key ? undefined : known(apiKey)),
    authenticate: (apiKey) => (apiKey === BOB.key ? Promise.resolve().then(() => known(apiKey)) : known(apiKey)),

    watch(keyId, notify) {
      const entry = { keyId, revoked: notify };
      watched.add(entry);
      return () => watched.delete(entry);
    },

    async createChallenge(wallet) {
      if (wallet === POISONED_WALLET) throw new Error("connection to 10.0.0.7 with password hunter2 failed");
      return { message: CHALLENGE, expiresAtMs: Date.UTC(2026, 10, 20, 12, 5) };
    },

    async register({ wallet, message, signature }) {
      if (message !== CHALLENGE) throw invalidField("message", "message is not a challenge of this service.");
      if (!signature.every((byte) => byte === 7))
        throw new TradewireError("INVALID_SIGNATURE", "The wallet did not sign this.");
      return { apiKey: "api_new", keyId: "new", wallet };
    },

    async profile(principal) {
      return { accountId: principal.accountId, wallet: principal.wallet, createdAtMs: 0 };
    },

    async listKeys(principal) {
      return summaries(principal);
    },

    async revokeKey(principal, keyId) {
      if (!summaries(principal).some((key) => key.keyId === keyId)) {
        throw new TradewireError("NOT_FOUND", "No key of this account has that id.", { field: "keyId" });
      }
      revoked.add(keyId);
      for (const entry of watched) if (entry.keyId === keyId) entry.revoked();
    },
  };
}
