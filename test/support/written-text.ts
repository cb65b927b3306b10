import { type AnswerBytes, beginAnswer } from "../../src/api/http/lane/answer-bytes.ts";

/** What an encoder writes of a message, as a text whose characters are bytes. */
export function writtenText(encode: (message: object, out: AnswerBytes) => void, message: object): string {
  const out = beginAnswer();
  encode(message, out);
  return out.text();
}
