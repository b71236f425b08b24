// Collects the changes of runs whose notices were not sent.

import { isObject, type Json } from '#std/json.ts';
import type { RunRecord } from '../history/ports.ts';
import { CHANGE_ACTIONS, type ChangeAction, type UnsentChanges } from './ports.ts';

/** Maximum number of stored changes. They are in a ConfigMap of at most 1 MiB. */
const OUTCOMES_MAX = 50;

/** Returns the earlier changes and the changes of the run. Returns `earlier` itself if the run changed nothing. */
export function addChanges(earlier: UnsentChanges | undefined, record: RunRecord): UnsentChanges | undefined {
  const { summary, outcomes } = record;
  if (CHANGE_ACTIONS.every((action) => summary[action] === 0)) return earlier;
  const changed = outcomes.flatMap(({ action, resource }) => (isChange(action) ? [{ action, resource }] : []));
  return {
    summary: countBy((action) => (earlier?.summary[action] ?? 0) + summary[action]),
    outcomes: [...(earlier?.outcomes ?? []), ...changed],
  };
}

export function limitOutcomes({ summary, outcomes }: UnsentChanges): UnsentChanges {
  return { summary, outcomes: outcomes.slice(0, OUTCOMES_MAX) };
}

/** Returns the changes; undefined if the stored value has another format. */
export function readUnsent(value: Json | undefined): UnsentChanges | undefined {
  if (!isObject(value) || !isObject(value.summary) || !Array.isArray(value.outcomes)) return undefined;
  const counts = value.summary;
  const outcomes = value.outcomes.flatMap((each) => {
    if (!isObject(each) || !isChange(each.action) || typeof each.resource !== 'string') return [];
    return [{ action: each.action, resource: each.resource }];
  });
  return { summary: countBy((action) => Number(counts[action]) || 0), outcomes };
}

function isChange(action: Json | undefined): action is ChangeAction {
  return CHANGE_ACTIONS.some((each) => each === action);
}

function countBy(count: (action: ChangeAction) => number): UnsentChanges['summary'] {
  return { created: count('created'), configured: count('configured'), deleted: count('deleted') };
}
