// Every code of a problem that the run itself finds, with what it means. The other areas have tables of their own.

export const RECONCILE_CODES = {
  'document-not-object': 'A document is no mapping: a manifest starts with `apiVersion`, `kind` and `metadata`.',
  'missing-identity':
    'A document lacks `apiVersion`, `kind` or `metadata.name`, so nobody can say which object it means.',
  'invalid-name': 'The name is not one the API server accepts for this kind.',
  'invalid-namespace': 'The namespace is missing, not allowed for this kind, or no valid name.',
  'invalid-label': 'A label key or value breaks the rules of Kubernetes; values are strings, quote them.',
  'invalid-annotation': 'An annotation key is invalid, or its value is no string; quote it.',
  'unknown-kind':
    'No built-in kind, none of ours, and no CustomResourceDefinition in the same input has this apiVersion and kind.',
  'duplicate-resource': 'The same object is declared twice; the problem names both places.',
} as const;
