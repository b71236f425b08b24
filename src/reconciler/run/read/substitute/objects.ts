// Replaces the variables in the objects of one document.

import type { Problem } from '#std/problem.ts';
import type { ReadDocument } from '#std/yaml/yaml.ts';
import { type ParsedObject, refusedObject } from '../parsed-object.ts';
import type { SourceFile } from '../source-file.ts';
import { hasExpression } from './expressions.ts';
import { substitute } from './substitute.ts';
import type { Variables } from './variables.ts';

interface SubstitutedObjects {
  readonly objects: readonly ParsedObject[];
  /** Problems without the field `resource`. */
  readonly problems: readonly Problem[];
}

/**
 * Maximum characters of all replaced texts of one document: the larger of this number and `LENGTH_FACTOR` times the
 * length of its file. Short expressions can repeat a long value many times.
 */
const LENGTH_MIN = 64 * 1024;
const LENGTH_FACTOR = 8;

export function substituteObjects(
  { variables, text }: Pick<SourceFile, 'variables' | 'text'>,
  { place }: Pick<ReadDocument, 'place'>,
  objects: readonly ParsedObject[],
): SubstitutedObjects {
  if (variables === undefined) return { objects, problems: [] };
  const problems: Problem[] = [];
  let left = Math.max(LENGTH_MIN, text.length * LENGTH_FACTOR);
  const substituted = objects.map((object): ParsedObject => {
    const { value, faults, unknown, length } = substitute(object.value, variables, left);
    left -= length;
    for (const { code, message, pointer: inner } of faults) {
      const pointer = object.pointer + inner;
      problems.push({ code, severity: 'error', message, pointer, place: place(pointer) });
    }
    if (faults.length > 0) return refusedObject(object);
    return unknown.length > 0 ? { ...object, value, unknown } : { ...object, value };
  });
  return { objects: substituted, problems };
}

/**
 * Adds the variables to files with expressions. Adds the digest of the variables to the ids of these files, so that
 * equal ids mean equal values.
 */
export function withVariables(files: readonly SourceFile[], variables: Variables): readonly SourceFile[] {
  return files.map((file) =>
    hasExpression(file.text) ? { ...file, oid: `${file.oid} ${variables.digest}`, variables } : file,
  );
}
