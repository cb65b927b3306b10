import { isIP, type TcpNetConnectOpts } from "node:net";
import { connect, createSecureContext, type SecureContext, type TLSSocket } from "node:tls";

/**
 * Opens TLS connections to one server. They share one context, and each resumes the session of an earlier one if the server lets it:
 * the searches for a new token open 17 at once after a rest, and a whole handshake checks the server's certificates each time.
 */
export class TlsSessions {
  #context: SecureContext | undefined;
  #session: Buffer | undefined;

  /** Connects, and offers HTTP/1.1 alone. */
  connect(to: TcpNetConnectOpts): TLSSocket {
    this.#context ??= createSecureContext();
    const { host = "" } = to;
    const socket = connect({
      ...to,
      // A server certificate is issued for a name; an address is never sent as one.
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ALPNProtocols: ["http/1.1"],
      secureContext: this.#context,
      session: this.#session,
    });
    // Given only once the server's certificate has been checked.
    socket.on("session", (session) => {
      this.#session = session;
    });
    socket.on("close", (hasFailed) => {
      if (hasFailed) this.#session = undefined;
    });
    return socket;
  }
}
