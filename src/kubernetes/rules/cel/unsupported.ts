// Finds expressions whose lists have an `x-kubernetes-list-type` that this program does not support.

import type { ASTNode } from '@marcbachmann/cel-js';
import { nodesOf, schemaOf } from './inspect.ts';
import type { CelSchema } from './schema.ts';

/** Returns the reason why the expression cannot be evaluated. undefined if it can be evaluated. */
export function unsupportedLists(root: ASTNode, objects: ReadonlyMap<string, CelSchema>): string | undefined {
  for (const node of nodesOf(root)) {
    if (node.op !== '+' && node.op !== '==' && node.op !== '!=') continue;
    if (node.op !== '+' && node.args.some((side) => side.op === 'list' && side.args.length === 0)) continue;
    const [left, right] = node.args.map((side) => listTypeOf(schemaOf(side, objects)));
    if (left === undefined && right === undefined) continue;
    // If the left side is a set of scalars, the comparison ignores the order, as in Kubernetes.
    if (node.op !== '+' && left === 'set') continue;
    return `${node.op} on a list of type ${left ?? right} cannot be evaluated without a cluster`;
  }
  return undefined;
}

/** Returns undefined for lists without special comparison or concatenation. */
function listTypeOf(schema: CelSchema | undefined): string | undefined {
  if (schema?.type !== 'array' || schema.listType === 'atomic') return undefined;
  const scalars = schema.items?.type !== 'object' && schema.items?.type !== 'array';
  return schema.listType === 'set' && scalars ? 'set' : 'map';
}
