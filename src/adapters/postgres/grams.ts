// A text as the set of its grams, every three characters in a row, so that an index can tell which rows may hold a
// substring: those that have all grams of it. Grams are numbers; two of them may share one, which costs a look and no more.

const SIZE = 3;
const FACTOR = 65_599;

/** Signed 32-bit numbers, each once; none for a text shorter than a gram. */
export function gramsOf(text: string): readonly number[] {
  const grams = new Set<number>();
  for (let at = 0; at + SIZE <= text.length; at += 1) {
    let gram = 0;
    for (let offset = 0; offset < SIZE; offset += 1)
      gram = (Math.imul(gram, FACTOR) + text.charCodeAt(at + offset)) | 0;
    grams.add(gram);
  }
  return [...grams];
}
