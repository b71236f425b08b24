// Marks fields that a file bounds more closely than a CustomResourceDefinition, in which a CEL rule or the rules of the
// kind set the bound.

import type { TString } from './json-schema.ts';

export const FILE_WORDS = 'x-skep-file';

/** Sets the words that replace those of the schema in a file. */
export function inFile(schema: TString, words: { readonly pattern: string }): TString {
  return Object.assign({ ...schema }, { [FILE_WORDS]: words });
}
