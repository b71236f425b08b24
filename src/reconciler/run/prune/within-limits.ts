// Whether the source of a live object may have such an object at all: what is beyond that is not the source's to give up.

import { idOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { labelOf, labelValue, OWNER, SOURCE } from '../labels.ts';
import type { LimitsBySource } from '../read/limits.ts';

/** Whether a source, by its label, may declare such an object, or the owner of such a child. */
export function couldDeclare(limits: LimitsBySource): (source: string, object: KubeObject) => boolean {
  const byLabel = new Map([...limits].map(([name, each]) => [labelValue(name), each]));
  return (source, object) => {
    const own = byLabel.get(source);
    if (own === undefined) return true;
    const id = idOf(object);
    return labelOf(object, OWNER) === undefined ? own.refusal(id) === undefined : own.allowsNamespace(id);
  };
}

/** Whether the source that an object says it comes from may have, and so may give up, such an object. */
export function withinLimits(limits: LimitsBySource): (object: KubeObject) => boolean {
  const could = couldDeclare(limits);
  return (object) => could(labelOf(object, SOURCE) ?? '', object);
}
