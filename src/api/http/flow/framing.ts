import type { IncomingMessage } from "node:http";
import { invalidField, TradewireError } from "../../../errors/tradewire-error.ts";

/** A host name, address or nothing, and perhaps a port. */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+(?:%[\w.~-]+)?\])(?::\d{0,5})?$/i;
/** Valid hosts remembered: nearly all requests name the same few. */
const MAX_KNOWN_HOSTS = 64;

/** Finds requests whose end or meaning a proxy in front could read differently from this process. */
export class Framing {
  readonly #knownHosts = new Set<string>();

  /**
   * Why an HTTP/1.1 connection cannot go on after this request's head; undefined if it can. Lengths that contradict one another,
   * folded lines and bare line feeds the parser refuses by itself.
   */
  problemOf({ httpVersion, headers }: IncomingMessage): TradewireError | undefined {
    const { "transfer-encoding": coding, host } = headers;
    if (httpVersion !== "1.1" && httpVersion !== "1.0") {
      return new TradewireError("VALIDATION_ERROR", "Send the request in HTTP/1.1, or in HTTP/2 from its preface on.");
    }
    if (coding !== undefined && (httpVersion === "1.0" || coding.toLowerCase() !== "chunked")) {
      return invalidField(
        "Transfer-Encoding",
        "Only HTTP/1.1 requests may have the header Transfer-Encoding, and only as chunked.",
      );
    }
    if (host !== undefined && !this.#isHost(host)) {
      return invalidField("Host", "Host does not name one host.");
    }
    return undefined;
  }

  #isHost(host: string): boolean {
    if (this.#knownHosts.has(host)) return true;
    if (!HOST.test(host)) return false;
    if (this.#knownHosts.size < MAX_KNOWN_HOSTS) this.#knownHosts.add(host);
    return true;
  }
}
