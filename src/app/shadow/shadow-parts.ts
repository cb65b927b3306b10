import { createProgramReader } from "../../chain/programs/program-reader.ts";
import { createProgramWatch } from "../../chain/programs/program-watch.ts";
import { shadowMode } from "../../config/chain-settings.ts";
import type { Config } from "../../config/settings.ts";
import { monotonicMs } from "../../primitives/clock.ts";
import { MarketChecks } from "../../shadow/market-checks.ts";
import { ShadowLink } from "../../shadow/shadow-link.ts";
import { type ShadowProcess, startShadowProcess } from "../../shadow/shadow-process.ts";
import type { ChainLocation } from "../chain/chain-location.ts";
import type { ChainParts } from "../chain/chain-parts.ts";
import type { AppContext } from "../context.ts";
import { ClusterFeatures } from "./cluster-features.ts";
import { ProgramCode } from "./program-code.ts";

/** Commitment at which prices and deployments are followed. */
const COMMITMENT = "processed";

/** Shadow execution as the service uses it. */
export interface ShadowParts {
  readonly mode: "watch" | "guard";
  readonly checks: MarketChecks;
  /** True while the shadow process can be reached. */
  isUp(): boolean;
  /** Id of the shadow process, if it is this process's own; undefined while it restarts. */
  pid(): number | undefined;
  /** Programs followed, with the slots of their deployments. */
  programs(): readonly { readonly id: string; readonly slot: bigint }[];
}

/** Starts the shadow process of this machine, as the settings say; undefined if they turn it off. */
export function startShadow(config: Config, warn: (message: string) => void): ShadowProcess | undefined {
  if (shadowMode(config) === "off") return undefined;
  const { shadowMemoryMib: memoryMiB, shadowCpuPercent: cpuPercent } = config;
  return startShadowProcess({ memoryMiB, cpuPercent, warn, nowMs: monotonicMs });
}

/** Connects to the shadow process, this machine's or one of its own, and checks live markets there. Undefined if it is off. */
export function connectShadow(
  context: AppContext,
  { reader, pool, subscriptions, head, witnesses }: ChainParts,
  { shadowPath }: ChainLocation,
): ShadowParts | undefined {
  const { config, logger, steadyMs: now, warn, closers } = context;
  const mode = shadowMode(config);
  if (mode === "off") return undefined;
  const own = shadowPath === undefined ? closers.keep(startShadow(config, warn)!) : undefined;
  const path = shadowPath ?? own!.path;
  const programReader = createProgramReader({
    pool,
    trusted: witnesses.trusted,
    isCredible: (slot) => head.isCredible(slot),
    commitment: COMMITMENT,
  });
  const contradict = witnesses.setAside.bind(witnesses);
  const watch = closers.keep(
    createProgramWatch({ reader: programReader, subscriptions, commitment: COMMITMENT, now, warn, contradict }),
  );
  const link: ShadowLink = closers.keep(new ShadowLink({ path, onOpen: () => features.renew() }));
  const features = closers.keep(new ClusterFeatures({ link, pool, trusted: witnesses.trusted, warn }));
  const code = new ProgramCode({ reader: programReader, watch, logger, now });
  const checks = closers.keep(
    new MarketChecks({
      isGuarding: mode === "guard",
      isUp: () => link.isOpen,
      now,
      head,
      log: (facts, message) => logger.warn(facts, message),
      fetchAccounts: (addresses) => reader.fetchAccounts(addresses),
      send: async (order) => {
        await features.known();
        return link.send(order);
      },
      programs: {
        follow: (ids) => watch.follow(ids),
        get: (id) => watch.get(id),
        fetchCode: (id) => code.fetch(id),
      },
    }),
  );
  watch.onReplaced((deployed) => checks.noteReplaced(deployed));
  return {
    mode,
    checks,
    isUp: () => link.isOpen,
    pid: () => own?.pid(),
    programs: () => watch.all().map(({ id, slot }) => ({ id: id.toString(), slot })),
  };
}
