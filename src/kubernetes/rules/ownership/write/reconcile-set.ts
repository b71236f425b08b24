// Adapts a stored set to a changed schema: fields that became atomic are owned as a whole.

import { keyType, type MergeType } from '../../openapi.ts';
import { type FieldNode, type FieldSet, LEAF } from '../fieldset.ts';

export function reconcileSet(set: FieldSet, type: MergeType): FieldSet {
  return new Map([...set].map(([element, node]) => [element, reconcileBelow(element, node, type)]));
}

function reconcileBelow(element: string, node: FieldNode, type: MergeType): FieldNode {
  const below = typeBelow(element, type);
  if (below === undefined) return node;
  const atomic = below.map === undefined ? below.list?.merge === 'atomic' : below.map.atomic;
  return atomic ? LEAF : { member: node.member, children: reconcileSet(node.children, below) };
}

function typeBelow(element: string, type: MergeType): MergeType | undefined {
  if (type.map !== undefined) return keyType(type.map, element.slice(2));
  return type.list?.item();
}
