import { parseList, type Setting, type SettingWithDefault } from "./setting.ts";

/** A URL with one of the schemes. */
export function url(about: string, schemes: readonly string[]): Setting<string> {
  return {
    about,
    unit: "URL",
    bound: `a URL that starts with ${anyOf(schemes)}, any % in its credentials as %25`,
    fallback: undefined,
    parse: (written) => (isUrl(written, schemes) ? written : undefined),
  };
}

/** Several URLs with any of the schemes. */
export function urls(about: string, schemes: readonly string[]): Setting<readonly string[]> {
  const one = url(about, schemes);
  return {
    ...one,
    unit: "URLs, comma between",
    bound: `URLs that start with ${anyOf(schemes)}, any % in their credentials as %25`,
    parse: (written) => parseList(written, one.parse),
  };
}

/** A web origin: scheme, host and port. A trailing slash is dropped. */
export function origin(about: string): Setting<string> {
  const schemes = ["http", "https"];
  return {
    about,
    unit: "URL",
    bound: "a URL that starts with http:// or https:// and ends with the host or port",
    fallback: undefined,
    parse: (written) => {
      if (!isUrl(written, schemes)) return undefined;
      const parsed = new URL(written);
      return parsed.href === `${parsed.origin}/` ? parsed.origin : undefined;
    },
  };
}

/** Any number of web origins. */
export function origins(about: string): SettingWithDefault<readonly string[]> {
  const one = origin(about);
  return {
    ...one,
    unit: "URLs, comma between",
    bound: "URLs that start with http:// or https:// and end with the host or port",
    fallback: "",
    parse: (written) => (written === "" ? Object.freeze([]) : parseList(written, one.parse)),
  };
}

/** HTTP headers in OpenTelemetry's notation: a value with a comma or a space is percent-encoded. */
export function headers(about: string): SettingWithDefault<Readonly<Record<string, string>>> {
  return {
    about,
    unit: "name=value, comma between",
    bound: "names of headers, each with a value, percent-encoded if it is not plain",
    fallback: "",
    parse: (written) => {
      const pairs = written === "" ? [] : parseList(written, parseHeader);
      return pairs === undefined ? undefined : Object.freeze(Object.fromEntries(pairs));
    },
  };
}

function parseHeader(written: string): readonly [string, string] | undefined {
  const [, name, encoded] = /^([0-9A-Za-z!#$%&'*+.^_`|~-]+) *= *(.*)$/.exec(written) ?? [];
  if (name === undefined || encoded === undefined || /%(?![0-9a-f]{2})/i.test(encoded)) return undefined;
  const value = encoded.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return /^[\x20-\x7e]+$/.test(value) ? [name.toLowerCase(), value] : undefined;
}

const anyOf = (schemes: readonly string[]): string => schemes.map((scheme) => `${scheme}://`).join(" or ");

function isUrl(written: string, schemes: readonly string[]): boolean {
  if (!URL.canParse(written) || !schemes.some((scheme) => written.toLowerCase().startsWith(`${scheme}://`)))
    return false;
  const { username, password } = new URL(written);
  return isDecodable(username) && isDecodable(password);
}

/** False of credentials with a `%` that stands for itself: written in a URL, it is `%25`. */
function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
