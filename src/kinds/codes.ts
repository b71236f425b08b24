// The codes of findings about our kinds. Knows nothing about how they are found.

export const KINDS_CODES = {
  'deprecated-field': 'The field is still read but will go away: write the field that the message names instead.',
} as const;
