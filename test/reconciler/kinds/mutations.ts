// Other values for the fields of a manifest: each place that holds a plain value, and what could stand there instead.

import { isObject, type Json, type JsonObject, pointerToken } from '#std/json.ts';

export interface Place {
  /** Of the value, in the manifest. */
  readonly pointer: string;
  readonly path: readonly (string | number)[];
  readonly value: Json;
}

/** Every plain value below, and every list or map that is empty. */
export function placesOf(value: Json | undefined, path: readonly (string | number)[] = []): readonly Place[] {
  if (value === undefined) return [];
  const children = Array.isArray(value)
    ? value.map((item, index) => [index, item] as const)
    : isObject(value)
      ? Object.entries(value)
      : [];
  if (children.length > 0) return children.flatMap(([key, child]) => placesOf(child, [...path, key]));
  if (isObject(value) || Array.isArray(value)) return [];
  return [{ pointer: path.map((key) => `/${pointerToken(String(key))}`).join(''), path, value }];
}

/** `spec.registries[].name`: places of one field look alike. */
export function fieldOf({ path }: Place): string {
  return path
    .map((key) => (typeof key === 'number' ? '[]' : `.${key}`))
    .join('')
    .slice(1);
}

/** The manifest with another value in that place. */
export function withValue(manifest: JsonObject, [key, ...rest]: readonly (string | number)[], value: Json): JsonObject {
  return replaced(manifest, [key ?? '', ...rest], value) as JsonObject;
}

function replaced(node: Json | undefined, [key, ...rest]: readonly (string | number)[], value: Json): Json {
  if (key === undefined) return value;
  if (Array.isArray(node)) return node.map((item, index) => (index === key ? replaced(item, rest, value) : item));
  return { ...(isObject(node) ? node : {}), [key]: replaced(isObject(node) ? node[key] : undefined, rest, value) };
}

/** Values of the same sort, the likeliest to be valid first. `words`: what the schema lets stand there, where it lists them. */
export function othersThan(value: Json, words: readonly Json[]): readonly Json[] {
  const listed = words.filter((word) => word !== value);
  if (listed.length > 0) return listed;
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number') return [value + 1, value - 1];
  if (typeof value !== 'string') return [];
  return [
    ...(/^\d+(\.\d+)?$/.test(value) ? [`0.${value.length + 1}`, '1'] : []),
    ...(/\d/.test(value) ? [value.replace(/\d/, (digit) => String((Number(digit) % 8) + 1))] : []),
    ...(/^https?:/.test(value) ? [`${value.replace(/\/$/, '')}/other`, value.replace('://', '://other.')] : []),
    `other-${value}`,
    `other${value}`,
    `${value}x`,
    value.replace(/[a-z](?=[^a-z]*$)/, (letter) => (letter === 'q' ? 'r' : 'q')),
    'other',
  ].filter((other) => other !== value);
}
