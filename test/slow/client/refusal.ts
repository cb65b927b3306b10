import { expectTrade } from "../../../src/client/verify/trade-expectation.ts";
import { verifyTransaction } from "../../../src/client/verify/verify-transaction.ts";
import type { Attack } from "./attacks.ts";
import type { HonestBuild } from "./honest-builds.ts";

/** What a client with the attack's limits says to it; undefined if it would sign. */
export function refusal(
  build: HonestBuild,
  attack: Pick<Attack, "order" | "answer" | "limits" | "wire">,
): string | undefined {
  const { wallet, order, answer, decimals, lookupTables } = build;
  // An attack on limits brings the decimals itself; all others meet a caller who knows them.
  const limits = attack.limits ?? { decimals };
  try {
    const expected = expectTrade(
      wallet,
      { ...order, ...attack.order },
      { ...answer, ...attack.answer },
      limits,
      "caller",
    );
    verifyTransaction(attack.wire ?? build.wire, expected, { lookupTables });
    return undefined;
  } catch (error) {
    const problems = (error as { problems?: readonly { reason: string }[] }).problems ?? [];
    return [(error as Error).message, ...problems.map(({ reason }) => reason)].join("; ");
  }
}
