// Defines the marks that schemas carry for our own readers. CustomResourceDefinitions are written without them.

import { isObject, type JsonObject } from '../json.ts';

/** Marks a field that is still read but should no longer be written. The value is a `Deprecation`. */
export const DEPRECATED = 'x-skep-deprecated';

/**
 * Marks a field that is another name of the field at the path in the value (`groupRef`, `config.groupRef`), in the same
 * object.
 */
export const ALIAS_OF = 'x-skep-alias-of';

/** Marks a choice. The value maps other words to the words that they mean. */
export const OLD_WORDS = 'x-skep-old-words';

/** Marks a choice. The value maps current words to the words of `NEXT_VERSION`. */
export const NEW_WORDS = 'x-skep-new-words';

/** Marks a name that may also be written as an object with that name. */
export const REFERENCE = 'x-skep-reference';

/** Marks a schema with rules that are checked in code. The value is a list of objects, each with its `message`. */
export const RULES = 'x-skep-rules';

/** Marks an object that breaks one of its rules if it is empty, although it has no required field. */
export const NEVER_EMPTY = 'x-skep-never-empty';

export type Deprecation = {
  /** The field, or the word, to write instead. */
  readonly use: string;
  /** The version of the API in which the field is deprecated. If absent, it is deprecated in every version. */
  readonly since?: string;
};

/** Returns the deprecation in the schema of a field. */
export function deprecationOf(schema: JsonObject): Deprecation | undefined {
  const mark = schema[DEPRECATED];
  if (!isObject(mark) || typeof mark.use !== 'string') return undefined;
  const { use, since } = mark;
  return {
    use,
    ...(typeof since === 'string' ? { since } : {}),
  };
}

/** The version in which some fields have another name. Old names of fields are read in it, too. */
export const NEXT_VERSION = 'v1beta1';

/** A CEL rule over the value that carries it (`self`), with the message for authors if it is false. */
export interface Validation {
  readonly rule: string;
  readonly message: string;
  /** The field that the message is about, below the value that carries the rule: `.metadata.name`. */
  readonly fieldPath?: string;
}

/** Returns a sentence for the description of the field. */
export function deprecationSentence({ use, since }: Deprecation): string {
  if (since !== undefined) return `In ${since}, use ${use} instead.`;
  return `Deprecated: use ${use} instead.`;
}
