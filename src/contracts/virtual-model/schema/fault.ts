// Finds the reason why values cannot be checked against a JSON Schema: keywords that `misfitsOf` does not support,
// patterns that RE2 does not support, and references to other documents.

import { isObject, type Json } from '#std/json.ts';
import { compilePattern } from './scalars.ts';

const UNKNOWN = ['unevaluatedItems', 'unevaluatedProperties', '$dynamicRef', '$recursiveRef'];

/** Returns undefined if values can be checked. The reason has no capital letter and no full stop. */
export function schemaFault(schema: Json | undefined): string | undefined {
  if (Array.isArray(schema)) return firstFault(schema);
  if (!isObject(schema)) return undefined;
  const {
    pattern,
    patternProperties,
    $ref,
    properties,
    default: _default,
    const: _const,
    enum: _enum,
    ...rest
  } = schema;
  const word = UNKNOWN.find((each) => schema[each] !== undefined);
  if (word !== undefined) return `the word ${word} of JSON Schema has no effect here: leave it out`;
  const patterns = [
    ...(typeof pattern === 'string' ? [pattern] : []),
    ...(isObject(patternProperties) ? Object.keys(patternProperties) : []),
  ];
  for (const each of patterns) {
    const compiled = compilePattern(each);
    if (!compiled.ok) return `the pattern ${each} cannot be used: ${compiled.reason}`;
  }
  if (typeof $ref === 'string' && !/^#(\/|$)/.test($ref))
    return `$ref ${$ref} must be a pointer into the schema, as #/$defs/name`;
  const named = [properties, patternProperties].flatMap((each) => (isObject(each) ? Object.values(each) : []));
  return firstFault([...named, ...Object.values(rest)]);
}

function firstFault(schemas: readonly (Json | undefined)[]): string | undefined {
  for (const each of schemas) {
    const fault = schemaFault(each);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
