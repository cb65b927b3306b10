import { FeeWindow } from "../../chain/fees/fee-window.ts";
import { createNodeFees } from "../../chain/fees/node-fees.ts";
import { ownPriceOf } from "../../chain/fees/own-price.ts";
import { createPriorityFees } from "../../chain/fees/priority-fees.ts";
import { createChainHead } from "../../chain/head/chain-head.ts";
import { createLanding } from "../../chain/landing/landing.ts";
import { createNodeSender, createRelaySender } from "../../chain/landing/sender.ts";
import { createSenderPlan } from "../../chain/landing/sender-plan.ts";
import { createTipFloor } from "../../chain/landing/tip-floor.ts";
import { createAccountReader } from "../../chain/rpc/accounts/account-reader.ts";
import { AlikeAnswers } from "../../chain/rpc/http/alike-answers.ts";
import { createRpcEndpoint } from "../../chain/rpc/rpc-endpoint.ts";
import { createRpcPool } from "../../chain/rpc/rpc-pool.ts";
import { SeldomWarnings } from "../../chain/rpc/subscriptions/seldom-warnings.ts";
import { createSubscriptions } from "../../chain/rpc/subscriptions/subscriptions.ts";
import { Witnesses } from "../../chain/rpc/witnesses.ts";
import { createStreamFees } from "../../chain/yellowstone/stream-fees.ts";
import { trustedNodeAt } from "../../config/node-urls.ts";
import { priorityBounds, priorityTrims } from "../../config/priority-settings.ts";
import { monotonicMs, type Now } from "../../primitives/clock.ts";
import { RunningTime } from "../../primitives/turns/running-time.ts";
import type { AppContext } from "../context.ts";
import type { ChainLocation } from "./chain-location.ts";

/** Accounts whose fees are refreshed at a time if a stream provides them, which takes no call across the network. */
const ACCOUNTS_READ_FROM_STREAM = 256;
/** How often running time is counted, and how much of a longer pause counts: more than a busy machine takes. Milliseconds. */
const TURN_MS = 100;
const LONGEST_TURN_MS = 500;

type Pool = ReturnType<typeof createRpcPool>;

/** The chain as the service uses it: its nodes, its newest state, its fees, and the way transactions take. */
export type ChainParts = Awaited<ReturnType<typeof connectChain>>;

/** Connects to the chain. @throws NodeError if no node answers */
export async function connectChain(context: AppContext, { rpcUrls, wsUrls }: ChainLocation) {
  const { config, wallMs, steadyMs, random, warn, onForeignChain, closers } = context;
  const timeoutMs = config.solanaRpcTimeoutMs;
  const { now: runningMs } = closers.keep(countRunningTime());
  const alike = rpcUrls.length > 1 ? new AlikeAnswers() : undefined;
  const endpoints = rpcUrls.map((url) => createRpcEndpoint({ url, now: steadyMs, runningMs, timeoutMs, alike }));
  const pool = createRpcPool({ endpoints, now: steadyMs, warn });
  const witnesses = callWitnesses(context, pool, rpcUrls, runningMs);
  const seldom = new SeldomWarnings(warn, steadyMs);
  const subscriptions = closers.keep(createSubscriptions({ urls: wsUrls, now: steadyMs, random, warn, seldom }));
  const head = closers.keep(
    await createChainHead({
      pool,
      subscriptions,
      now: steadyMs,
      wallMs,
      monotonicMs,
      warn,
      onForeignChain,
      trusted: witnesses.trusted,
      maxAgeMs: config.blockhashMaxAgeMs,
      clockMaxAgeMs: config.stateMaxAgeMs,
    }),
  );
  const feeWindow = new FeeWindow(() => head.slot());
  const fees = watchFees(context, pool, feeWindow);
  const { senders, senderPlan } = openSenders(context, pool);
  const landing = closers.keep(
    createLanding({
      pool,
      witnesses,
      senders,
      subscriptions,
      head,
      now: wallMs,
      monotonicMs,
      runningMs,
      random,
      warn,
      // So that the service does not bid against its own trades.
      onLanded: (transaction, slot) => feeWindow.noteOwn({ slot, price: ownPriceOf(transaction) }),
    }),
  );
  const reader = createAccountReader({ pool, commitment: "processed", isCredible: (slot) => head.isCredible(slot) });
  return { pool, wsUrls, seldom, subscriptions, head, fees, senders, senderPlan, witnesses, landing, reader };
}

/** Time in which this process could receive something, on no clock that jumps. Milliseconds. */
function countRunningTime(): { readonly now: Now; close(): void } {
  const time = new RunningTime(monotonicMs, LONGEST_TURN_MS);
  const timer = setInterval(() => time.turn(), TURN_MS);
  timer.unref();
  return { now: time.now, close: () => clearInterval(timer) };
}

/** The nodes as witnesses. Says in the log what rests on the word of one that somebody configured. */
function callWitnesses(
  { config, logger, warn }: AppContext,
  pool: Pool,
  rpcUrls: readonly string[],
  runningMs: Now,
): Witnesses {
  const { witnessTimeoutMs: silentAfterMs, solanaTrustedRpcUrl } = config;
  const trustedAt = solanaTrustedRpcUrl === undefined ? undefined : trustedNodeAt(rpcUrls, solanaTrustedRpcUrl);
  const trusted = trustedAt === undefined ? undefined : pool.endpoints[trustedAt];
  const witnesses = new Witnesses({ pool, now: runningMs, warn, silentAfterMs, trusted });
  if (config.solanaRpcUrls?.length === 1)
    logger.info(
      {},
      "One Solana node is configured: outcomes, amounts, finality and expiry rest on its word alone. A second one corroborates them.",
    );
  else if (trusted !== undefined)
    logger.info(
      {},
      `If the Solana nodes contradict each other, outcomes and amounts rest on the word of ${trusted.name} alone.`,
    );
  return witnesses;
}

/** Priority fees from the best source at hand: a stream, the percentiles of a node that has them, or the stock method. */
function watchFees({ config, steadyMs: now, warn, closers }: AppContext, pool: Pool, window: FeeWindow) {
  const trims = priorityTrims(config);
  const stream =
    config.yellowstoneUrl === undefined
      ? undefined
      : closers.keep(
          createStreamFees({ url: config.yellowstoneUrl, token: config.yellowstoneToken, now, warn, trims }),
        );
  // What the embedded chain does not report, nobody can change.
  const nodeFees = { now, warn: config.solanaRpcUrls === undefined ? () => {} : warn, trims, window };
  return closers.keep(
    createPriorityFees({
      sources: [...(stream === undefined ? [] : [stream]), ...createNodeFees(pool, nodeFees)],
      ...(stream === undefined ? {} : { accountsPerRefresh: ACCOUNTS_READ_FROM_STREAM, refreshesPerTurn: 1 }),
      now,
      warn,
      bounds: priorityBounds(config),
    }),
  );
}

/** Every sender, nodes first, and the plan that chooses among them and their tips. */
function openSenders({ config, steadyMs: now, warn, closers }: AppContext, pool: Pool) {
  const relays = config.relays ?? [];
  const tipFloorUrls = new Set(relays.flatMap(({ tipFloor }) => tipFloor?.url ?? []));
  const tipFloors = new Map(
    [...tipFloorUrls].map((url) => [url, closers.keep(createTipFloor({ url, now, warn }))] as const),
  );
  const senders = [
    ...pool.endpoints.map((endpoint, i) => createNodeSender(endpoint, i, { now, warn })),
    ...relays.map((relay) => createRelaySender(relay, { ...relay, now, warn })),
  ];
  return { senders, senderPlan: createSenderPlan(relays, tipFloors) };
}
