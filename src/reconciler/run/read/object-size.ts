// Refuses objects that are too large for every API server. YAML aliases can expand a file of a few megabytes many
// times, and all later stages would process the result.

import { isObject } from '#std/json.ts';
import type { Problem } from '#std/problem.ts';
import type { ReadDocument } from '#std/yaml/yaml.ts';
import { type ParsedObject, refusedObject } from './parsed-object.ts';
import { REPEATS, type SourceFile } from './source-file.ts';

/** Maximum bytes of an object as JSON: the maximum size of a request (kube-apiserver, MaxRequestBodyBytes). */
const BYTES_MAX = 3 * 1024 * 1024;
/**
 * A file without aliases is checked only if it has at least this number of characters. A shorter file cannot contain an
 * object above the maximum.
 */
const LOOKED_AT = 512 * 1024;

export interface SizedObjects {
  readonly objects: readonly ParsedObject[];
  /** Problems without the field `resource`. */
  readonly problems: readonly Problem[];
}

export function refuseLarge(
  { text }: Pick<SourceFile, 'text'>,
  { place }: Pick<ReadDocument, 'place'>,
  objects: readonly ParsedObject[],
): SizedObjects {
  if (text.length < LOOKED_AT && !REPEATS.test(text)) return { objects, problems: [] };
  const problems: Problem[] = [];
  const sized = objects.map((object): ParsedObject => {
    const bytes = isObject(object.value) ? Buffer.byteLength(JSON.stringify(object.value)) : 0;
    if (bytes <= BYTES_MAX) return object;
    const { pointer } = object;
    const mib = (bytes / 1024 / 1024).toFixed(1);
    const message = `The object has ${mib} MiB as JSON, and API servers accept 3: split its content over several objects.`;
    problems.push({ code: 'object-too-large', severity: 'error', message, pointer, place: place(pointer) });
    return refusedObject(object);
  });
  return { objects: sized, problems };
}
