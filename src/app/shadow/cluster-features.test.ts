import { expect, test } from "vitest";
import { fakeEndpoint } from "../../../test/support/fake-chain.ts";
import { createRpcPool } from "../../chain/rpc/rpc-pool.ts";
import { Address } from "../../primitives/address.ts";
import { FEATURE_PROGRAM } from "../../solana/features.ts";
import { ClusterFeatures } from "./cluster-features.ts";

/** More than a node answers with at a time. */
const FEATURES = Array.from({ length: 150 }, (_, i) => Address.from(new Uint8Array(32).fill(i + 1)));
const ACTIVE = FEATURES.filter((_, i) => i % 2 === 0).map(String);

/** A node on which the features of that parity are active. */
function node(parity: number, calls: number[] = []) {
  return fakeEndpoint({
    getMultipleAccounts: (addresses: string[]) => {
      calls.push(addresses.length);
      const value = addresses.map((address) => {
        const isActive = FEATURES.findIndex((feature) => feature.toString() === address) % 2 === parity;
        const data = Buffer.alloc(9, isActive ? 1 : 0).toString("base64");
        return { lamports: 1, owner: FEATURE_PROGRAM.toString(), data: [data, "base64"], executable: false };
      });
      return { context: { slot: 9 }, value };
    },
  });
}

/** What the shadow process is sent. */
async function sentBy(endpoints: ReturnType<typeof node>[]): Promise<readonly string[]> {
  let sent: readonly string[] = [];
  const features = new ClusterFeatures({
    link: {
      async send(message: { kind: string; active?: readonly Uint8Array[] }) {
        if (message.kind === "listFeatures") return { kind: "features", ids: FEATURES.map((one) => one.bytes) };
        sent = message.active!.map((id) => Address.from(id).toString());
        return undefined;
      },
    } as never,
    pool: createRpcPool({ endpoints, now: () => 0, warn: () => {} }),
    warn: () => {},
  });
  features.renew();
  await features.known();
  features.close();
  return sent;
}

test("the shadow process has the features that most nodes show, whichever of them lies", async () => {
  for (const liar of [0, 1, 2]) {
    const nodes = [0, 1, 2].map((nth) => node(nth === liar ? 1 : 0));
    expect(await sentBy(nodes)).toEqual(ACTIVE);
  }
});

test("one node's word counts if it is the only one", async () => {
  const calls: number[] = [];
  expect(await sentBy([node(0, calls)])).toEqual(ACTIVE);
  expect(calls).toEqual([100, 50]);
});
