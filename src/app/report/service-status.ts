import type { RecentMinutes } from "../../api/observe/recent-figures.ts";
import type { ServiceStatus, VenueStatus } from "../../api/observe/service-status.ts";
import { networkName } from "../../chain/head/network-name.ts";
import { PRIORITY_LEVELS } from "../../chain/port.ts";
import type { VenueReport } from "../../market/markets.ts";
import type { VenueFindings } from "../../shadow/market-checks.ts";
import type { Trades } from "../../trade/trade.ts";
import type { ChainLocation } from "../chain/chain-location.ts";
import type { ChainParts } from "../chain/chain-parts.ts";
import type { AppContext } from "../context.ts";
import type { MarketParts } from "../market-parts.ts";
import type { ShadowParts } from "../shadow/shadow-parts.ts";
import type { DeployedVenues } from "./deployed-venues.ts";
import type { Health } from "./health.ts";

/** Name of the network: the embedded chain is a localnet; otherwise SIGN_IN_CHAIN_ID, or what the genesis hash says. */
export function describeNetwork({ config }: AppContext, { embedded }: ChainLocation, { head }: ChainParts): string {
  return embedded === undefined ? (config.signInChainId ?? networkName(head.genesisHash())) : "localnet";
}

/** The status that the pages show. */
export function describeStatus(
  { steadyMs }: Pick<AppContext, "steadyMs">,
  parts: ChainParts &
    MarketParts & {
      readonly shadow: ShadowParts | undefined;
      readonly location: ChainLocation;
      readonly health: Health;
      readonly network: string;
      readonly deployed: DeployedVenues;
      readonly trades: Pick<Trades, "landings">;
      /** Undefined if the operator keeps them private. */
      readonly recent: Pick<RecentMinutes, "figures"> | undefined;
    },
): ServiceStatus {
  const { head, witnesses, markets, senders, shadow, location, health, network, deployed } = parts;
  const absent = deployed.absent();
  const serving = health.canBuild();
  const findings = shadow && new Map(shadow.checks.report().map((venue) => [venue.id, venue]));
  return {
    serving,
    network,
    chain: {
      slot: Number(head.slot()),
      blockHeight: Number(head.blockHeight()),
      slotMs: head.slotMs(),
      slotAgeMs: Math.round(head.slotAgeMs()),
      witnesses: witnesses.trusted === undefined ? witnesses.quorum() : 1,
    },
    venues: markets
      .report()
      .map((report) => venueStatus(report, findings?.get(report.id), { serving, absent, nowMs: steadyMs() })),
    shadow: shadow === undefined ? null : shadowStatus(shadow),
    senders: senders.map((sender) => ({ name: sender.name, state: sender.isCooling() ? "down" : "up" })),
    recent: parts.recent?.figures() ?? null,
    landing: parts.recent === undefined ? null : describeLanding(parts.trades, senders),
    faucet: location.embedded !== undefined,
    tokens: location.embedded?.tokens ?? [],
  };
}

function describeLanding(
  { landings }: Pick<Trades, "landings">,
  senders: readonly { readonly name: string }[],
): NonNullable<ServiceStatus["landing"]> {
  return {
    // Not by asking for prices: a page that is open must not keep the fees from resting.
    levels: PRIORITY_LEVELS.map((level) => {
      const { sample, landedShare = null, slots = null, slotsP90 = null } = landings.ofLevel(level);
      return { level, sample, landedShare, slots, slotsP90 };
    }),
    senders: senders.map(({ name }) => ({
      name,
      ...(landings.ofSender(name) ?? { sample: 0, landedShare: 0, refused: 0 }),
    })),
  };
}

function venueStatus(
  { id, markets, lastSearch }: VenueReport,
  findings: VenueFindings | undefined,
  {
    serving,
    absent,
    nowMs,
  }: { readonly serving: boolean; readonly absent: ReadonlySet<string> | undefined; readonly nowMs: number },
): VenueStatus {
  const known = { isAbsent: absent?.has(id), markets, lastSearch, serving };
  return {
    id,
    state: stateOf(known),
    markets,
    searchAgeMs: lastSearch === undefined ? null : Math.max(0, Math.round(nowMs - lastSearch.atMs)),
    checked: findings?.agrees ?? 0,
    withheld: findings?.withheld ?? 0,
    withheldReason: findings?.reason ?? null,
  };
}

function stateOf({
  isAbsent,
  markets,
  lastSearch,
  serving,
}: Pick<VenueReport, "markets" | "lastSearch"> & {
  /** Undefined if the chain has not answered yet. */
  readonly isAbsent: boolean | undefined;
  readonly serving: boolean;
}): VenueStatus["state"] {
  if (isAbsent === true) return "absent";
  if (isAbsent === undefined && markets === 0) return "unknown";
  if (!serving) return "waiting";
  if (lastSearch === undefined) return "idle";
  return lastSearch.ok ? "ready" : "failing";
}

function shadowStatus({ mode, checks, isUp, programs }: ShadowParts): NonNullable<ServiceStatus["shadow"]> {
  const counts = checks.counts();
  return {
    mode,
    state: isUp() ? "up" : "down",
    programs: programs().map(({ id, slot }) => ({ id, slot: Number(slot) })),
    checks: counts.checks,
    differences: counts.differences,
  };
}
