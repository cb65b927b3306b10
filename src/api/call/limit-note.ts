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

  /** Response headers, names and values in turn; none if no policy counted the call. */
  lines(): readonly string[] {
    const policy = this.#policy;
    return policy === undefined ? [] : ["RateLimit-Policy", policy.described, "RateLimit", this.#state(policy)];
  }

  /** The same as they stand in a head of HTTP/1.1, each with the line break before it. */
  text(): string {
    const policy = this.#policy;
    return policy === undefined ? "" : `\r\nRateLimit-Policy: ${policy.described}\r\nRateLimit: ${this.#state(policy)}`;
  }

  #state({ name }: NotedPolicy): string {
    const { remaining, resetMs } = this.#verdict!;
    return `"${name}";r=${remaining};t=${Math.ceil(resetMs / 1_000)}`;
  }
}
