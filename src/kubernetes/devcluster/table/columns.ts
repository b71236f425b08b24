// Returns the table columns of a kind.

import type { ResourceType } from '../resources/resource-type.ts';
import { ageOf } from './age.ts';
import { BUILTIN_COLUMNS } from './builtin-columns.ts';
import type { Column } from './column.ts';
import { customColumns } from './custom-columns.ts';

const NAME: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  cell: (object) => object.metadata.name,
};

const AGE: Column = {
  name: 'Age',
  type: 'string',
  cell: (object, now) => ageOf(object.metadata.creationTimestamp, now),
};

/** The column after the name for kinds without special columns. */
export const CREATED_AT: Column = {
  name: 'Created At',
  type: 'date',
  cell: (object) => object.metadata.creationTimestamp ?? null,
};

export function columnsOf(type: ResourceType): readonly Column[] {
  if (type.custom !== undefined) return [NAME, ...customColumns(type.custom.printerColumns)];
  const own = BUILTIN_COLUMNS[`${type.group}/${type.kind}`];
  return own === undefined ? [NAME, CREATED_AT] : own(NAME, AGE);
}
