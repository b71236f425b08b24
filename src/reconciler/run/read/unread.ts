// Finds the files of a source that were not read before: reading them takes time and memory, the others come from the
// cache.

import { objectsKey } from './file-reading.ts';
import { kindTable } from './kind-table.ts';
import { definitionsOf, type LoadInput } from './load.ts';
import { type ParsedFile, textKey } from './parsed-file.ts';
import { isTooLarge, type LoadCache, type SourceFile } from './source-file.ts';
import { isSealed } from './unseal.ts';

/** Returns the unread files, and all files that define kinds, or may; empty if nothing has to be read. */
export function findUnread(given: LoadInput, cache: LoadCache): readonly SourceFile[] {
  const parsed = new Map<SourceFile, ParsedFile>();
  for (const file of given.documents) {
    const known = isSealed(file) ? undefined : cache.get(textKey(file));
    if (known !== undefined) parsed.set(file, known as ParsedFile);
  }
  const unparsed = given.documents.filter((file) => !parsed.has(file) && !isTooLarge(file));
  // Any object may be of a kind that one of these defines.
  if (unparsed.some(mayDefine)) return given.documents;
  const { counts = () => true } = given;
  const definitions = [...parsed.values()].flatMap((each) => definitionsOf(each).filter(counts));
  const { digest } = kindTable({ ...given, definitions, foreign: given.foreign ?? 'refused' });
  const unexamined = [...parsed.keys()].filter((file) => cache.get(objectsKey(digest, file)) === undefined);
  const unread = new Set([...unparsed, ...unexamined]);
  return unread.size === 0 ? [] : given.documents.filter((file) => unread.has(file) || mayDefine(file));
}

/**
 * Returns true if reading takes no longer than other work of a run: little text, and no kinds that the source itself
 * defines.
 */
export function isQuick(all: readonly SourceFile[], unread: readonly SourceFile[]): boolean {
  return !all.some(mayDefine) && unread.reduce((sum, { text }) => sum + text.length, 0) <= QUICK_CHARACTERS;
}

const QUICK_CHARACTERS = 16 * 1024;

function mayDefine({ text }: SourceFile): boolean {
  return text.includes('CustomResourceDefinition');
}
