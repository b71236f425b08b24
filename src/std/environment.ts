// Settings out of environment variables, as their schema names them: `apply.maxDeletes` is PREFIX_APPLY_MAXDELETES. Pure:
// the environment is passed in.

import { closest } from './closest.ts';
import { isObject, type Json, type JsonObject } from './json.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The value with what the environment says over it; lists and objects are written as JSON. */
export function withEnvironment(
  schema: JsonObject,
  value: JsonObject,
  prefix: string,
  environment: Environment,
): JsonObject {
  const result: JsonObject = { ...value };
  const properties = isObject(schema.properties) ? schema.properties : {};
  for (const [name, property] of Object.entries(properties)) {
    if (!isObject(property)) continue;
    const variable = `${prefix}_${name.toUpperCase()}`;
    const set = environment[variable];
    const current = result[name];
    if (set !== undefined) result[name] = parseVariable(property, set);
    else if (property.type === 'object' && (current === undefined || isObject(current))) {
      const nested = withEnvironment(property, current ?? {}, variable, environment);
      if (Object.keys(nested).length > 0) result[name] = nested;
    }
  }
  return result;
}

/**
 * Variables that set nothing and are spelled nearly as one that would, each with what was meant. Others of the prefix may be
 * for other programs: Kubernetes makes some for every Service.
 */
export function misspelledVariables(
  schema: JsonObject,
  prefix: string,
  environment: Environment,
): readonly { readonly variable: string; readonly meant: string }[] {
  const names = variablesOf(schema, '');
  return Object.keys(environment).flatMap((variable) => {
    if (!variable.startsWith(`${prefix}_`) || environment[variable] === undefined) return [];
    const name = variable.slice(prefix.length + 1);
    const near = names.includes(name) ? undefined : closest(name, names);
    return near === undefined ? [] : [{ variable, meant: `${prefix}_${near}` }];
  });
}

function variablesOf(schema: JsonObject, prefix: string): readonly string[] {
  const properties = isObject(schema.properties) ? schema.properties : {};
  return Object.entries(properties).flatMap(([name, property]) => {
    const variable = `${prefix}${name.toUpperCase()}`;
    return isObject(property) ? [variable, ...variablesOf(property, `${variable}_`)] : [];
  });
}

/** The variable that the value at a JSON pointer comes from; undefined where none does. */
export function variableOf(pointer: string, prefix: string, environment: Environment): string | undefined {
  const names = pointer.split('/').slice(1);
  const variables = names.map((_, index) => [prefix, ...names.slice(0, index + 1)].join('_').toUpperCase());
  return variables.find((variable) => environment[variable] !== undefined);
}

function parseVariable(property: JsonObject, text: string): Json {
  if (property.type === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    // No JSON: the schema says what it should have been.
    return text;
  }
}
