import type { Socket } from "node:net";
import type { Refusal } from "../http/flow/refusal-lane.ts";
import { plainHeadersOf, type WholeRequest } from "../http/flow/whole-request.ts";
import type { ApiSettings } from "../settings.ts";
import type { EverydayRoutes } from "./everyday-requests.ts";

interface ServedAgainParts {
  readonly routes: EverydayRoutes;
  readonly settings: Pick<ApiSettings, "bodyLimitBytes" | "headerLimitBytes" | "trustedProxies">;
}

/** Serves builds by their bytes, on connections that carried everyday requests before. */
export class ServedAgain {
  readonly #parts: ServedAgainParts;

  constructor(parts: ServedAgainParts) {
    this.#parts = parts;
  }

  /** The response; undefined if the server is to serve the request, or to finish what has begun: see `RestRoute.answer`. */
  serve(request: WholeRequest, socket: Socket): Refusal | undefined {
    const { routes, settings } = this.#parts;
    const known = routes.get(request.path);
    if (known?.isBuild !== true || settings.trustedProxies > 0) return undefined;
    if (request.body.length > settings.bodyLimitBytes || request.lines.length > settings.headerLimitBytes / 2)
      return undefined;
    const headers = plainHeadersOf(request);
    if (headers === undefined) return undefined;
    return known.route.answer({ url: request.path, headers, body: request.body, socket });
  }
}
