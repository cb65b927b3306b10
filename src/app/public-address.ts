import { readFileSync } from "node:fs";
import type { ApiSettings } from "../api/settings.ts";
import type { Config } from "../config/settings.ts";

/** How clients reach the service: its certificate and its URL. The port may be known only once it listens. */
export class PublicAddress {
  readonly tls: ApiSettings["tls"];
  readonly #config: Config;
  #port: number;

  /** @throws Error if a certificate file cannot be read */
  constructor(config: Config) {
    this.#config = config;
    this.#port = config.port;
    this.tls = this.readCertificate();
  }

  /** What the files of the certificate hold now; undefined without one. @throws Error if one cannot be read */
  readCertificate(): ApiSettings["tls"] {
    const { tlsCert, tlsKey } = this.#config;
    return tlsCert === undefined || tlsKey === undefined
      ? undefined
      : { cert: readFileSync(tlsCert, "utf8"), key: readFileSync(tlsKey, "utf8") };
  }

  /** Sets the port that the service listens on. */
  listensOn(port: number): void {
    this.#port = port;
  }

  /** PUBLIC_URL, or the listening address. */
  publicUrl(): string {
    return this.#config.publicUrl ?? this.urlAt(this.#config.host);
  }

  /** URL of the service at a host of this machine. */
  urlAt(host: string): string {
    return `${this.tls === undefined ? "http" : "https"}://${reachableHost(host)}:${this.#port}`;
  }
}

/** The host to connect to: a listener on all interfaces is reached through loopback. */
function reachableHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
