// Builds tables as `kubectl get` shows them (meta.k8s.io/v1 Table).

import type { JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import type { Column } from './column.ts';
import { CREATED_AT, columnsOf } from './columns.ts';

export interface TableOptions {
  readonly metadata: JsonObject;
  readonly now: number;
  /** `Metadata` (partial metadata per row), `Object` or `None`. */
  readonly include: string;
}

export function tableOf(type: ResourceType, objects: readonly KubeObject[], options: TableOptions): JsonObject {
  const columns = columnsOf(type);
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: options.metadata,
    columnDefinitions: columns.map(({ name, type: valueType, format = '', description = '', priority = 0 }) => ({
      name,
      type: valueType,
      format,
      description,
      priority,
    })),
    rows: rowsOf(columns, objects, options),
  };
}

/** Returns the rows. For kinds without special columns, the API server returns null instead of an empty list. */
function rowsOf(
  columns: readonly Column[],
  objects: readonly KubeObject[],
  options: TableOptions,
): JsonObject[] | null {
  if (objects.length === 0 && columns.some((column) => column === CREATED_AT)) return null;
  return objects.map((object) => ({
    cells: columns.map((column) => column.cell(object, options.now)),
    ...includedObject(object, options.include),
  }));
}

function includedObject(object: KubeObject, include: string): JsonObject {
  if (include === 'None') return { object: null };
  if (include === 'Object') return { object: object };
  const metadata = object.metadata;
  return { object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata } };
}
