import type { Config } from "../../config/settings.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

/** A token of the embedded chain; listed once, however many markets it has. */
interface TokenListing {
  readonly symbol: string;
  readonly mint: string;
  /** Its venues and quote tokens. */
  readonly markets: readonly { readonly venue: string; readonly against: string }[];
}

/** An embedded chain as the service and its users see it, whichever process runs it. Plain data: it crosses processes as JSON. */
export interface EmbeddedChain {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly tokens: readonly TokenListing[];
  /** Addresses of the lookup tables that trades may use. */
  readonly lookupTables: readonly string[];
  /** Names of the real programs from SANDBOX_PROGRAMS. */
  readonly realPrograms: readonly string[];
  /** Names of the programs that this project wrote as stand-ins. */
  readonly standIns: readonly string[];
}

/**
 * Starts the embedded chain as configured. Loads it on demand: a service with nodes never does.
 * @throws Error if its port or the next one is taken
 */
export async function startEmbeddedChain(config: Config): Promise<Sandbox> {
  const { startSandbox } = await import("../../sandbox/sandbox.ts");
  return startSandbox({
    host: config.sandboxHost,
    port: config.sandboxPort,
    seed: config.sandboxSeed,
    slotMs: config.sandboxSlotMs,
    ...(config.sandboxPrograms === undefined ? {} : { programsDir: config.sandboxPrograms }),
  });
}

/** Describes a running embedded chain. */
export function describeChain({ rpcUrl, wsUrl, world }: Sandbox): EmbeddedChain {
  const symbols = new Map(world.tokens.map(({ mint, symbol }) => [mint.toString(), symbol]));
  const tokens = [...symbols].map(([mint, symbol]) => ({
    symbol,
    mint,
    markets: world.tokens
      .filter((token) => token.mint.toString() === mint)
      .map(({ venue, quoteMint }) => ({ venue, against: symbols.get(quoteMint.toString()) ?? "SOL" })),
  }));
  return {
    rpcUrl,
    wsUrl,
    tokens,
    lookupTables: world.lookupTables.map((address) => address.toString()),
    realPrograms: world.programs.filter(({ isStandIn }) => !isStandIn).map(({ name }) => name),
    standIns: world.programs.filter(({ isStandIn }) => isStandIn).map(({ name }) => name),
  };
}
