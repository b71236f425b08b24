// Marks fields whose pattern is stricter in files than in CustomResourceDefinitions. For resources, a CEL rule or the
// code of the kind checks the value.

import type { TString } from './json-schema.ts';

export const FILE_WORDS = 'x-skep-file';

/** Sets schema keywords that replace the field's own keywords in files. */
export function inFile(schema: TString, words: { readonly pattern: string }): TString {
  return Object.assign({ ...schema }, { [FILE_WORDS]: words });
}
