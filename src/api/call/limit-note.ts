import type { AnswerBytes } from "../http/lane/answer-bytes.ts";
import { Piece } from "../http/lane/piece.ts";
import { Verdict } from "./token-bucket.ts";

/** A policy as response headers name it. */
export interface NotedPolicy {
  readonly name: string;
  /** The value of its RateLimit-Policy header. */
  readonly described: string;
  /** The beginning of the RateLimit value, up to the calls that are left. */
  readonly beginning: string;
  /** Both headers up to the calls that are left, each behind a line break. */
  readonly lines: Piece;
}

const RESET = new Piece(";t=");

/** The policy of that name. @param described the value of its RateLimit-Policy header */
export function notedPolicy(name: string, described: string): NotedPolicy {
  const beginning = `"${name}";r=`;
  const lines = new Piece(`\r\nRateLimit-Policy: ${described}\r\nRateLimit: ${beginning}`);
  return { name, described, beginning, lines };
}

/**
 * What the limits tell the client of a call: its state under the last policy that counted it. Formatted only when the response is written,
 * because only the last policy of a call is reported.
 *
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 */
export class LimitNote extends Verdict {
  #policy: NotedPolicy | undefined = undefined;

  /**
   * Replaces what an earlier policy noted: the response describes the key's own policy, unless the address is exhausted.
   *
   * @param verdict the note itself, if the policy has written to it
   */
  set(policy: NotedPolicy, verdict: Verdict = this): void {
    this.#policy = policy;
    this.remaining = verdict.remaining;
    this.resetMs = verdict.resetMs;
  }

  /** The value of RateLimit-Policy; undefined if no policy counted the call. */
  get policy(): string | undefined {
    return this.#policy?.described;
  }

  /** The value of RateLimit; only if there is a policy. */
  get state(): string {
    return `${this.#policy!.beginning}${this.remaining};t=${Math.ceil(this.resetMs / 1_000)}`;
  }

  /** Writes both headers, if there is a policy, piece by piece: joining would allocate each. */
  write(out: AnswerBytes): void {
    if (this.#policy === undefined) return;
    out.piece(this.#policy.lines);
    out.number(this.remaining);
    out.piece(RESET);
    out.number(Math.ceil(this.resetMs / 1_000));
  }

  /** Response headers, names and values in turn. */
  lines(): readonly string[] {
    return this.policy === undefined ? [] : ["RateLimit-Policy", this.policy, "RateLimit", this.state];
  }
}
