import type { TokenKey } from "../accounts/secrets.ts";
import { hex } from "../primitives/bytes.ts";
import { parseList, type Setting } from "./setting.ts";

/** A secret of 32 bytes or more. */
export function secret(about: string): Setting<Uint8Array> {
  return {
    about,
    unit: "hexadecimal",
    bound: "at least 32 bytes",
    fallback: undefined,
    parse: (written) => (/^(?:[0-9a-f]{2}){32,}$/i.test(written) ? hex(written) : undefined),
  };
}

/** The key ring of submission tokens. The first key without `:verify` seals; all of them open. */
export function tokenKeys(about: string): Setting<readonly TokenKey[]> {
  return {
    about,
    unit: "name:hexadecimal[:verify], comma between",
    bound: "32-byte keys under different names of letters and digits, at least one without :verify",
    fallback: undefined,
    parse: (written) => {
      const ring = parseList(written, parseTokenKey);
      const names = new Set(ring?.map(({ id }) => id));
      return ring?.length === names.size && ring.some(({ seals }) => seals) ? ring : undefined;
    },
  };
}

function parseTokenKey(written: string): TokenKey | undefined {
  const [, id, digits, verify] = /^([0-9A-Za-z]{1,16}):([0-9a-f]{64})(:verify)?$/i.exec(written) ?? [];
  if (id === undefined || digits === undefined) return undefined;
  return Object.freeze({ id, secret: hex(digits), seals: verify === undefined });
}
