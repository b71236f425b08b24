// Words by which a file bounds a field more closely than a CustomResourceDefinition does: that one says it by CEL, or leaves
// it to the rules of its kind.

import type { TString } from './json-schema.ts';

export const FILE_WORDS = 'x-skep-file';

/** `words` stand in the place of those of the schema. */
export function inFile(schema: TString, words: { readonly pattern: string }): TString {
  return Object.assign({ ...schema }, { [FILE_WORDS]: words });
}
