import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy whose connections can be cut, or held silent with the socket still open. */
export interface CutProxy {
  readonly url: string;
  /** Connections accepted so far. */
  connections(): number;
  cut(): void;
  /** While true, nothing from behind the proxy comes through. */
  silence(silent: boolean): void;
  /** What comes from behind on the connections open now is lost for good, with their sockets open; new ones work. */
  strand(): void;
  close(): Promise<void>;
}

export async function startCutProxy(target: string): Promise<CutProxy> {
  const { protocol, hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let connections = 0;
  let silent = false;
  let stranded = 0;
  const server = createServer((inside) => {
    const index = connections++;
    const outside = connect(Number(port), hostname);
    sockets.add(inside).add(outside);
    inside.on("data", (chunk) => outside.write(chunk));
    outside.on("data", (chunk) => {
      if (!silent && index >= stranded) inside.write(chunk);
    });
    for (const socket of [inside, outside]) {
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        inside.destroy();
        outside.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `${protocol}//127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    cut,
    silence(now) {
      silent = now;
    },
    strand() {
      stranded = connections;
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
