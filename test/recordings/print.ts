// A recording as text that people read: JSON, on one line what fits on one line.

import type { Json } from '#std/json.ts';
import { isObject } from '#std/json.ts';

const WIDTH = 120;

export function printJson(value: Json, indent = ''): string {
  const line = inline(value);
  if (indent.length + line.length <= WIDTH) return line;
  const deeper = `${indent}  `;
  if (Array.isArray(value)) {
    return `[\n${value.map((item) => `${deeper}${printJson(item, deeper)}`).join(',\n')}\n${indent}]`;
  }
  if (!isObject(value)) return line;
  const fields = Object.entries(value).map(
    ([key, child]) => `${deeper}${JSON.stringify(key)}: ${printJson(child ?? null, deeper)}`,
  );
  return `{\n${fields.join(',\n')}\n${indent}}`;
}

function inline(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, child]) => `${JSON.stringify(key)}: ${inline(child ?? null)}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}
