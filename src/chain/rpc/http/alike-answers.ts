import { parseRpcJson } from "../rpc-values.ts";

/** Texts kept at a time, and characters of the longest. */
const MOST = 8;
const MAX_LENGTH = 262_144;
/** Characters of what a call is about that its id is made of. */
const NAMING = 12;
/** Least id made so: calls that are counted have lower ones. Those made so fit into 31 bits. */
const FIRST_ID = 2 ** 30;

/**
 * Answers of nodes that are asked the same at the same moment. Nodes with the same software write a record alike: a text that
 * another node has just answered with is compared, not parsed again. So that whole texts can be equal, the ids of such calls
 * follow from what they are about.
 */
export class AlikeAnswers {
  /** Not asked for again yet, oldest first. */
  readonly #kept: { readonly text: string; readonly value: unknown }[] = [];

  /**
   * The parsed text: the same value, which nobody may change, as that of an equal text before it.
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

/** The id of a call about this text. Those about others have other ids, but for one in a billion. */
export function idAbout(text: string): number {
  let id = 0;
  const length = Math.min(text.length, NAMING);
  for (let i = 0; i < length; i++) id = (id * 31 + text.charCodeAt(i)) % FIRST_ID;
  return FIRST_ID + id;
}
