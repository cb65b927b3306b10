import type { Landing } from "../../../chain/port.ts";
import type { Now } from "../../../primitives/clock.ts";
import type { SealedTrade } from "../../build/token/sealed-trade.ts";
import type { Diagnosis } from "../diagnosis/diagnosis.ts";
import { expiredOutcome, isProof } from "../outcome/expired-outcome.ts";
import type { Outcome } from "../outcome/outcome.ts";
import { isSignedForm, verifySignedBytes } from "../signed-bytes.ts";
import { sleep } from "../waiting.ts";
import { type Broadcast, FOLLOW_MS } from "./broadcast.ts";
import type { ClaimKeeper } from "./claim-keeper.ts";

/** Pause between searches of the wallet's history, while too few nodes or no database answer. Milliseconds. */
const SEARCH_RETRY_MS = 1_000;
/** Searches after which a message that expired long ago is decided without the history. */
const MAX_SEARCHES = 30;
/** Searches after which callers see why the trade is still pending. */
const SEARCHES_UNTIL_TOLD = 8;
const UNPROVEN =
  "the nodes have no status of it as it was submitted; whether it has landed, perhaps under another signature, neither its wallet's history nor the database proves yet";
const UNSERVED = { kind: "unserved", sinceMs: 0, isRemembered: false } as const;

/** What a ruling reads. */
interface ExpiryPorts {
  readonly landing: Pick<Landing, "searchMessage">;
  readonly now: Now;
  /** Time after a message's expiry for which the nodes' history is relied on. Milliseconds. */
  readonly historyMs: number;
  readonly keeper: Pick<ClaimKeeper, "signatures">;
  /** True once this process follows the message no more. */
  readonly isOver: () => boolean;
  readonly broadcast: Pick<Broadcast, "add" | "hasUnsent" | "signatures">;
  readonly explain: () => Promise<Diagnosis>;
  /** Receives the reason why there is no ruling yet. */
  readonly onUnproven: (reason: string) => void;
}

/** Decides about a message whose followed signatures have all expired: it may have landed under one that is not followed. */
export class ExpiryRuling {
  readonly #ports: ExpiryPorts;
  readonly #sealed: SealedTrade;

  constructor(ports: ExpiryPorts, sealed: SealedTrade) {
    this.#ports = ports;
    this.#sealed = sealed;
  }

  /** Follows the signatures that other processes have stored. @returns false while the database is away */
  async followStored(): Promise<boolean> {
    const stored = await this.#ports.keeper.signatures();
    const { broadcast } = this.#ports;
    for (const form of stored ?? []) {
      if (broadcast.signatures.includes(form.signature) || !isSignedForm(this.#sealed, form)) continue;
      broadcast.add(form.signature, form.transaction);
    }
    return stored !== undefined;
  }

  /**
   * The outcome of an expired message; "followed" if another signature must be followed first. If no node shows the wallet's history back
   * to the build, the stored signatures are needed, so it waits for the database. Undefined if another process has ended it meanwhile, or
   * should take over.
   */
  async rule(signature: string): Promise<Outcome | "followed" | undefined> {
    const { landing, now, historyMs, isOver, broadcast, explain, onUnproven } = this.#ports;
    const { wallet, messageHash, lastValidBlockHeight, buildSlot, expiresAtMs } = this.#sealed;
    for (let tries = 1; !isOver(); tries++) {
      try {
        const hasStored = await this.followStored();
        if (broadcast.hasUnsent) return "followed";
        const known = broadcast.signatures;
        const finding = await landing.searchMessage({ wallet, messageHash, lastValidBlockHeight, buildSlot, known });
        if (finding.kind === "found") {
          const { transaction } = finding;
          broadcast.add(verifySignedBytes(this.#sealed, transaction), transaction);
        }
        // A signature submitted during the search was neither covered by the search nor is it followed yet.
        if (broadcast.hasUnsent) return "followed";
        if (finding.kind !== "found" && (isProof(finding) || hasStored)) {
          const cause = await explain();
          if (broadcast.hasUnsent) return "followed";
          const { signatures } = broadcast;
          return expiredOutcome(signature, finding, { expiresAtMs, historyMs, nowMs: now(), cause, signatures });
        }
      } catch {
        // Too few nodes answer now, or one has invented a transaction.
      }
      if (tries === SEARCHES_UNTIL_TOLD) onUnproven(UNPROVEN);
      if (tries >= MAX_SEARCHES && now() - expiresAtMs > FOLLOW_MS) {
        const cause = await explain();
        if (broadcast.hasUnsent) return "followed";
        const { signatures } = broadcast;
        return expiredOutcome(signature, UNSERVED, { expiresAtMs, historyMs, nowMs: now(), cause, signatures });
      }
      await sleep(SEARCH_RETRY_MS);
    }
    return undefined;
  }
}
