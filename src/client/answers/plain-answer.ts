import type { DescEnum, DescField, DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { PriorityName } from "../order/order.ts";

/** How far a submitted trade got. */
export type TradeStatusName = "pending" | "processed" | "confirmed" | "finalized" | "failed" | "expired";

/** What can happen to a submitted transaction. */
export type TradeEventName = "sent" | "refused" | "processed" | "confirmed" | "finalized";

/** The names of enum values, by the fields that hold them. */
interface EnumNames {
  readonly priority: PriorityName;
  readonly status: TradeStatusName;
  readonly kind: TradeEventName;
}

type PlainValue<V> = V extends bigint
  ? number
  : V extends Uint8Array
    ? Uint8Array
    : V extends readonly (infer Item)[]
      ? readonly PlainValue<Item>[]
      : V extends object
        ? Plain<V>
        : V;

/**
 * A message as a plain object in the words of the REST interface: enum values by name, 64-bit integers as numbers, bytes as bytes.
 * Absent fields are undefined.
 */
export type Plain<M> = {
  readonly [K in keyof M as K extends `$${string}` ? never : K]: K extends keyof EnumNames
    ? EnumNames[K]
    : PlainValue<M[K]>;
};

/** The plain form of an answer, with nothing of the protobuf library in it. */
export function plainAnswer<D extends DescMessage>(schema: D, message: MessageShape<D>): Plain<MessageShape<D>> {
  const values = message as unknown as Readonly<Record<string, unknown>>;
  const entries = schema.fields.flatMap((field) => {
    const value = values[field.localName];
    if (value === undefined) return [];
    return [
      [field.localName, Array.isArray(value) ? value.map((item) => plainValue(field, item)) : plainValue(field, value)],
    ];
  });
  return Object.fromEntries(entries) as Plain<MessageShape<D>>;
}

function plainValue(field: DescField, value: unknown): unknown {
  if (field.message !== undefined && typeof value === "object") return plainAnswer(field.message, value as never);
  if (field.enum !== undefined) return enumName(field.enum, value as number);
  return typeof value === "bigint" ? Number(value) : value;
}

/** The short name of an enum value: `exactIn` of SWAP_MODE_EXACT_IN. A value unknown to this version is `unspecified`. */
function enumName({ value }: DescEnum, number: number): string {
  const name = value[number]?.localName ?? "unspecified";
  return name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}
