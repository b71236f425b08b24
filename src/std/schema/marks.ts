// Defines marks of schemas for this program. CustomResourceDefinitions do not contain the marks.

import { isObject, type JsonObject } from '../json.ts';

/** Marks a field that is still read but should no longer be written. The value of the mark is a `Deprecation`. */
export const DEPRECATED = 'x-skep-deprecated';

/**
 * Marks a field that is another name for a field of the same object. The value of the mark is the path of that field,
 * such as `groupRef` or `config.groupRef`.
 */
export const ALIAS_OF = 'x-skep-alias-of';

/** Marks a choice. The value of the mark maps old words to current words. */
export const OLD_WORDS = 'x-skep-old-words';

/** Marks a choice. The value of the mark maps current words to words of `NEXT_VERSION`. */
export const NEW_WORDS = 'x-skep-new-words';

/** Marks a name that may also be written as `{name: ...}`. */
export const REFERENCE = 'x-skep-reference';

/** Marks a schema with rules that code checks. The value of the mark is a list of objects with `message`. */
export const RULES = 'x-skep-rules';

/** Marks an object without required fields that breaks a rule if it is empty. */
export const NEVER_EMPTY = 'x-skep-never-empty';

export type Deprecation = {
  /** The field or word to write instead. */
  readonly use: string;
  /** API version in which the field is deprecated. If absent, the field is deprecated in all versions. */
  readonly since?: string;
};

/** Returns the deprecation in the schema of a field. Returns undefined if the field is not deprecated. */
export function deprecationOf(schema: JsonObject): Deprecation | undefined {
  const mark = schema[DEPRECATED];
  if (!isObject(mark) || typeof mark.use !== 'string') return undefined;
  const { use, since } = mark;
  return {
    use,
    ...(typeof since === 'string' ? { since } : {}),
  };
}

/** API version in which some fields have another name. Old names are also read in this version. */
export const NEXT_VERSION = 'v1beta1';

/** A CEL rule for the value that has it (`self`), and the message for authors if the rule is false. */
export interface RuleMark {
  readonly rule: string;
  readonly message: string;
  /** Field to which the message refers, relative to the value: `.metadata.name`. */
  readonly fieldPath?: string;
}

export function deprecationSentence({ use, since }: Deprecation): string {
  if (since !== undefined) return `In ${since}, use ${use} instead.`;
  return `Deprecated: use ${use} instead.`;
}
