/** Nesting, and strings, numbers and brackets, of JSON from elsewhere: what it takes to parse grows with them, not with bytes. */
const MAX_DEPTH = 32;
const MAX_TOKENS = 40_000;
/** Characters outside of strings, and backslashes before quotes. */
const MAX_STEPS = 500_000;
/** Characters of a number. */
const MAX_NUMBER = 64;

const [QUOTE, BACKSLASH, MINUS] = [34, 92, 45];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

/**
 * Walks over JSON without parsing it and passes on where each number stands.
 *
 * @throws SyntaxError if it is nested too deeply or holds too many values, or a number of too many digits
 */
export function scanJson(text: string, onNumber: (start: number, end: number) => void): void {
  let depth = 0;
  let tokens = 0;
  let steps = 0;
  for (let at = 0; at < text.length; at++) {
    steps++;
    const code = text.charCodeAt(at);
    if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth--;
    else if (code === QUOTE) {
      const end = endOfString(text, at, MAX_STEPS - steps);
      steps += end.steps;
      at = end.at;
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (++depth > MAX_DEPTH) throw new SyntaxError(`JSON is nested more than ${MAX_DEPTH} levels`);
    } else if (isDigit(code) || code === MINUS) {
      const start = at;
      while (isInNumber(text.charCodeAt(at + 1))) at++;
      if (at - start >= MAX_NUMBER) throw new SyntaxError(`JSON has a number of more than ${MAX_NUMBER} characters`);
      onNumber(start, at + 1);
    } else if (steps <= MAX_STEPS) continue;
    if (steps > MAX_STEPS) throw new SyntaxError("JSON has too much beside its values");
    if (++tokens > MAX_TOKENS) throw new SyntaxError(`JSON has more than ${MAX_TOKENS} values`);
  }
}

/** The quote that ends the string which begins at `start`, or the end of the text, and the steps it took to find. */
function endOfString(text: string, start: number, maxSteps: number): { readonly at: number; readonly steps: number } {
  let steps = 0;
  for (let at = start; steps <= maxSteps; ) {
    at = text.indexOf('"', at + 1);
    if (at === -1) break;
    let before = at - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    const length = at - before;
    steps += length;
    if (length % 2 === 1) return { at, steps };
  }
  return { at: text.length, steps };
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Digits, sign, point and exponent. */
const isInNumber = (code: number): boolean =>
  isDigit(code) || code === 46 || code === 43 || code === MINUS || code === 69 || code === 101;
