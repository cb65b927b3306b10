import type { ApiSettings } from "../api/settings.ts";
import type { Config } from "../config/settings.ts";

/** How often to check for timed-out requests, whose limits are whole seconds. */
const TIMEOUT_CHECK_MS = 500;

/** The edge's part of the settings, with the certificate and the public URL. */
export function apiSettings(config: Config, found: Pick<ApiSettings, "tls" | "publicUrl">): ApiSettings {
  return {
    host: config.host,
    port: config.port,
    tls: found.tls,
    publicUrl: found.publicUrl,
    keepAliveMs: config.keepAliveMs,
    keepAliveHintMs: config.keepAliveHintMs,
    maxRequestsPerConnection: config.maxRequestsPerConnection,
    bodyLimitBytes: config.bodyLimitBytes,
    headerLimitBytes: config.headerLimitBytes,
    headersTimeoutMs: config.headersTimeoutMs,
    requestTimeoutMs: config.requestTimeoutMs,
    timeoutCheckMs: TIMEOUT_CHECK_MS,
    drainMs: config.drainTimeoutMs,
    maxConnections: config.maxConnections,
    maxConnectionsPerAddress: config.maxConnectionsPerAddress,
    maxStreamsPerKey: config.maxStreamsPerKey,
    maxStreams: config.maxStreams,
    maxWaitingBytes: config.maxWaitingBytes,
    stallTimeoutMs: config.stallTimeoutMs,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    proxyAddresses: config.proxyAddresses,
    limits: {
      build: config.buildPerSecond,
      submit: config.submitPerSecond,
      read: config.readPerSecond,
      query: config.queryPerSecond,
      addressBuild: config.addressBuildPerSecond,
      addressSubmit: config.addressSubmitPerSecond,
      addressRead: config.addressReadPerSecond,
      addressQuery: config.addressQueryPerSecond,
      addressOpen: config.addressOpenPerSecond,
      addressRegister: config.addressRegisterPerSecond,
      addressPage: config.addressPagePerSecond,
      addressAuth: config.addressAuthPerSecond,
      burstSeconds: config.limitBurstSeconds,
    },
    admission: {
      buildsAtOnce: config.maxConcurrentBuilds,
      submitsAtOnce: config.maxConcurrentSubmits,
      buildTurnMs: config.buildSliceMs,
      buildWaitMs: config.buildQueueMs,
    },
  };
}
