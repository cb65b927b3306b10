import { parseRpcJson } from "../rpc-values.ts";

/** Texts kept at a time, and characters of the longest. */
const MOST = 8;
const MAX_LENGTH = 262_144;
/** Characters of a call's subject from which its id is made. */
const NAMING = 12;
/** Smallest such id: ids of counted calls are lower. Such ids fit into 31 bits. */
const FIRST_ID = 2 ** 30;

/**
 * Answers of nodes to the same question at the same moment. Nodes with the same software write a record identically: a text equal to
 * another node's recent answer is not parsed again. The ids of such calls follow from their subject, so that whole texts can be equal.
 */
export class AlikeAnswers {
  /** Texts that no second node has sent yet, oldest first. */
  readonly #kept: { readonly text: string; readonly value: unknown }[] = [];

  /**
   * The parsed text; for an equal earlier text the same value, which nobody may change.
   * @throws SyntaxError as `parseRpcJson` does
   */
  parse(text: string): unknown {
    const at = this.#kept.findIndex((one) => one.text === text);
    if (at >= 0) return this.#kept.splice(at, 1)[0]!.value;
    const value = parseRpcJson(text);
    if (text.length <= MAX_LENGTH && this.#kept.push({ text, value }) > MOST) this.#kept.shift();
    return value;
  }
}

/** The id of a call with this subject. Another subject has the same id only once in a billion. */
export function idAbout(text: string): number {
  let id = 0;
  const length = Math.min(text.length, NAMING);
  for (let i = 0; i < length; i++) id = (id * 31 + text.charCodeAt(i)) % FIRST_ID;
  return FIRST_ID + id;
}
