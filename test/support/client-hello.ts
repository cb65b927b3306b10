import { Duplex } from "node:stream";
import tls from "node:tls";

/** What a client opens TLS with. It offers HTTP/2. */
export function clientHello(): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = new Duplex({ read() {}, write: (chunk: Buffer) => resolve(chunk) });
    tls.connect({ socket, ALPNProtocols: ["h2"] }).on("error", () => {});
  });
}
