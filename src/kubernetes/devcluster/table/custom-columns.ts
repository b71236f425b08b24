// Returns the table columns of a custom kind: the printer columns of its CRD, or the age if the CRD has none.

import type { Json, JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { ageOf } from './age.ts';
import type { Column } from './column.ts';
import { type JsonPath, parseJsonPath, valuesAt } from './json-path.ts';

const CREATED: JsonObject = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

export function customColumns(declared: readonly JsonObject[]): readonly Column[] {
  return (declared.length === 0 ? [CREATED] : declared).map((column) => {
    const type = String(column.type ?? 'string');
    const path = parseJsonPath(String(column.jsonPath ?? ''));
    const { format, description, priority } = column;
    return {
      name: String(column.name ?? ''),
      type,
      format: typeof format === 'string' ? format : undefined,
      description:
        typeof description === 'string'
          ? description
          : `Custom resource definition column (in JSONPath format): ${String(column.jsonPath)}`,
      priority: typeof priority === 'number' ? priority : undefined,
      cell: (object, now) => cellOf(type, path, object, now),
    };
  });
}

/** Returns the cell. null if the path has no value or a value of another type. */
function cellOf(type: string, path: JsonPath | undefined, object: KubeObject, now: number): Json {
  const values = path === undefined ? [] : valuesAt(object, path);
  const [first] = values;
  if (first === undefined || first === null) return null;
  switch (type) {
    case 'integer':
      return typeof first === 'number' ? Math.trunc(first) : null;
    case 'number':
      return typeof first === 'number' ? first : null;
    case 'boolean':
      return typeof first === 'boolean' ? first : null;
    case 'date':
      return typeof first === 'string' ? dateCell(first, now) : null;
    default:
      return values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(' ');
  }
}

function dateCell(time: string, now: number): string {
  return Number.isNaN(Date.parse(time)) ? '<invalid>' : ageOf(time, now);
}
