// Where lists with `x-kubernetes-list-type` behave unlike other lists, and this program does not follow.

import type { ASTNode } from '@marcbachmann/cel-js';
import { nodesOf, schemaOf } from './inspect.ts';
import type { CelSchema } from './schema.ts';

/** Why the expression cannot be evaluated; undefined where it can. */
export function unsupportedLists(root: ASTNode, objects: ReadonlyMap<string, CelSchema>): string | undefined {
  for (const node of nodesOf(root)) {
    if (node.op !== '+' && node.op !== '==' && node.op !== '!=') continue;
    if (node.op !== '+' && node.args.some((side) => side.op === 'list' && side.args.length === 0)) continue;
    const [left, right] = node.args.map((side) => listTypeOf(schemaOf(side, objects)));
    if (left === undefined && right === undefined) continue;
    // Sets of scalars are compared without minding the order, where the left side says so.
    if (node.op !== '+' && left === 'set') continue;
    return `${node.op} on a list of type ${left ?? right} cannot be evaluated without a cluster`;
  }
  return undefined;
}

/** Undefined for lists that are like all others. */
function listTypeOf(schema: CelSchema | undefined): string | undefined {
  if (schema?.type !== 'array' || schema.listType === 'atomic') return undefined;
  const scalars = schema.items?.type !== 'object' && schema.items?.type !== 'array';
  return schema.listType === 'set' && scalars ? 'set' : 'map';
}
