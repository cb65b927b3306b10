import type { Admission } from "../call/admission.ts";
import type { CallObserver } from "../call/call-record.ts";
import type { StartCall } from "../call/call-state.ts";
import type { Gate } from "../call/gate.ts";
import { RefusalLane } from "../http/flow/refusal-lane.ts";
import type { ApiSettings } from "../settings.ts";
import { BuildShedder } from "./build-shedder.ts";
import type { EverydayRoutes } from "./everyday-requests.ts";
import { RefusedAgain } from "./refused-again.ts";

interface EarlyRefusalParts {
  readonly settings: ApiSettings;
  readonly admission: Admission;
  readonly gate: Gate;
  readonly routes: EverydayRoutes;
  readonly requestIds: () => string;
  readonly startCall: StartCall;
  readonly observe: CallObserver;
  /** A monotonic clock. */
  readonly nowMs: () => number;
  readonly isClosing: () => boolean;
}

/** What refuses requests before they are read: builds by their headers, and again by their bytes. */
export function createEarlyRefusals(parts: EarlyRefusalParts): {
  readonly shedder: BuildShedder;
  readonly lane: RefusalLane;
} {
  const { settings, admission, gate, routes, requestIds, startCall, observe, nowMs, isClosing } = parts;
  const shedder = new BuildShedder({
    admission,
    requestIds,
    observe,
    nowMs,
    onRefused: (request, response) => lane.watch(request, response),
  });
  const knowsPeers = settings.trustedProxies === 0;
  const again = new RefusedAgain({ routes, shedder, gate, startCall, knowsPeers });
  const lane = new RefusalLane({
    settings,
    isClosing,
    wallMs: Date.now,
    refuse: (request, socket) => again.refuse(request, socket),
  });
  return { shedder, lane };
}
