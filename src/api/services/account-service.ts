import type { ServiceImpl } from "@connectrpc/connect";
import type { AccountService } from "../../../gen/tradewire/v1/account_pb.ts";
import type { Accounts } from "../../accounts/port.ts";
import { SOL_DECIMALS, toWholeUnits } from "../../primitives/amount.ts";
import { isoMillis } from "../../primitives/clock.ts";
import type { Trades } from "../../trade/trade.ts";
import { principalOf } from "../call/call.ts";
import { parseAddressField, parseMint, parseSignatureField } from "./requests.ts";

/** Implements AccountService on the account store and, for balances, on the product. */
export function createAccountService(
  accounts: Accounts,
  trades: Pick<Trades, "balances">,
): ServiceImpl<typeof AccountService> {
  return {
    async createChallenge(request) {
      const challenge = await accounts.createChallenge(parseAddressField(request.walletAddress, "walletAddress"));
      return { message: challenge.message, expiresAt: isoMillis(challenge.expiresAtMs) };
    },

    async register(request) {
      const { apiKey, keyId, wallet } = await accounts.register({
        wallet: parseAddressField(request.walletAddress, "walletAddress"),
        message: request.message,
        signature: parseSignatureField(request.signature),
        label: request.label,
        revokeOthers: request.revokeOthers,
      });
      return { apiKey, keyId, walletAddress: wallet.toString() };
    },

    async getProfile(_, context) {
      const { accountId, wallet, createdAtMs } = await accounts.profile(principalOf(context));
      return { accountId, walletAddress: wallet.toString(), createdAt: isoMillis(createdAtMs) };
    },

    async listKeys(_, context) {
      const keys = await accounts.listKeys(principalOf(context));
      return {
        keys: keys.map(({ keyId, label, createdAtMs, revokedAtMs }) => ({
          keyId,
          label,
          createdAt: isoMillis(createdAtMs),
          ...(revokedAtMs === undefined ? {} : { revokedAt: isoMillis(revokedAtMs) }),
        })),
      };
    },

    async getBalances(request, context) {
      const mints = [...new Set(request.mint.map((text, i) => parseMint(text, `mint[${i}]`)))];
      const { wallet, lamports, tokens, slot } = await trades.balances(principalOf(context), mints);
      return {
        walletAddress: wallet.toString(),
        sol: toWholeUnits(lamports, SOL_DECIMALS),
        lamportsRaw: lamports.toString(),
        tokens: tokens.map(({ mint, decimals, amount }) => ({
          mint: mint.toString(),
          amount: toWholeUnits(amount, decimals),
          amountRaw: amount.toString(),
          decimals,
        })),
        slot,
      };
    },

    async revokeKey(request, context) {
      await accounts.revokeKey(principalOf(context), request.keyId);
      return { keyId: request.keyId };
    },
  };
}
