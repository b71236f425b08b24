// Evaluates the templates of a workflow as texts, conditions, lists and arguments.

import { runTemplate } from '#contracts/virtual-model/template/run.ts';
import { place } from '#contracts/virtual-model/workflow/templates.ts';
import { isObject, type Json, type JsonObject, parseJson } from '#std/json.ts';
import type { Argument, Expression } from './definition.ts';

export type Expanded<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

/** Text that Go prints for a missing value. */
export const NO_VALUE = '<no value>';

export function expandText({ template, source }: Expression, data: JsonObject): Expanded<string> {
  const run = runTemplate(template, data);
  if ('text' in run) return { ok: true, value: run.text };
  return fail(`the template ${shorten(source)} fails at ${place(source, run.fault.at)}: ${run.fault.message}`);
}

export function shorten(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`;
}

export function fail(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}

export function expandCondition(expression: Expression, data: JsonObject): Expanded<boolean> {
  const text = expandText(expression, data);
  if (!text.ok) return text;
  const word = text.value.trim();
  if (['true', 'True', 'TRUE'].includes(word)) return { ok: true, value: true };
  if (['false', 'False', 'FALSE'].includes(word)) return { ok: true, value: false };
  return fail(
    `the condition ${shorten(expression.source)} must result in true or false, not ${JSON.stringify(shorten(word))}`,
  );
}

export function expandList(expression: Expression, data: JsonObject): Expanded<readonly Json[]> {
  const text = expandText(expression, data);
  if (!text.ok) return text;
  const value = parseJson(text.value);
  if (Array.isArray(value)) return { ok: true, value };
  const source = shorten(expression.source);
  return fail(`the collection ${source} must result in a JSON list, not ${JSON.stringify(shorten(text.value))}`);
}

/**
 * Evaluates arguments. Converts texts of templates to the types in the tool's schema, and leaves out missing values.
 */
export function expandArguments(
  given: readonly (readonly [name: string, Argument])[],
  data: JsonObject,
  schema: JsonObject | undefined,
): Expanded<JsonObject> {
  const properties = isObject(schema?.properties) ? schema.properties : {};
  const values: JsonObject = {};
  for (const [name, argument] of given) {
    if ('value' in argument) {
      values[name] = argument.value;
      continue;
    }
    const text = expandText(argument.expression, data);
    if (!text.ok) return fail(`argument ${name}: ${text.message}`);
    if (text.value !== NO_VALUE)
      values[name] = convertText(text.value, Object.hasOwn(properties, name) ? properties[name] : undefined);
  }
  return { ok: true, value: values };
}

/**
 * Converts a text to a type in the schema. A text that does not fit stays a text, so that the tool reports the fault.
 */
function convertText(text: string, schema: Json | undefined): Json {
  const type = isObject(schema) ? schema.type : undefined;
  const types = Array.isArray(type) ? type : [type];
  if (types.includes('string')) return text;
  const value = parseJson(text.trim());
  if (value === undefined) return text;
  const fits = types.some((each) => {
    switch (each) {
      case 'integer':
        return Number.isInteger(value);
      case 'number':
      case 'boolean':
        return typeof value === each;
      case 'array':
        return Array.isArray(value);
      case 'object':
        return isObject(value);
      case 'null':
        return value === null;
      default:
        return false;
    }
  });
  return fits ? value : text;
}
