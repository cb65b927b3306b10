import type { DescMessage } from "@bufbuild/protobuf";
import { TradeError } from "../trade-error.ts";
import { toTradeError } from "./connect-error.ts";

/** Fields that only permit the service more: without them it builds what every caller can sign. Every other field is binding. */
const DISPENSABLE: readonly string[] = ["maxTransactionVersion", "totalGuard"];

/** What the service was found not to know: it may be older than this library, and refuses fields of later versions. */
export class KnownFields {
  readonly #unknown: Set<string>;

  /** @param left fields to leave out from the start */
  constructor(left: readonly string[]) {
    this.#unknown = new Set(left);
  }

  /**
   * Sends a request, and again without a dispensable field that the service does not know; later requests leave it out.
   * @throws TradeError VALIDATION_ERROR naming the field, if the service does not know one that the caller set
   */
  async send<R extends object, T>(desc: DescMessage, request: R, call: (request: R) => Promise<T>): Promise<T> {
    const sent = Object.fromEntries(Object.entries(request).filter(([name]) => !this.#unknown.has(name))) as R;
    try {
      return await call(sent);
    } catch (error) {
      const refused = toTradeError(error);
      const { code, field, requestId } = refused;
      const unknown = desc.fields.find(
        ({ number, localName }) => field === `#${number}` || field === localName,
      )?.localName;
      if (code !== "VALIDATION_ERROR" || unknown === undefined || !Object.hasOwn(sent, unknown)) throw refused;
      if (DISPENSABLE.includes(unknown)) {
        this.#unknown.add(unknown);
        return this.send(desc, request, call);
      }
      if (unknown === field) throw refused;
      const message = `This service is of an older version and does not know ${unknown}, so it did nothing.`;
      throw new TradeError(code, message, { field: unknown, requestId, cause: error });
    }
  }
}
