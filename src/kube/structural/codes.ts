// The codes of findings about objects and the schemas they are held against. Knows nothing about how they are found.

export const SCHEMA_CODES = {
  'schema-unknown-field':
    'The schema has no such field, and the API server would drop it: correct its name, or remove it.',
  'schema-required': 'A required field is missing: add it.',
  'schema-type': 'The value has another JSON type than the schema asks for.',
  'schema-enum': 'The value is none of those allowed; the message lists them.',
  'schema-pattern': 'The text does not match the regular expression of the schema.',
  'schema-format': 'The text is not in the format that the schema names.',
  'schema-range': 'The number is outside of the bounds of the schema.',
  'schema-length': 'The text is shorter or longer than the schema allows.',
  'schema-items': 'The list or mapping has fewer or more entries than the schema allows.',
  'schema-duplicate-item': 'Two entries of a list are the same, or have the same keys, where the schema forbids it.',
  'schema-alternative': 'The value fits none of the alternatives of the schema, too many, or one that is excluded.',
  'schema-unchecked': 'A part of the schema could not be checked here; the API server will check it.',
  'invalid-name': 'The name is not one that the API server accepts for this kind.',
  'invalid-label': 'The key or the value of a label breaks the rules of Kubernetes.',
  'invalid-annotation':
    'The key of an annotation breaks the rules of Kubernetes, or all annotations together are too large.',
  'invalid-metadata': 'Another field of the metadata breaks a rule that holds for every object.',
  'schema-not-structural':
    'An API server would refuse the CustomResourceDefinition: its names or versions are wrong, or its schema is not structural.',
  'cel-rule':
    'A validation rule of the schema (x-kubernetes-validations) is not fulfilled; the message is the rule’s own.',
  'cel-error': 'A validation rule failed while it was evaluated, so the API server refuses the object.',
  'cel-compile': 'A validation rule is no valid CEL over its schema, and an API server would refuse it.',
  'cel-unsupported':
    'A validation rule uses what cannot be evaluated without a cluster; the API server will evaluate it.',
} as const;

export type SchemaCode = keyof typeof SCHEMA_CODES;
