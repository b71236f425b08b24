// Marks fields with a stricter pattern in files than in CustomResourceDefinitions, where a CEL rule or a rule of the
// kind checks the values.

import type { TString } from './json-schema.ts';

export const FILE_WORDS = 'x-skep-file';

/** Sets schema keywords that replace the schema's own keywords in a file. */
export function inFile(schema: TString, words: { readonly pattern: string }): TString {
  return Object.assign({ ...schema }, { [FILE_WORDS]: words });
}
