/** Longer words are compared with nothing: the work grows with their length. */
const LONGEST = 64;

/** The known word that was probably meant, by few edits and in any case of letters; undefined if none is close. */
export function closest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > LONGEST) return undefined;
  const lower = word.toLowerCase();
  let best: string | undefined;
  let fewest = Math.min(3, Math.max(1, Math.floor(word.length / 3))) + 1;
  for (const one of known) {
    const edits = editsBetween(lower, one.toLowerCase(), fewest);
    if (edits < fewest) [best, fewest] = [one, edits];
  }
  return best;
}

/** The question about the word that was probably meant, after a space; empty if none is close. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const meant = closest(word, known);
  return meant === undefined ? "" : ` Did you mean "${meant}"?`;
}

/** Insertions, deletions and substitutions between two words; `most` if there are as many or more. */
function editsBetween(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) >= most) return most;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return Math.min(most, row[b.length]!);
}
