// Decides whether the limits of a source allow it to declare a live object. A source must not delete objects that it
// may not declare.

import { idOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { labelOf, labelValue, OWNER, SOURCE } from '../labels.ts';
import type { LimitsBySource } from '../read/limits.ts';

/**
 * Returns a function that returns true if the source may declare the object, or if `limits` lacks the source. For a
 * child, the function returns true if the source may declare objects in the namespace of the child. `source` is the
 * value of the source label.
 */
export function couldDeclare(limits: LimitsBySource): (source: string, object: KubeObject) => boolean {
  const byLabel = new Map([...limits].map(([name, each]) => [labelValue(name), each]));
  return (source, object) => {
    const own = byLabel.get(source);
    if (own === undefined) return true;
    const id = idOf(object);
    return labelOf(object, OWNER) === undefined ? own.refusal(id) === undefined : own.allowsNamespace(id);
  };
}

/**
 * Returns a function that returns true if the object's own source may declare the object. Only then may the source
 * delete the object.
 */
export function withinLimits(limits: LimitsBySource): (object: KubeObject) => boolean {
  const could = couldDeclare(limits);
  return (object) => could(labelOf(object, SOURCE) ?? '', object);
}
