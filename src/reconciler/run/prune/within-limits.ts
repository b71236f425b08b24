// Decides whether the source of a live object may have such an object at all: a source must not delete objects beyond
// its limits.

import { idOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { labelOf, labelValue, OWNER, SOURCE } from '../labels.ts';
import type { LimitsBySource } from '../read/limits.ts';

/** Returns true if a source, named by its label, may declare the object or, for a child, its owner. */
export function couldDeclare(limits: LimitsBySource): (source: string, object: KubeObject) => boolean {
  const byLabel = new Map([...limits].map(([name, each]) => [labelValue(name), each]));
  return (source, object) => {
    const own = byLabel.get(source);
    if (own === undefined) return true;
    const id = idOf(object);
    return labelOf(object, OWNER) === undefined ? own.refusal(id) === undefined : own.allowsNamespace(id);
  };
}

/** Returns true if the limits of the source in the object's label include the object: the source may delete it. */
export function withinLimits(limits: LimitsBySource): (object: KubeObject) => boolean {
  const could = couldDeclare(limits);
  return (object) => could(labelOf(object, SOURCE) ?? '', object);
}
