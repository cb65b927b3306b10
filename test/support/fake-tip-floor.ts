import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Landed tips as a block engine reports them, in SOL. */
export const LANDED_TIPS = {
  time: "2026-11-20T12:00:00Z",
  landed_tips_25th_percentile: 0.000005,
  landed_tips_50th_percentile: 0.00001,
  landed_tips_75th_percentile: 0.00003600001,
  landed_tips_95th_percentile: 0.0014,
  landed_tips_99th_percentile: 0.01,
  ema_landed_tips_50th_percentile: 0.000009952174575705424,
};

/** The same, every tip times that. */
export const spike = (times: number): object =>
  Object.fromEntries(
    Object.entries(LANDED_TIPS).map(([field, value]) => [field, typeof value === "number" ? value * times : value]),
  );

/** A server of landed tips that can lie and be silent. */
export interface FakeTipFloor {
  readonly url: string;
  readonly asked: number;
  /** Text of its answers; undefined: it takes the question and says nothing. */
  answer: string | undefined;
  status: number;
  close(): Promise<void>;
}

export async function startFakeTipFloor(): Promise<FakeTipFloor> {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    if (floor.answer === undefined) return;
    const location = floor.status === 302 ? { location: "/elsewhere" } : {};
    response.writeHead(floor.status, { "content-type": "application/json", ...location }).end(floor.answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const floor: FakeTipFloor = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/bundles/tip_floor`,
    get asked() {
      return asked;
    },
    answer: JSON.stringify([LANDED_TIPS]),
    status: 200,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return floor;
}
