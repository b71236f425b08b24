// The columns of each kind's table. Knows nothing about how tables are sent.

import type { ResourceType } from '../resources/resource-type.ts';
import { ageOf } from './age.ts';
import type { Column } from './table.ts';

const NAME: Column = { name: 'Name', type: 'string', format: 'name', cell: (object) => object.metadata.name };

const AGE: Column = {
  name: 'Age',
  type: 'string',
  cell: (object, now) => ageOf(object.metadata.creationTimestamp, now),
};

export function columnsOf(_type: ResourceType): readonly Column[] {
  return [NAME, AGE];
}
