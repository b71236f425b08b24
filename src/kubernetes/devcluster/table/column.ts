// Defines the type of a table's column: its name, and the function that reads its cell from an object.

import type { Json } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  /** If above 0, the column is shown only with `-o wide`. */
  readonly priority?: number;
  readonly cell: (object: KubeObject, now: number) => Json;
}
