import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { AppContext } from "../context.ts";
import { describeChain, type EmbeddedChain, startEmbeddedChain } from "./embedded-chain.ts";
import { websocketUrl } from "./websocket-url.ts";

/** Where the chain is: at nodes, or embedded. */
export interface ChainLocation {
  readonly rpcUrls: readonly string[];
  /** In the order of `rpcUrls`. */
  readonly wsUrls: readonly string[];
  /** The embedded chain, if the service runs on one. */
  readonly embedded: EmbeddedChain | undefined;
  /** The same, if this process runs it. */
  readonly sandbox: Sandbox | undefined;
  /** The socket of the machine's shadow process, if another process runs it. */
  readonly shadowPath: string | undefined;
}

/**
 * Finds the chain: the nodes of the settings, the embedded chain of another process, or one started here.
 * @throws Error if a port of the embedded chain is taken
 */
export async function locateChain(
  { config, closers }: AppContext,
  elsewhere: EmbeddedChain | undefined,
  shadowPath: string | undefined,
): Promise<ChainLocation> {
  if (elsewhere !== undefined) return { ...atEmbedded(elsewhere, undefined), shadowPath };
  const { solanaRpcUrls: rpcUrls, solanaWsUrls } = config;
  if (rpcUrls !== undefined) {
    const wsUrls = solanaWsUrls ?? rpcUrls.map(websocketUrl);
    return { rpcUrls, wsUrls, embedded: undefined, sandbox: undefined, shadowPath };
  }
  const sandbox = closers.keep(await startEmbeddedChain(config));
  return { ...atEmbedded(describeChain(sandbox), sandbox), shadowPath };
}

function atEmbedded(embedded: EmbeddedChain, sandbox: Sandbox | undefined): Omit<ChainLocation, "shadowPath"> {
  return { rpcUrls: [embedded.rpcUrl], wsUrls: [embedded.wsUrl], embedded, sandbox };
}
