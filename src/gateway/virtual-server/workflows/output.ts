// Builds the typed output of a workflow from templates.

import { isObject, type Json, type JsonObject, parseJson } from '#std/json.ts';
import type { OutputProperty, Workflow } from './definition.ts';
import { type Expanded, expandText, fail, NO_VALUE, shorten } from './expand.ts';

export function makeOutput(
  { output, steps }: Workflow,
  data: JsonObject,
  outputOf: (step: string) => Json,
): Expanded<Json> {
  // Without a declared output, the output of the last listed step is the result, even if another step ended later
  // (CompositeToolConfig).
  if (output === undefined) return { ok: true, value: outputOf(steps.at(-1)?.id ?? '') };
  const made = makeProperties(output.properties, data, '');
  if (!made.ok) return made;
  const missing = output.required.find((name) => (made.value[name] ?? null) === null);
  if (missing !== undefined) return fail(`output ${missing} is required, but its template has no result`);
  return made;
}

function makeProperties(
  properties: readonly (readonly [name: string, OutputProperty])[],
  data: JsonObject,
  path: string,
): Expanded<JsonObject> {
  const values: JsonObject = {};
  for (const [name, property] of properties) {
    const made = makeProperty(property, data, `${path}${name}`);
    if (!made.ok) return made;
    if (made.value !== undefined) values[name] = made.value;
  }
  return { ok: true, value: values };
}

/** Returns the value of a property. Returns undefined if it has neither a value nor a default. */
function makeProperty(property: OutputProperty, data: JsonObject, path: string): Expanded<Json | undefined> {
  if (property.value === undefined) return makeProperties(property.properties, data, `${path}.`);
  const text = expandText(property.value, data);
  const converted = text.ok ? convert(property, text.value) : undefined;
  if (text.ok && text.value !== NO_VALUE && converted !== undefined) return { ok: true, value: converted };
  if (property.fallback !== undefined) return { ok: true, value: convertDefault(property) };
  if (!text.ok) return fail(`output ${path}: ${text.message}`);
  if (text.value === NO_VALUE) return { ok: true, value: undefined };
  return fail(
    `output ${path} must be of type ${property.type}, but its template results in ${JSON.stringify(shorten(text.value))}`,
  );
}

function convertDefault(property: OutputProperty): Json | undefined {
  const { fallback = null } = property;
  if (property.type === 'string') return typeof fallback === 'object' ? fallback : String(fallback);
  return typeof fallback === 'string' ? convert(property, fallback) : fallback;
}

/** Texts that Go parses as true. */
const TRUE = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const FALSE = ['0', 'f', 'F', 'FALSE', 'false', 'False'];

/** Converts the text. Returns undefined if the text does not fit the type. */
function convert({ type }: OutputProperty, text: string): Json | undefined {
  const word = text.trim();
  switch (type) {
    case 'string':
      return text;
    case 'integer':
      return /^[+-]?[0-9]+$/.test(word) ? Number(word) : wholeOf(word);
    case 'number':
      return word !== '' && Number.isFinite(Number(word)) ? Number(word) : undefined;
    case 'boolean':
      return TRUE.includes(word) ? true : FALSE.includes(word) ? false : undefined;
    case 'object': {
      const value = parseJson(word);
      return isObject(value) ? value : undefined;
    }
    case 'array': {
      const value = parseJson(word);
      return Array.isArray(value) ? value : undefined;
    }
  }
}

/** Parses an integer in another form, such as `3.0` or `1e3`. undefined if the number is not an integer. */
function wholeOf(word: string): number | undefined {
  return word !== '' && Number.isInteger(Number(word)) ? Number(word) : undefined;
}

/** Returns the JSON Schema of the output for clients. Returns undefined if no output is declared. */
export function outputSchema({ output }: Workflow, described: JsonObject | undefined): JsonObject | undefined {
  if (output === undefined || described === undefined) return undefined;
  const { required } = output;
  return {
    type: 'object',
    properties: schemasOf(described),
    ...(required.length > 0 ? { required: [...required] } : {}),
  };
}

function schemasOf(properties: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const { type = 'object', description, properties: inner } = isObject(property) ? property : {};
      const more = isObject(inner) ? { properties: schemasOf(inner) } : {};
      return [name, { type, ...(description === undefined ? {} : { description }), ...more }];
    }),
  );
}
