import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A TCP connection that can be slow, cut, or not there at all. */
export interface TcpProxy {
  readonly port: number;
  /** What comes from behind arrives this much later. */
  delay(milliseconds: number): void;
  /** Cuts everything; new connections reach this port. */
  retarget(port: number): void;
  /** Cuts everything and listens no more. */
  down(): Promise<void>;
  up(): Promise<void>;
  close(): Promise<void>;
}

export async function startTcpProxy(firstPort: number): Promise<TcpProxy> {
  let targetPort = firstPort;
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let port = 0;
  let server: Server | undefined;

  const up = async () => {
    if (server !== undefined) return;
    const opened = createServer((inside) => {
      const outside = connect(targetPort, "127.0.0.1");
      sockets.add(inside).add(outside);
      inside.on("data", (chunk) => outside.write(chunk));
      outside.on("data", (chunk) => {
        if (delayMs === 0) inside.write(chunk);
        else setTimeout(() => inside.writable && inside.write(chunk), delayMs);
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
    server = opened;
    await new Promise<void>((resolve, reject) => {
      opened.once("error", reject);
      opened.listen(port, "127.0.0.1", resolve);
    });
    port = (opened.address() as AddressInfo).port;
  };
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const down = async () => {
    const open = server;
    server = undefined;
    cut();
    if (open !== undefined) await new Promise((resolve) => open.close(resolve));
  };
  await up();
  return {
    get port() {
      return port;
    },
    delay(milliseconds) {
      delayMs = milliseconds;
    },
    retarget(to) {
      targetPort = to;
      cut();
    },
    down,
    up,
    close: down,
  };
}
