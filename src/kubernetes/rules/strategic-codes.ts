// Defines the codes of findings about strategic merge patches.

export const STRATEGIC_CODES = {
  'patch-directive-unknown': 'A $patch directive is not merge, replace or delete: correct or remove it.',
  'patch-key-missing': 'An item of a merged list lacks the field that identifies items: add it.',
  'patch-retain-keys': 'The patch sets a field that its own $retainKeys does not keep: add it there, or remove it.',
} as const;
