// Checks the output of a workflow with rules that its schema does not contain, because properties can be nested.

import { isObject, type Json, type JsonObject, parseJson, pointerToken } from '#std/json.ts';
import { problem, type Workflow, type WorkflowFinding } from './workflow.ts';

const TYPES = ['string', 'integer', 'number', 'boolean', 'object', 'array'] as const;
type Type = (typeof TYPES)[number];
const FIELDS = ['type', 'description', 'value', 'properties', 'default'];

/** ToolHive's maximum depth of properties. */
const MAX_DEPTH = 10;

/** `pointer`: pointer of the workflow. */
export function outputFindings({ output }: Workflow, pointer: string): readonly WorkflowFinding[] {
  return Object.entries(output?.properties ?? {}).flatMap(([name, { type, properties, default: fallback }]) => {
    const at = `${pointer}/output/properties/${pointerToken(name)}`;
    return [...defaultFindings(type, fallback, at), ...nestedFindings(properties ?? {}, `${at}/properties`, 2)];
  });
}

function nestedFindings(
  properties: Readonly<Record<string, Json | undefined>>,
  pointer: string,
  depth: number,
): readonly WorkflowFinding[] {
  if (depth > MAX_DEPTH) return [wrong(pointer, `properties are nested deeper than ${MAX_DEPTH} levels`)];
  return Object.entries(properties).flatMap(([name, property]) => {
    const at = `${pointer}/${pointerToken(name)}`;
    return isObject(property) ? propertyFindings(property, at, depth) : [wrong(at, 'must be a mapping with a type')];
  });
}

function propertyFindings(property: JsonObject, pointer: string, depth: number): readonly WorkflowFinding[] {
  const { type, properties, default: fallback } = property;
  const unknown = Object.keys(property).filter((field) => !FIELDS.includes(field));
  const known = TYPES.find((each) => each === type);
  return [
    ...unknown.map((field) =>
      wrong(`${pointer}/${pointerToken(field)}`, `there is no field ${field}: the fields are ${FIELDS.join(', ')}`),
    ),
    ...(known === undefined ? [wrong(`${pointer}/type`, `type must be one of ${TYPES.join(', ')}`)] : []),
    ...(known === undefined ? [] : sourceFindings(known, property, pointer)),
    ...(known === undefined ? [] : defaultFindings(known, fallback, pointer)),
    ...(isObject(properties) ? nestedFindings(properties, `${pointer}/properties`, depth + 1) : []),
  ];
}

/** Checks that a property has either `value` or `properties`. */
function sourceFindings(type: Type, { value, properties }: JsonObject, pointer: string): readonly WorkflowFinding[] {
  if (value !== undefined && typeof value !== 'string')
    return [wrong(`${pointer}/value`, 'value must be a template, as text')];
  if (properties !== undefined && !isObject(properties))
    return [wrong(`${pointer}/properties`, 'properties must be a mapping')];
  if (type !== 'object') {
    if (value !== undefined && properties === undefined) return [];
    return [wrong(pointer, "value must be set, and properties must not be set, when type is not 'object'")];
  }
  if ((value === undefined) !== (properties === undefined)) return [];
  return [wrong(pointer, "exactly one of value and properties must be set when type is 'object'")];
}

function defaultFindings(type: Type, value: Json | undefined, pointer: string): readonly WorkflowFinding[] {
  if (value === undefined || value === null || isConvertible(type, value)) return [];
  return [wrong(`${pointer}/default`, `default cannot be converted to type ${type}`)];
}

/** The texts that Go converts to booleans. */
const TRUTHS = ['1', 't', 'T', 'TRUE', 'true', 'True', '0', 'f', 'F', 'FALSE', 'false', 'False'];

function isConvertible(type: Type, value: Exclude<Json, null>): boolean {
  switch (type) {
    case 'string':
      return typeof value !== 'object';
    case 'boolean':
      return typeof value === 'boolean' || (typeof value === 'string' && TRUTHS.includes(value));
    case 'integer':
      return typeof value === 'string' ? /^[+-]?[0-9]+$/.test(value) : Number.isInteger(value);
    case 'number':
      return typeof value === 'string'
        ? value.trim() !== '' && Number.isFinite(Number(value))
        : typeof value === 'number';
    case 'object':
      return isObject(typeof value === 'string' ? parseJson(value) : value);
    case 'array':
      return Array.isArray(typeof value === 'string' ? parseJson(value) : value);
  }
}

function wrong(pointer: string, message: string): WorkflowFinding {
  return problem('workflow-output-invalid', pointer, message);
}
