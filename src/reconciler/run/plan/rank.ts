// Defines the order in which kinds are applied.

import { groupOf } from '#kubernetes/rules/object.ts';
import { applyOrder } from '#kubernetes/rules/order.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Kind } from '../../kinds/kind.ts';
import { levels } from './levels.ts';

/** Rank of our first kind, after all other kinds. */
const OURS = 1000;

/** Returns the rank of an object: other kinds in the usual order of Kubernetes tools, then our kinds by `after`. */
export function rankOf(kinds: readonly Kind[], apiGroup: string): (id: ResourceId) => number {
  const level = levels(kinds);
  return (id) =>
    groupOf(id.apiVersion) === apiGroup ? OURS + (level.get(id.kind) ?? 0) : applyOrder(id.apiVersion, id.kind);
}
