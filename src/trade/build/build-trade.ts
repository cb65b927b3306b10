import type { ChainHead, Lifetime } from "../../chain/port.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Markets } from "../../market/port.ts";
import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import { background } from "../../primitives/turns/background.ts";
import { unsignedTransaction } from "../../solana/message.ts";
import { checkPriceImpact, checkPriorityCost } from "../limits.ts";
import { estimatesOf, legsOf, type Route } from "../quote/route.ts";
import { proofOf } from "../quote/route-proof.ts";
import { type Snapshot, withAllHubs } from "../quote/snapshot.ts";
import { withheldVenues } from "../quote/withheld-venues.ts";
import { inTurn, type WorstCasePorts, worstCaseOf } from "../quote/worst-case/worst-case.ts";
import { guardedRoute } from "../total-guard.ts";
import type { BuiltTrade, RouteLeg, TradeRequest } from "../trade.ts";
import { insufficientFunds, type Shortfall, shortfallOf } from "./balances.ts";
import { buildExpiresAtMs } from "./build-expiry.ts";
import { type DraftPorts, draftTrade, type TradeDraft } from "./draft-trade.ts";
import {
  type LoadedTrade,
  type LoadPorts,
  loadTrade,
  recallTrade,
  renewTrade,
  warmIfPossible,
  withNewestShare,
} from "./load-trade.ts";
import type { ComposedMessage, MessageSettings } from "./message-forms.ts";
import { nativeSha256 } from "./native-sha256.ts";
import { isWithinSlippage, payableTrade } from "./parts/payable-trade.ts";
import { draftSingleMarket } from "./parts/single-market.ts";
import type { SealedTrade } from "./token/sealed-trade.ts";
import type { TokenSealer } from "./token/submission-token.ts";
import { balanceAddresses } from "./wallet-accounts.ts";

/** What the build story reads; everything answers from memory once warm. */
export interface BuildPorts extends DraftPorts, LoadPorts {
  readonly markets: Markets;
  readonly head: ChainHead;
  readonly sealer: TokenSealer;
  readonly now: Now;
  readonly worstCases: WorstCasePorts;
  /**
   * A number below 2^14 that differs from build to build: asking for the same trade twice gives two messages, and both can
   * land. Two processes may come to the same one; submits then show that there are two builds.
   */
  readonly nextNonce: () => number;
  readonly settings: BuildSettings;
}

interface BuildSettings extends MessageSettings {
  /** Margin between `expiresAt` and blockhash expiry, left for reaching the leader. Milliseconds. */
  readonly expiryMarginMs: number;
  /** How to get SOL on a test chain, for the error of a wallet that has too little; undefined on mainnet. */
  readonly faucet?: ((wallet: Address) => string) | undefined;
}

/**
 * Builds an unsigned transaction: load what the trade reads, draft it (quote, route, message), check it, seal it. Warm
 * builds run to the end synchronously; only reads of what is not in memory yet make it a promise.
 *
 * @throws TradewireError VALIDATION_ERROR, TOKEN_NOT_FOUND, UNSUPPORTED_TOKEN_EXTENSION, NO_ROUTE, INSUFFICIENT_LIQUIDITY,
 * INSUFFICIENT_SOL, INSUFFICIENT_TOKEN_BALANCE, PRICE_IMPACT_TOO_HIGH, PRIORITY_COST_TOO_HIGH, STATE_STALE, UPSTREAM_ERROR
 */
export function buildTrade(ports: BuildPorts, request: TradeRequest): BuiltTrade | Promise<BuiltTrade> {
  return request.worstCase === true ? buildWithWorstCase(ports, request) : buildNow(ports, request);
}

function buildWithWorstCase(ports: BuildPorts, request: TradeRequest): BuiltTrade | Promise<BuiltTrade> {
  const build = (worstCase: boolean) =>
    buildNow(ports, { ...request, worstCase, stages: worstCase ? request.stages : undefined });
  return inTurn(ports.worstCases, request.caller, build);
}

function buildNow(ports: BuildPorts, request: TradeRequest): BuiltTrade | Promise<BuiltTrade> {
  const loaded = recallTrade(ports, request);
  return loaded === undefined ? buildCold(ports, request) : buildLoaded(ports, loaded);
}

/** Ends in a fresh turn of the event loop, so that the caller does not lengthen this one. */
async function buildCold(ports: BuildPorts, request: TradeRequest): Promise<BuiltTrade> {
  const built = await buildLoaded(ports, await renewTrade(ports.markets, await loadTrade(ports, request)));
  await background.next();
  return built;
}

function buildLoaded(ports: BuildPorts, loaded: LoadedTrade): BuiltTrade | Promise<BuiltTrade> {
  return loaded.snapshot.isPartial === true ? buildPartial(ports, loaded) : buildWhole(ports, loaded);
}

/** Without hubs that are yet to be read, unless only they can make the trade. */
function buildPartial(ports: BuildPorts, loaded: LoadedTrade): BuiltTrade | Promise<BuiltTrade> {
  const { intent, request } = loaded;
  const build = (snapshot: Snapshot) => buildWhole(ports, { ...loaded, snapshot });
  return withAllHubs(ports.markets, intent, loaded.snapshot, request.caller, build);
}

function buildWhole(ports: BuildPorts, loaded: LoadedTrade): BuiltTrade | Promise<BuiltTrade> {
  const draft = draftNow(ports, loaded);
  return draft instanceof Promise ? completeAfter(draft, ports) : complete(ports, draft);
}

/**
 * A function of its own, like everything that awaits: a function with a closure allocates for it on every call, even if it never uses it.
 */
async function completeAfter(draft: Promise<TradeDraft>, ports: BuildPorts): Promise<BuiltTrade> {
  return complete(ports, await draft);
}

function complete(ports: BuildPorts, draft: TradeDraft): BuiltTrade | Promise<BuiltTrade> {
  return draft.unknown.length > 0 ? buildInformed(ports, draft) : finish(ports, draft);
}

async function buildInformed(ports: BuildPorts, draft: TradeDraft): Promise<BuiltTrade> {
  return finish(ports, await inform(ports, draft));
}

/**
 * Reads the accounts that the draft assumed missing, then drafts again: with the true costs another route, with other accounts, may be
 * better. If no node answers, the assumption stands, unless nothing fits into a transaction with it.
 *
 * @throws TradewireError STATE_STALE in that case
 */
async function inform(ports: BuildPorts, draft: TradeDraft): Promise<TradeDraft> {
  const read = new Set<Address>();
  let informed = draft;
  for (;;) {
    const unread = informed.unknown.filter((address) => !read.has(address));
    if (unread.length === 0) {
      if (informed.refusal !== undefined) throw unknownAccounts();
      return informed;
    }
    for (const address of unread) read.add(address);
    await warmIfPossible(ports.markets, unread);
    informed = await draftNow(ports, await renewTrade(ports.markets, draft.loaded));
  }
}

function unknownAccounts(): TradewireError {
  return new TradewireError(
    "STATE_STALE",
    "It is not known yet which token accounts the wallet has, and if it lacks some, this trade fits into no transaction. Try again shortly.",
    { retryAfterMs: 400 },
  );
}

function finish(ports: BuildPorts, draft: TradeDraft): BuiltTrade | Promise<BuiltTrade> {
  return checkDraft(ports, draft) === undefined ? sealDraft(ports, draft) : buildRefreshed(ports, draft.loaded);
}

/** The balances in memory do not cover the trade: reads them again before refusing it. By then the best route may be another one. */
async function buildRefreshed(ports: BuildPorts, loaded: LoadedTrade): Promise<BuiltTrade> {
  await ports.markets.refresh(balanceAddresses(loaded.accounts));
  const draft = await inform(ports, await draftNow(ports, await renewTrade(ports.markets, loaded)));
  const shortfall = checkDraft(ports, draft);
  const payable = shortfall === undefined ? draft : await payableDraft(ports, draft, shortfall);
  if (payable === undefined) throw insufficientFunds(shortfall!, ports.settings.faucet);
  return sealDraft(ports, payable);
}

/** A draft over other markets than the best ones, for a wallet that cannot make the trade over these; undefined if there is none. */
async function payableDraft(
  ports: BuildPorts,
  { loaded, composed }: TradeDraft,
  shortfall: Shortfall,
): Promise<TradeDraft | undefined> {
  const trade = payableTrade(loaded, shortfall);
  if (trade === undefined) return undefined;
  try {
    let draft = await draftNow(ports, trade);
    if (draft.unknown.length > 0) {
      await warmIfPossible(ports.markets, draft.unknown);
      draft = await draftNow(ports, trade);
    }
    const isGood =
      shortfall.kind === "account" || isWithinSlippage(loaded.intent, draft.composed.route, composed.route);
    return isGood && draft.refusal === undefined && checkDraft(ports, draft) === undefined ? draft : undefined;
  } catch (error) {
    if (error instanceof TradewireError) return undefined;
    throw error;
  }
}

/** The draft; a promise if it needs a long search, which runs on the state of the turn in which it starts. */
function draftNow(ports: BuildPorts, before: LoadedTrade): TradeDraft | Promise<TradeDraft> {
  const loaded = withNewestShare(ports, before);
  const lifetime = ports.head.lifetime();
  loaded.request.stages?.mark("snapshot");
  const nonce = ports.nextNonce();
  const single = draftSingleMarket(ports, loaded, lifetime, nonce);
  return single?.composed.fits === true ? single : draftBySearch(ports, loaded, nonce, single?.composed);
}

/** @param nonce of the first draft @param misfit as `draftTrade` */
function draftBySearch(
  ports: BuildPorts,
  loaded: LoadedTrade,
  nonce: number,
  misfit: ComposedMessage | undefined,
): TradeDraft | Promise<TradeDraft> {
  let isFirst = true;
  return ports.searches.run((searches) => {
    const newest = isFirst ? loaded : (recallTrade(ports, loaded.request, true) ?? loaded);
    const drawn = isFirst ? nonce : ports.nextNonce();
    isFirst = false;
    return draftTrade(ports, newest, ports.head.lifetime(), drawn, searches, misfit);
  }, loaded.request.caller);
}

/** What the wallet lacks to pay for the draft, if anything. @throws TradewireError if it exceeds a limit of the caller */
function checkDraft(ports: BuildPorts, draft: TradeDraft): Shortfall | undefined {
  const { loaded, composed } = draft;
  const { request } = loaded;
  request.stages?.mark("route");
  checkPriceImpact(request, composed.route.priceImpact);
  checkPriorityCost(request, composed.costs);
  return shortfallOf(loaded, composed, ports);
}

/** Seals the draft. A requested worst case is computed first, so that the time it takes does not shorten the trade's validity. */
function sealDraft(ports: BuildPorts, draft: TradeDraft): BuiltTrade | Promise<BuiltTrade> {
  return draft.loaded.request.worstCase === true ? sealWithWorstCase(ports, draft) : seal(ports, draft);
}

async function sealWithWorstCase(ports: BuildPorts, draft: TradeDraft): Promise<BuiltTrade> {
  const { intent } = draft.loaded;
  const clock = ports.head.clock();
  const { route: quoted, assembly } = draft.composed;
  const route = assembly.isGuarded ? guardedRoute(quoted) : quoted;
  const worstCase = await worstCaseOf(ports.worstCases, route, intent.mode, clock);
  const built = seal(ports, draft);
  return { ...built, estimates: { ...built.estimates, worstCase } };
}

/** The hash of the message that is being sealed. */
const digest = new Uint8Array(32);
/** The trade being sealed. One object serves every build: sealing serializes it at once and keeps no reference. */
const sealing = {} as { -readonly [field in keyof SealedTrade]: SealedTrade[field] };

/** Sets the expiry, seals the submission token and writes the answer. */
function seal(ports: BuildPorts, draft: TradeDraft): BuiltTrade {
  const { loaded, composed, lifetime } = draft;
  const { request } = loaded;
  const { inMint, outMint } = loaded.intent;
  const { route, assembly, costs, message } = composed;
  const expiresAtMs = expiryOf(ports, lifetime);
  const legs = withArrayNumbers(route);
  sealing.inMint = inMint.address;
  sealing.outMint = outMint.address;
  sealing.inDecimals = inMint.decimals;
  sealing.outDecimals = outMint.decimals;
  sealing.wallet = loaded.accounts.wallet;
  sealing.messageHash = nativeSha256(message, digest);
  sealing.messageLength = message.length;
  sealing.lastValidBlockHeight = lifetime.lastValidBlockHeight;
  sealing.buildSlot = lifetime.slot;
  sealing.stateSlot = route.stateSlot;
  sealing.expiresAtMs = expiresAtMs;
  sealing.costs = costs;
  sealing.route = legs;
  sealing.creates = assembly.creates;
  sealing.closes = assembly.closes?.address;
  sealing.senders = draft.senders;
  sealing.priority = request.priority;
  sealing.blocksLeft = Number(lifetime.lastValidBlockHeight - ports.head.blockHeight());
  const submissionToken = ports.sealer.seal(sealing, request.principal.accountId);
  request.stages?.mark("seal");
  // Written field by field: an object that starts as a copy of another costs several times as much.
  return {
    inMint: inMint.address,
    outMint: outMint.address,
    inDecimals: inMint.decimals,
    outDecimals: outMint.decimals,
    submissionToken,
    unsignedTransaction: unsignedTransaction(message),
    expiresAtMs,
    platform: route.platform,
    estimates: estimatesOf(route, draft.fitLoss),
    costs,
    route: legs,
    proof: proofOf(route),
    withheld: withheldVenues(loaded.intent, loaded.snapshot),
    lastValidBlockHeight: lifetime.lastValidBlockHeight,
  };
}

/** The legs of a route, with the arrays of ticks or bins that its swaps name. */
function withArrayNumbers(route: Route): readonly RouteLeg[] {
  const legs = legsOf(route);
  if (route.steps.length === 1 && route.steps[0]!.hot.venue.arrayNumbers === undefined) return legs;
  return legs.map((leg) => {
    const { hot, quote } = route.steps.find((step) => step.hot.market.address === leg.market)!;
    const arrayNumbers = hot.venue.arrayNumbers?.(hot.state, quote);
    return arrayNumbers === undefined ? leg : { ...leg, arrayNumbers };
  });
}

function expiryOf({ head, now, settings }: BuildPorts, { lastValidBlockHeight }: Lifetime): number {
  return buildExpiresAtMs(head, lastValidBlockHeight, now(), settings.expiryMarginMs);
}
