/**
 * The WebSocket URL of a node, derived as Solana's own clients do: the same place with a WebSocket scheme and, if the URL
 * names a port, the next one.
 *
 * @see https://github.com/solana-foundation/solana-web3.js `makeWebsocketUrl`
 */
export function websocketUrl(rpcUrl: string): string {
  const made = new URL(rpcUrl);
  made.protocol = made.protocol === "https:" ? "wss:" : "ws:";
  const port = /^[^/]+\/\/[^/]*:(\d+)(?:[/?#]|$)/.exec(rpcUrl)?.[1];
  if (port !== undefined) made.port = `${Number(port) + 1}`;
  return made.href;
}
