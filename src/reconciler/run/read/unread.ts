// Finds the files of a source without a cached result. To read these files takes time and memory.

import { objectsKey } from './file-reading.ts';
import { kindTable } from './kind-table.ts';
import { definitionsOf, type LoadInput } from './load.ts';
import { type ParsedFile, textKey } from './parsed-file.ts';
import { isTooLarge, type LoadCache, type SourceFile } from './source-file.ts';
import { isSealed } from './unseal.ts';

/** Returns the files without a cached result and all files that may define kinds. Empty if all files have a result. */
export function findUnread(given: LoadInput, cache: LoadCache): readonly SourceFile[] {
  const parsed = new Map<SourceFile, ParsedFile>();
  for (const file of given.documents) {
    const known = isSealed(file) ? undefined : cache.get(textKey(file));
    if (known !== undefined) parsed.set(file, known as ParsedFile);
  }
  const unparsed = given.documents.filter((file) => !parsed.has(file) && !isTooLarge(file));
  // If an unparsed file may define kinds, any object may be of such a kind. All files must then be read.
  if (unparsed.some(mayDefine)) return given.documents;
  const { counts = () => true } = given;
  const definitions = [...parsed.values()].flatMap((each) => definitionsOf(each).filter(counts));
  const { digest } = kindTable({ ...given, definitions, foreign: given.foreign ?? 'refused' });
  const unexamined = [...parsed.keys()].filter((file) => cache.get(objectsKey(digest, file)) === undefined);
  const unread = new Set([...unparsed, ...unexamined]);
  return unread.size === 0 ? [] : given.documents.filter((file) => unread.has(file) || mayDefine(file));
}

/** Returns true if reading the files is fast: their text is short, and the source defines no kinds. */
export function isQuick(all: readonly SourceFile[], unread: readonly SourceFile[]): boolean {
  return !all.some(mayDefine) && unread.reduce((sum, { text }) => sum + text.length, 0) <= QUICK_CHARACTERS;
}

const QUICK_CHARACTERS = 16 * 1024;

function mayDefine({ text }: SourceFile): boolean {
  return text.includes('CustomResourceDefinition');
}
