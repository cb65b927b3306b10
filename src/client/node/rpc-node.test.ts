import { afterEach, expect, test, vi } from "vitest";
import { Address } from "../../primitives/address.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import { rpcNode } from "./rpc-node.ts";

const mint = Address.from(new Uint8Array(32).fill(8));
const table = Address.from(new Uint8Array(32).fill(9));

function account(owner: string, data: Uint8Array) {
  return { owner, lamports: 1, data: [Buffer.from(data).toString("base64"), "base64"] };
}

/** A node whose last processed block is dropped: a mint and a table have other contents there than in confirmed blocks. */
function nodeOnFork(): { readonly missing: { left: number } } {
  const missing = { left: 0 };
  const fetched = (_url: string, init: { readonly body: string }) => {
    const { params } = JSON.parse(init.body) as { params: [string[], { commitment: string }] };
    const [[address], { commitment }] = params;
    const isDropped = commitment === "processed";
    const mintData = new Uint8Array(82);
    mintData[44] = isDropped ? 3 : 6;
    const tableData = new Uint8Array(56 + 32).fill(isDropped ? 1 : 2, 56);
    tableData[0] = 1;
    const value =
      address === mint.toString()
        ? account(TOKEN_PROGRAM.toString(), mintData)
        : account("AddressLookupTab1e1111111111111111111111111", tableData);
    const isMissing = missing.left > 0;
    missing.left -= 1;
    return Promise.resolve(Response.json({ result: { context: { slot: 1 }, value: [isMissing ? null : value] } }));
  };
  vi.stubGlobal("fetch", fetched);
  return { missing };
}

afterEach(() => {
  vi.unstubAllGlobals();
});

test("decimals and lookup tables are those of confirmed blocks, whatever a dropped one says", async () => {
  nodeOnFork();
  const node = rpcNode("http://node.example");
  expect(await node.decimals(mint)).toBe(6);
  const entries = (await node.lookupTables([table])).get(table);
  expect(entries?.map((entry) => entry.bytes[0])).toEqual([2]);
});

test("a mint that is confirmed a moment later is found", async () => {
  const { missing } = nodeOnFork();
  missing.left = 2;
  expect(await rpcNode("http://node.example").decimals(mint)).toBe(6);
});

test("a node that answers endlessly, or with anything but JSON, is unavailable", async () => {
  let sent = 0;
  const part = new Uint8Array(1 << 20).fill(0x20);
  const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      sent += part.length;
      controller.enqueue(part);
    },
  });
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(endless)));
  const node = rpcNode("http://node.example/secret");
  await expect(node.decimals(mint)).rejects.toMatchObject({
    code: "NODE_UNAVAILABLE",
    message: expect.not.stringContaining("secret"),
  });
  expect(sent).toBeLessThan(40_000_000);
  vi.stubGlobal("fetch", () => Promise.resolve(new Response("<html>")));
  await expect(node.decimals(mint)).rejects.toMatchObject({ code: "NODE_UNAVAILABLE" });
});

test("a node whose answers have another form is unavailable, whatever they hold", async () => {
  const node = rpcNode("http://node.example");
  const odd = { ...account(TOKEN_PROGRAM.toString(), new Uint8Array(82)), lamports: 1.5 };
  const unread = { owner: TOKEN_PROGRAM.toString(), lamports: 1, data: ["!", "base64"] };
  for (const result of [null, { value: [7] }, { value: [odd] }, { value: [unread] }]) {
    vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ result })));
    await expect(node.decimals(mint), JSON.stringify(result)).rejects.toMatchObject({ code: "NODE_UNAVAILABLE" });
  }
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ result: null })));
  const wire = new Uint8Array(200);
  wire[0] = 1;
  await expect(node.verdict(wire, "signature", 1, undefined)).rejects.toMatchObject({ code: "NODE_UNAVAILABLE" });
});

test("a transaction is expired for a node that has neither a status nor a record of it, after a final block past its life", async () => {
  const node = rpcNode("http://node.example");
  const wire = new Uint8Array(200);
  wire[0] = 1;
  const verdictOf = (answers: Readonly<Record<string, unknown>>) => {
    const all: Readonly<Record<string, unknown>> = {
      isBlockhashValid: { context: { slot: 10 }, value: false },
      getSignatureStatuses: { context: { slot: 12 }, value: [null] },
      getTransaction: null,
      ...answers,
    };
    vi.stubGlobal("fetch", (_url: string, { body }: { readonly body: string }) =>
      Promise.resolve(Response.json({ result: all[JSON.parse(body).method] })),
    );
    return node.verdict(wire, "signature", 10, undefined);
  };
  expect(await verdictOf({})).toBe("expired");
  expect(await verdictOf({ getTransaction: { slot: 3 } })).toBe("landed");
  expect(await verdictOf({ getSignatureStatuses: { context: { slot: 12 }, value: [{ slot: 3 }] } })).toBe("landed");
  expect(await verdictOf({ getSignatureStatuses: { context: { slot: 9 }, value: [null] } })).toBe("pending");
  expect(await verdictOf({ isBlockhashValid: { context: { slot: 9 }, value: false } })).toBe("pending");
  await expect(verdictOf({ getTransaction: undefined })).rejects.toMatchObject({ code: "NODE_UNAVAILABLE" });
});
