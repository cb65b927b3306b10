import { create, type DescMessage, type Message } from "@bufbuild/protobuf";

/**
 * Creates messages without any field set, as the library's `create` does. The objects have room for the usual number of fields: the
 * library's objects grow with each field that is set.
 */
export function messageMaker(desc: DescMessage): () => Message {
  const zero = create(desc);
  const fields = Object.entries(zero);
  // The engine learns from a constructor's first objects how many fields to reserve.
  const Made = function (this: Record<string, unknown>) {
    for (let at = 0; at < fields.length; at++) {
      const [name, value] = fields[at]!;
      this[name] = Array.isArray(value) ? [] : value;
    }
  } as unknown as new () => Message;
  Made.prototype = Object.getPrototypeOf(zero);
  return () => new Made();
}
