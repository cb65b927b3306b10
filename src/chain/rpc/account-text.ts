/** An account in a node's JSON, without the fields that nobody reads. */
export interface WrittenAccount {
  readonly lamports: number;
  /** The bytes, and that they are in base64. */
  readonly data: readonly [bytes: string, encoding: "base64"];
  readonly owner: string;
  readonly executable: boolean;
}

/** Digits of numbers that a double holds exactly, and of the largest rent epoch. */
const MOST_DIGITS = 15;
const MOST_EPOCH_DIGITS = 20;
/** Fields of an account. */
const MOST_FIELDS = 6;
const [COMMA, ZERO, NINE] = [44, 48, 57];
/** The first letters of the fields' names, by which they differ. */
const [LAMPORTS, DATA, OWNER, EXECUTABLE, RENT_EPOCH, SPACE] = Buffer.from("ldoers");

/**
 * Reads accounts straight from a node's text, piece by piece from its start, in a fraction of the time of JSON.parse. If anything is
 * written differently from how nodes write it, it finds nothing, and the caller must parse the text.
 */
export class AccountText {
  readonly #text: string;
  #at = 0;
  #number = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The last number read. */
  get number(): number {
    return this.#number;
  }

  /** True if the whole text is read. */
  get isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  /** Steps over this piece if it comes next. */
  take(piece: string): boolean {
    if (!this.#text.startsWith(piece, this.#at)) return false;
    this.#at += piece.length;
    return true;
  }

  /** Steps over a whole number without sign. @returns false if there is none, or it has more digits */
  takeNumber(mostDigits = MOST_DIGITS): boolean {
    const from = this.#at;
    let [at, number] = [from, 0];
    for (; ; at++) {
      const code = this.#text.charCodeAt(at);
      if (!(code >= ZERO && code <= NINE)) break;
      number = number * 10 + code - ZERO;
    }
    this.#at = at;
    this.#number = number;
    const digits = at - from;
    return digits > 0 && digits <= mostDigits && (digits === 1 || this.#text.charCodeAt(from) !== ZERO);
  }

  /** The text up to the next quote, which is not consumed; the whole rest if there is none. */
  takeToQuote(): string {
    const from = this.#at;
    const end = this.#text.indexOf('"', from);
    this.#at = end < 0 ? this.#text.length : end;
    return this.#text.slice(from, this.#at);
  }

  /** An account with its fields in any order: nodes sort them by name or write them as declared. Undefined for any other form. */
  takeAccount(): WrittenAccount | undefined {
    if (!this.take("{")) return undefined;
    let lamports: number | undefined;
    let data: string | undefined;
    let owner: string | undefined;
    let executable: boolean | undefined;
    for (let rest = MOST_FIELDS; ; rest--) {
      if (rest === 0) return undefined;
      switch (this.#text.charCodeAt(this.#at + 1)) {
        case LAMPORTS:
          if (lamports !== undefined || !this.take('"lamports":') || !this.takeNumber()) return undefined;
          lamports = this.#number;
          break;
        case DATA:
          if (data !== undefined || !this.take('"data":["')) return undefined;
          data = this.takeToQuote();
          if (!this.take('","base64"]')) return undefined;
          break;
        case OWNER:
          if (owner !== undefined || !this.take('"owner":"')) return undefined;
          owner = this.takeToQuote();
          if (!this.take('"')) return undefined;
          break;
        case EXECUTABLE:
          if (executable !== undefined || !this.take('"executable":')) return undefined;
          executable = this.take("true");
          if (!executable && !this.take("false")) return undefined;
          break;
        case RENT_EPOCH:
          if (!this.take('"rentEpoch":') || !this.takeNumber(MOST_EPOCH_DIGITS)) return undefined;
          break;
        case SPACE:
          if (!this.take('"space":') || !this.takeNumber()) return undefined;
          break;
        default:
          return undefined;
      }
      if (this.#text.charCodeAt(this.#at) !== COMMA) break;
      this.#at += 1;
    }
    if (lamports === undefined || data === undefined || owner === undefined || executable === undefined)
      return undefined;
    return this.take("}") ? { lamports, data: [data, "base64"], owner, executable } : undefined;
  }
}
