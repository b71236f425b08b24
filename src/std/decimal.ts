// Defines fields that contain a decimal number as text, because JSON numbers in a resource can lose digits.

import { inFile } from './file-words.ts';
import type { TString } from './json-schema.ts';
import { text } from './schema.ts';

interface Bounds {
  /** Name of the field in the message. */
  readonly field: string;
  /** Maximum as text, such as `1.0`, for the CEL rule and its message. The minimum is 0. */
  readonly most: string;
  readonly default?: string;
}

const PATTERN = '^([0-9]*[.])?[0-9]+$';

export function decimal(description: string, { field, most, default: fallback }: Bounds): TString {
  const schema = text(description, {
    ...(fallback === undefined ? {} : { default: fallback }),
    maxLength: 32,
    validations: [
      {
        rule: `self.matches('${PATTERN}') && double(self) <= ${most}`,
        message: `${field} must be a number between 0.0 and ${most}`,
      },
    ],
  });
  return inFile(schema, { pattern: PATTERN });
}
