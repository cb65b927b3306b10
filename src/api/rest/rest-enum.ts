import type { DescEnumValue } from "@bufbuild/protobuf";

/** The name of an enum value in REST: without the prefix of its type, in lower camel case. `SWAP_MODE_EXACT_IN` is `exactIn`. */
export function restEnumName(value: DescEnumValue): string {
  const prefix = value.parent.sharedPrefix ?? "";
  return value.name
    .slice(prefix.length)
    .toLowerCase()
    .replace(/_([a-z0-9])/g, (_, first: string) => first.toUpperCase());
}
