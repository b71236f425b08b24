// Defines a table column: its name, and a function that reads its cell from an object.

import type { Json } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  /** If greater than 0, only `-o wide` shows the column. */
  readonly priority?: number;
  readonly cell: (object: KubeObject, now: number) => Json;
}
