import type { FakeTrades } from "../fake-trades.ts";

/** What of a call is the same however it came. */
const OWN_TO_CALL: ReadonlySet<string> = new Set(["principal", "caller", "stages", "signal"]);

/** Notes what reaches the product, and makes its answers depend on nothing else. */
export function noteTrades(trades: FakeTrades): { take(): string | undefined } {
  let seen: string | undefined;
  const { build, quote, submit } = trades;
  const note = (request: object) => {
    const own = Object.entries(request).filter(([name, value]) => !OWN_TO_CALL.has(name) && value !== undefined);
    seen = own.map(([name, value]) => `${name}=${shown(value)}`).join(" ");
  };
  trades.build = async (request) => {
    note(request);
    return { ...(await build(request)), submissionToken: "token", unsignedTransaction: Buffer.alloc(3) };
  };
  trades.quote = (request) => {
    note(request);
    return quote(request);
  };
  trades.submit = (request) => {
    note(request);
    return submit(request);
  };
  return {
    /** The last request that came, in words; undefined if none has come since the last time this was asked. */
    take() {
      const taken = seen;
      seen = undefined;
      return taken;
    },
  };
}

function shown(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  return Array.isArray(value) ? `[${value.map(shown).join()}]` : JSON.stringify(String(value));
}
