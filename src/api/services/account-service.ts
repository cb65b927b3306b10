import type { ServiceImpl } from "@connectrpc/connect";
import type { AccountService } from "../../../gen/tradewire/v1/account_pb.ts";
import type { Accounts } from "../../accounts/port.ts";
import { isoMillis } from "../../primitives/clock.ts";
import { principalOf } from "../call/call.ts";
import { parseAddressField, parseSignatureField } from "./requests.ts";

/** Implements AccountService on the account store. */
export function createAccountService(accounts: Accounts): ServiceImpl<typeof AccountService> {
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

    async revokeKey(request, context) {
      await accounts.revokeKey(principalOf(context), request.keyId);
      return { keyId: request.keyId };
    },
  };
}
