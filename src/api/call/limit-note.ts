import type { AnswerBytes } from "../http/lane/answer-bytes.ts";
import type { Verdict } from "./token-bucket.ts";

/** A policy as response headers name it. */
export interface NotedPolicy {
  readonly name: string;
  /** The value of its RateLimit-Policy header. */
  readonly described: string;
}

/**
 * What the limits tell the client of a call: where it stands with the last policy that counted it. Put into words when the response
 * is written: of the policies of a call, only the last one is.
 *
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 */
export class LimitNote {
  #policy: NotedPolicy | undefined = undefined;
  #verdict: Verdict | undefined = undefined;

  /** Replaces what an earlier policy noted: the response describes the key's own policy, unless the address is exhausted. */
  set(policy: NotedPolicy, verdict: Verdict): void {
    this.#policy = policy;
    this.#verdict = verdict;
  }

  /** The value of RateLimit-Policy; undefined if no policy counted the call. */
  get policy(): string | undefined {
    return this.#policy?.described;
  }

  /** The value of RateLimit; only if there is a policy. */
  get state(): string {
    const { remaining, resetMs } = this.#verdict!;
    return `"${this.#policy!.name}";r=${remaining};t=${Math.ceil(resetMs / 1_000)}`;
  }

  /** Writes the same piece by piece: joined, each would be an object. */
  writeState(out: AnswerBytes): void {
    const { remaining, resetMs } = this.#verdict!;
    out.latin1('"');
    out.latin1(this.#policy!.name);
    out.latin1('";r=');
    out.number(remaining);
    out.latin1(";t=");
    out.number(Math.ceil(resetMs / 1_000));
  }

  /** Response headers, names and values in turn. */
  lines(): readonly string[] {
    return this.policy === undefined ? [] : ["RateLimit-Policy", this.policy, "RateLimit", this.state];
  }
}
