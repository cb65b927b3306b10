import { encodeBase58 } from "../../primitives/encoding/base58.ts";
import type { BuiltResponse } from "../answers/answers.ts";
import { printable } from "../answers/printable.ts";
import { copyOf } from "../order/known-keys.ts";
import { LIMIT_KEYS, type TradeLimits } from "../order/limits.ts";
import type { ProofOptions, RebuildPolicy, TradeOptions } from "../order/options.ts";
import type { TradeProof } from "../proof/prove-trade.ts";
import { isNoWorse, type TradeReview, unverified } from "../proof/review.ts";
import { type VerifiedBuild, type Verifier, verifyBuild } from "../proof/verify-build.ts";
import { signTransaction } from "../signature/signing.ts";
import { messageOf, signatureBytes } from "../signature/wire-layout.ts";
import type { Trade } from "../trade.ts";
import { TradeError, unsigned } from "../trade-error.ts";
import type { TradeExpectation, TradeOrder } from "../verify/trade-expectation.ts";
import { awaitExpiry, checkPriceMove, checkRebuild } from "./rebuild.ts";
import { signedMessages } from "./signed-messages.ts";
import { afterSigning } from "./submission.ts";

/**
 * What `buy`, `sell` and `swap` return: a finished trade, and what was proven of it before it was signed. `unproven` is about the terms:
 * that the trade landed, and what it moved within them, is the service's word as in every `Trade`.
 */
export interface ProvenTrade extends Trade, TradeProof {}

interface KnownBuild {
  readonly order: TradeOrder;
  readonly limits: TradeLimits & ProofOptions;
}

/** How one trade reaches the service: each call builds it again, and sends what was signed. */
export interface TradeCourse {
  build(): Promise<BuiltResponse>;
  submit(submissionToken: string, signed: Uint8Array): Promise<Trade>;
  /** Ends with the caller's signal, and with the client. */
  readonly signal: AbortSignal;
}

/** A build that took longer than this to confirm is made again: transactions live about half a minute. Milliseconds. */
const LONGEST_CONFIRMATION_MS = 15_000;
/** Signed transactions whose meaning is remembered, to hold answers against. */
const MOST_REMEMBERED = 1_000;
/** Checks builds against their orders and signs them. Remembers what was ordered and what was signed. */
export class TradeDesk {
  readonly #verifier: Verifier;
  readonly #verifies: boolean;
  readonly #nowMs: () => number;
  readonly #builds = new WeakMap<BuiltResponse, KnownBuild>();
  readonly #signed = new Map<string, TradeExpectation>();

  /**
   * @param verifies false signs whatever the service builds
   * @param nowMs a monotonic clock
   */
  constructor(verifier: Verifier, verifies: boolean, nowMs: () => number) {
    this.#verifier = verifier;
    this.#verifies = verifies;
    this.#nowMs = nowMs;
  }

  /** Remembers the order that a build was made for. */
  ordered(built: BuiltResponse, order: TradeOrder, options: TradeOptions): void {
    this.#builds.set(built, { order, limits: limitsOf(options) });
  }

  /** What a transaction signed here must be; undefined if it was not verified here. */
  expectedOf(signature: string): TradeExpectation | undefined {
    return this.#signed.get(signature);
  }

  /**
   * Verifies these bytes of a build.
   * @param given joins the limits of the build call, and overrules them by name
   * @param rebuild whether another transaction may follow, if this one expires @throws TradeError
   */
  async verify(
    built: BuiltResponse,
    wire: Uint8Array,
    given: (TradeLimits & ProofOptions) | undefined,
    signal: AbortSignal,
    rebuild?: RebuildPolicy,
  ): Promise<VerifiedBuild> {
    const known = this.#builds.get(built);
    if (known === undefined) {
      throw unsigned(
        "UNEXPECTED_TRANSACTION",
        "This client did not make this build, so it has no order to compare it with",
      );
    }
    const { witnesses } = this.#verifier;
    const { requireProof = witnesses.requireProof, ...limits } = { ...known.limits, ...onlySet(given) };
    const rebuilds = rebuild !== undefined && rebuild.times > 0 && rebuild.proveExpiry === undefined;
    const verifier = { ...this.#verifier, witnesses: { ...witnesses, requireProof, rebuilds } };
    return verifyBuild(verifier, known.order, built, wire, limits, signal);
  }

  /** Verifies a build unless verification is off, and signs it. @throws TradeError */
  async sign(
    built: BuiltResponse,
    limits: (TradeLimits & ProofOptions) | undefined,
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    // Exactly the verified bytes are signed, even if the response changes in between.
    const wire = built.unsignedTransaction.slice();
    const verified = this.#verifies ? await this.verify(built, wire, limits, signal) : undefined;
    return this.#signVerified(built, wire, verified?.expected);
  }

  /** A whole trade: builds, verifies, confirms, signs and submits, and again after an expiry if the caller allows it. */
  async trade(course: TradeCourse, options: TradeOptions): Promise<ProvenTrade> {
    checkRebuild(options.rebuild);
    const first = await course.build();
    let built = first;
    let previous: string | undefined;
    for (let rebuilds = 0; ; rebuilds++) {
      const { review, signed } = await this.#signAnother(built, course, previous, options);
      const signature = encodeBase58(signatureBytes(signed));
      previous = signature;
      options.onProgress?.({ step: "signed", signature });
      options.onProgress?.({ step: "waiting", signature });
      try {
        const trade = await course.submit(review.built.submissionToken, signed);
        const { unproven, findings, slippage } = review;
        return { ...trade, unproven, findings, slippage };
      } catch (error) {
        const expired = error instanceof TradeError && error.code === "TX_EXPIRED" && error.safeToRebuild === true;
        const { rebuild } = options;
        if (!expired || rebuild === undefined || !(rebuilds < rebuild.times)) throw error;
        if (!(await provesExpiry(rebuild, signature, review.built))) throw error;
        built = await this.#buildAgain(course, review, signed, options);
        checkPriceMove(this.#builds.get(built)?.order, first, built, rebuild.maxPriceMove, signature);
      }
    }
  }

  /** Builds again once the caller's node, if there is one, has seen the signed transaction expire. */
  async #buildAgain(
    course: TradeCourse,
    { findings }: TradeReview,
    signed: Uint8Array,
    options: TradeOptions,
  ): Promise<BuiltResponse> {
    const signature = encodeBase58(signatureBytes(signed));
    try {
      const { node } = this.#verifier.witnesses;
      await awaitExpiry(node, signed, signature, findings?.slot, course.signal, this.#nowMs);
      options.onProgress?.({ step: "expired", signature });
      return await course.build();
    } catch (error) {
      throw stoppedAfter(signature, error);
    }
  }

  /** Verifies, reports, confirms and signs a build. After an earlier signature, a failure names it: something was signed. */
  async #signAnother(
    built: BuiltResponse,
    course: TradeCourse,
    previous: string | undefined,
    options: TradeOptions,
  ): Promise<{ readonly review: TradeReview; readonly signed: Uint8Array }> {
    try {
      return await this.#confirmAndSign(built, course, options);
    } catch (error) {
      if (previous === undefined) throw error;
      throw stoppedAfter(previous, error);
    }
  }

  /** A build that took long to confirm is made again, and confirmed again unless its terms are as good. */
  async #confirmAndSign(first: BuiltResponse, course: TradeCourse, options: TradeOptions) {
    let built = first;
    let accepted: TradeReview | undefined;
    for (;;) {
      const wire = built.unsignedTransaction.slice();
      const verified = this.#verifies
        ? await this.verify(built, wire, limitsOf(options), course.signal, options.rebuild)
        : { expected: undefined, review: unverified(built, this.#builds.get(built)?.order) };
      const { review, expected } = verified;
      options.onProgress?.({ step: "built", built });
      const askedAt = this.#nowMs();
      const isAccepted = accepted !== undefined && isNoWorse(review, accepted);
      if (!isAccepted && options.confirm !== undefined && (await options.confirm(review)) !== true) {
        throw unsigned("DECLINED", "The trade was declined");
      }
      if (course.signal.aborted) {
        throw new TradeError("ABORTED", "The caller aborted the call: what was built last was not signed.");
      }
      if (this.#nowMs() - askedAt < LONGEST_CONFIRMATION_MS) {
        return { review, signed: await this.#signVerified(built, wire, expected) };
      }
      accepted = review;
      built = await course.build();
    }
  }

  async #signVerified(
    built: BuiltResponse,
    wire: Uint8Array,
    expected: TradeExpectation | undefined,
  ): Promise<Uint8Array> {
    if (expected === undefined) return signTransaction(this.#verifier.wallet, wire);
    const giveBack = signedMessages().take(messageOf(wire), built);
    try {
      const signed = await signTransaction(this.#verifier.wallet, wire);
      this.#remember(encodeBase58(signatureBytes(signed)), expected);
      return signed;
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  #remember(signature: string, expected: TradeExpectation): void {
    this.#signed.set(signature, expected);
    const [oldest] = this.#signed.keys();
    if (this.#signed.size > MOST_REMEMBERED && oldest !== undefined) this.#signed.delete(oldest);
  }
}

/** False if the caller's own proof of the expiry denies it. @throws TradeError with the signature if the proof fails */
async function provesExpiry({ proveExpiry }: RebuildPolicy, signature: string, built: BuiltResponse): Promise<boolean> {
  try {
    return proveExpiry === undefined || (await proveExpiry(signature, built));
  } catch (error) {
    throw stoppedAfter(signature, error);
  }
}

/** The failure of a rebuild. Anything but a TradeError comes from the caller's side: the wallet, or a function among the options. */
function stoppedAfter(signature: string, error: unknown): TradeError {
  if (error instanceof TradeError) return afterSigning(error, signature);
  const message = `The transaction ${signature} was signed, and none after it: ${printable(String(error))}`;
  return new TradeError("ABORTED", message, { signature, cause: error });
}

/** What a call that verifies may add to the limits of the build call. */
const OWN_LIMITS = { ...LIMIT_KEYS, requireProof: true } as const;

/** The limits that are set; `undefined` does not remove one. */
function onlySet(limits: (TradeLimits & ProofOptions) | undefined): TradeLimits & ProofOptions {
  return Object.fromEntries(
    Object.entries(copyOf(limits ?? {}, OWN_LIMITS)).filter(([, limit]) => limit !== undefined),
  );
}

/** The limits among the options of a trade. */
function limitsOf(options: TradeOptions): TradeLimits & ProofOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(OWN_LIMITS, name)));
}
