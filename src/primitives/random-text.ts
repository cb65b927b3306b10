/** Characters of one text: 64 kinds each, so 66 random bits. */
export const RANDOM_TEXT_LENGTH = 11;

/** Bytes drawn at a time: one call of the random source is enough for hundreds of texts. */
const BYTES_PER_DRAW = 3 * 1_375;

/**
 * Returns a source of texts of eleven characters (A–Z, a–z, 0–9, `-` and `_`) with 66 random bits each. Seeing any number of
 * them predicts no other.
 *
 * @param fill fills the array from a cryptographic source
 */
export function createRandomTexts(fill: (bytes: Uint8Array) => void): () => string {
  const bytes = Buffer.alloc(BYTES_PER_DRAW);
  let pool = "";
  let at = 0;
  return () => {
    if (at === pool.length) {
      fill(bytes);
      pool = bytes.toString("base64url");
      at = 0;
    }
    at += RANDOM_TEXT_LENGTH;
    return pool.slice(at - RANDOM_TEXT_LENGTH, at);
  };
}
