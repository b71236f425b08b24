// Applies settings from environment variables. The setting `apply.maxDeletes` has the variable PREFIX_APPLY_MAXDELETES.

import { closest } from './closest.ts';
import { isObject, type Json, type JsonObject } from './json.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the value, overridden by environment variables. Variables of lists and objects contain JSON. */
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
 * Finds variables that no setting has. Returns each with the similar variable of a setting (`meant`). Variables without
 * a similar variable are ignored, because Kubernetes creates variables with the prefix for each Service.
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

/** Returns the variable that sets the value at a JSON pointer. Returns undefined if no variable sets it. */
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
    // For a text that is not JSON, the schema reports the expected type.
    return text;
  }
}
