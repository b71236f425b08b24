// Says which folders have more hard words than their bounds allow, and where those words stand.

import { type Bounds, isExceeded, lagsBehind, limitOf } from './bounds.ts';
import type { Folder, Place } from './count.ts';
import { WORDS, type Word } from './hard-words.ts';

/** Most places that are listed of one word in one folder. */
const SHOWN = 20;

/** Lines for a person; empty if every folder keeps to its bounds. `isNew`: whether the branch has changed that line. */
export function wordProblems(
  folders: Readonly<Record<string, Folder>>,
  bounds: Readonly<Record<string, Bounds>>,
  isNew: (place: Place) => boolean,
): readonly string[] {
  return Object.entries(folders).flatMap(([name, { counts, places }]) =>
    (Object.keys(WORDS) as Word[]).flatMap((word) => {
      if (bounds[name] === undefined) return word === 'where' ? [`${name} has no bounds in test/words.json.`] : [];
      if (isExceeded(word, counts, bounds[name])) {
        const limit = limitOf(word, bounds[name]);
        if (word === 'if') {
          return [`${name}: ${counts.if} of ${WORDS.if}. At least ${limit} are necessary: begin conditions with "if".`];
        }
        const head = `${name}: ${counts[word]}, at most ${limit} are allowed, of ${WORDS[word]}.`;
        return [head, ...listed(places[word], isNew)];
      }
      if (!lagsBehind(word, counts, bounds[name])) return [];
      const bound = `the bound is still ${bounds[name][word]}`;
      return [`${name}: ${counts[word]} of ${WORDS[word]}; ${bound}. Run node scripts/words.ts --lower.`];
    }),
  );
}

/** Places of the branch first. */
function listed(places: readonly Place[], isNew: (place: Place) => boolean): readonly string[] {
  const sorted = [...places.filter(isNew), ...places.filter((place) => !isNew(place))];
  const lines = sorted
    .slice(0, SHOWN)
    .map((place) => `  ${place.path}:${place.line}: ${oneLine(place.text)}${isNew(place) ? ' (new)' : ''}`);
  return places.length > SHOWN ? [...lines, `  and ${places.length - SHOWN} more`] : lines;
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}
