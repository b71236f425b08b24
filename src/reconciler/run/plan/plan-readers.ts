// Adapts plans for users who may read but not change the cluster. If the server forbids every dry run, the plan
// contains one warning, and no change is regarded as refused.

import type { Problem } from '#std/problem.ts';
import type { Change, Plan } from './plan.ts';

export function withoutForbidden(plan: Plan): { readonly plan: Plan; readonly problems: readonly Problem[] } {
  const previews = plan.batches.flatMap(({ changes }) => changes.flatMap((change) => previewOf(change) ?? []));
  const asked = previews.filter(({ result }) => result !== 'skipped');
  const forbidden = asked.filter((preview) => preview.result === 'refused' && preview.code === 'cluster-forbidden');
  if (asked.length === 0 || forbidden.length < asked.length) return { plan, problems: [] };
  const batches = plan.batches.map((batch) => ({ ...batch, changes: batch.changes.map(unasked) }));
  const message = 'the server forbids dry runs to this account, so it has checked none of these changes';
  return { plan: { ...plan, batches }, problems: [{ code: 'preview-forbidden', severity: 'warning', message }] };
}

function previewOf(change: Change) {
  return change.action === 'delete' ? undefined : change.preview;
}

function unasked(change: Change): Change {
  if (change.action === 'delete') return change;
  const { preview: _preview, ...rest } = change;
  return rest;
}
