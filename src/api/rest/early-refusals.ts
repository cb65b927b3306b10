import type { Admission } from "../call/admission.ts";
import type { CallObserver } from "../call/call-record.ts";
import { RefusalLane } from "../http/flow/refusal-lane.ts";
import type { ApiSettings } from "../settings.ts";
import { BuildShedder } from "./build-shedder.ts";
import type { EverydayRoutes } from "./everyday-requests.ts";

const TRACEPARENT = /\r\ntraceparent: ?([^\r]*)/i;

interface EarlyRefusalParts {
  readonly settings: ApiSettings;
  readonly admission: Admission;
  readonly routes: EverydayRoutes;
  readonly requestIds: () => string;
  readonly observe: CallObserver;
  /** A monotonic clock. */
  readonly nowMs: () => number;
  readonly isClosing: () => boolean;
}

/** What refuses builds under overload before they are read: by their headers, and again by their bytes. */
export function createEarlyRefusals(parts: EarlyRefusalParts): BuildShedder {
  const { settings, admission, routes, requestIds, observe, nowMs, isClosing } = parts;
  const shedder = new BuildShedder({
    admission,
    requestIds,
    observe,
    nowMs,
    onRefused: (request, response) => lane.watch(request, response),
  });
  const lane = new RefusalLane({
    settings,
    isClosing,
    wallMs: Date.now,
    refuse: ({ path, lines, length }) => {
      const known = routes.get(path);
      if (known?.isBuild !== true || !shedder.refuses(Number(length))) return undefined;
      return shedder.refuseDue(known.route.method.name, TRACEPARENT.exec(lines)?.[1]);
    },
  });
  return shedder;
}
