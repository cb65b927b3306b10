import type { ServiceImpl } from "@connectrpc/connect";
import bs58 from "bs58";
import type { AccountService } from "../../../gen/tradewire/v1/account_pb.ts";
import type { Accounts } from "../../accounts/port.ts";
import { invalidField } from "../../errors/tradewire-error.ts";
import { isoMillis } from "../../primitives/clock.ts";
import { principalOf } from "../call/call.ts";
import { parseAddress } from "./answers.ts";

/** AccountService on the account store. */
export function createAccountService(accounts: Accounts): ServiceImpl<typeof AccountService> {
  return {
    async createChallenge(request) {
      const challenge = await accounts.createChallenge(parseAddress(request.walletAddress, "walletAddress"));
      return { message: challenge.message, expiresAt: isoMillis(challenge.expiresAtMs) };
    },

    async register(request) {
      const { apiKey, keyId, wallet } = await accounts.register({
        wallet: parseAddress(request.walletAddress, "walletAddress"),
        message: request.message,
        signature: parseSignature(request.signature),
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

/** @throws TradewireError VALIDATION_ERROR */
function parseSignature(text: string): Uint8Array {
  const bytes = bs58.decodeUnsafe(text);
  if (bytes?.length !== 64)
    throw invalidField("signature", "signature is not an Ed25519 signature: 64 bytes in base58.");
  return bytes;
}
