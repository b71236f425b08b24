// Removes the long values of Secrets and ConfigMaps from a file of manifests. The values are read again when a policy
// evaluates the object, or when the object is sent.

import { type Cut, columnBefore, countStandIns, shortenText, standInsOf } from '#kubernetes/rules/large-values.ts';
import { isObject } from '#std/json.ts';
import type { SourcePlace } from '#std/problem.ts';
import { mayBeSealed } from '#std/sops/cipher.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import { CHARACTERS_MAX, REPEATS, type SourceFile } from './source-file.ts';
import { unroll } from './unroll.ts';

/** Maximum characters of the remaining text. The text is parsed without a time limit, so it must be short. */
const REST_MAX = 4 * 1024;

interface Short {
  readonly text: string;
  readonly cuts: readonly Cut[];
}

/**
 * Returns the text without its long values. undefined if the text must be kept whole, for example because a long value
 * is outside a Secret or ConfigMap.
 */
export function shorten(text: string): Short | undefined {
  if (text.length < REST_MAX || text.length > CHARACTERS_MAX || mayBeSealed(text)) return undefined;
  const { text: rest, cuts } = shortenText(text);
  if (cuts.length === 0 || rest.length > REST_MAX || REPEATS.test(rest)) return undefined;
  const documents = readDocuments(rest, '');
  if (documents.some(({ problems }) => problems.length > 0)) return undefined;
  const objects = documents.flatMap(({ value }) => (value === undefined ? [] : unroll(value)));
  const found = objects.flatMap(({ value }) => (isObject(value) ? standInsOf(value) : []));
  return found.length === cuts.length && countStandIns(rest) === cuts.length ? { text: rest, cuts } : undefined;
}

/** Converts a place in the shortened text to a place in the file. */
export function placeInFile({ shortened }: SourceFile, place: SourcePlace): SourcePlace {
  if (shortened === undefined) return place;
  return { ...place, column: columnBefore(shortened.cuts, place.line, place.column) };
}
