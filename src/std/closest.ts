// Finds the known word that an author probably meant.

/** Returns the nearest candidate if the word may be a misspelling of it. Ignores letter case. */
export function closest(word: string, candidates: Iterable<string>): string | undefined {
  const lower = word.toLowerCase();
  let best: string | undefined;
  // Words of one or two letters may differ only in case, because all such words are near to each other.
  let bestDistance = Math.floor(word.length / 3) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(lower, candidate.toLowerCase(), bestDistance);
    if (distance >= bestDistance) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

/** Returns ` Did you mean "x"?` with a leading space. Returns an empty text if no candidate is near. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const near = closest(word, candidates);
  return near === undefined ? '' : ` Did you mean "${near}"?`;
}

/** Counts insertions, deletions, substitutions and swaps of neighbours. Stops at `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const substituted = at(previous, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const inserted = at(current, column - 1) + 1;
      const deleted = at(previous, column) + 1;
      const swapped =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
          ? at(beforePrevious, column - 2) + 1
          : limit;
      current.push(Math.min(substituted, inserted, deleted, swapped));
    }
    if (Math.min(...current) >= limit) return limit;
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
