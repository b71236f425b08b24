// Defines the codes of findings about objects and their schemas.

export const SCHEMA_CODES = {
  'schema-unknown-field':
    'The schema has no such field, and the API server would drop it: correct its name, or remove it.',
  'schema-required':
    'A required field is missing, so the API server refuses the object: add the field; `skep explain KIND.path` describes it.',
  'schema-type':
    'The value has another JSON type than the schema requires: often a text that YAML reads as a number or a boolean, and that needs quotes.',
  'schema-enum': 'The value is not allowed: use exactly one of the values that the message lists.',
  'schema-pattern':
    'The text does not match the regular expression of the schema: write it in the form that the message describes.',
  'schema-format':
    'The text is not in the format that the schema names, such as base64, a time or a quantity: write it in that format.',
  'schema-range': 'The number is outside the bounds of the schema: use one between the bounds that the message names.',
  'schema-length': 'The text is shorter or longer than the schema allows: the message names the limit.',
  'schema-items': 'The list or mapping has fewer or more entries than the schema allows: the message names the limit.',
  'schema-duplicate-item':
    'Two entries of a list are equal, or have equal keys, which the schema forbids: remove one, or give it another key.',
  'schema-alternative':
    'The value fits none of the alternatives of the schema, too many, or one that is excluded: keep the fields of one alternative.',
  'schema-unchecked': 'A part of the schema could not be checked here; the API server will check it.',
  'invalid-name':
    'The name is not one that the API server accepts for this kind: the message says which characters and which length it may have.',
  'invalid-label':
    'The key or the value of a label breaks the rules of Kubernetes: the message says which characters and which length it may have.',
  'invalid-annotation':
    'The key of an annotation breaks the rules of Kubernetes, or all annotations together are larger than 256 KiB: shorten them.',
  'invalid-metadata':
    'Another field of the metadata breaks a rule for all objects: correct it as the message says, or leave it to the server.',
  'schema-not-structural':
    'An API server would refuse the CustomResourceDefinition: its names or versions are wrong, or its schema is not structural.',
  'cel-rule':
    'A validation rule of the schema (x-kubernetes-validations) is not fulfilled: the message comes from the rule.',
  'cel-error':
    'A validation rule failed while it was evaluated, so the API server refuses the object: set the fields that the rule reads.',
  'cel-compile':
    'A validation rule is not valid CEL over its schema, and an API server would refuse it: correct the CustomResourceDefinition.',
  'cel-unsupported':
    'A validation rule uses parts of CEL that cannot be evaluated without a cluster. The API server will evaluate it.',
} as const;

export type SchemaCode = keyof typeof SCHEMA_CODES;
