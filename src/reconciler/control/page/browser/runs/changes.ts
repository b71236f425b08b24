// Renders the changes of a run, folded by the resource of the fleet that the changed objects belong to.

import { h } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { FleetEntry } from '../../../../run/fleet-state/format.ts';
import type { RecordedDifference, RecordedOutcome } from '../../../../run/history/ports.ts';
import { valueText } from '../resource/differences.ts';
import { resourceAddress } from '../route.ts';

interface Props {
  readonly outcomes: readonly RecordedOutcome[];
  readonly entries: readonly FleetEntry[];
}

/** Number of groups that are shown at first. */
const GROUPS_MAX = 12;

export function Changes({ outcomes, entries }: Props) {
  const [isWhole, setWhole] = useState(false);
  const known = useMemo(() => new Set(entries.map(({ id }) => id)), [entries]);
  if (outcomes.length === 0) return null;
  const groups = [...Map.groupBy(outcomes, ({ owner, resource }) => owner ?? resource)].toSorted(failedFirst);
  const shown = isWhole ? groups : groups.slice(0, GROUPS_MAX);
  const left = groups.length - shown.length;
  return h(
    'section',
    null,
    h('h2', null, 'Changes ', h('span', { class: 'count' }, outcomes.length)),
    shown.map(([id, own]) => h(Group, { key: id, id, outcomes: own, known, isOnly: groups.length === 1 })),
    left === 0
      ? null
      : h('button', { type: 'button', class: 'quiet', onClick: () => setWhole(true) }, `Show ${left} more resources`),
  );
}

type Group = readonly [id: string, outcomes: readonly RecordedOutcome[]];

/** Orders failed groups first, then larger groups. */
function failedFirst([, a]: Group, [, b]: Group): number {
  return Number(hasFailed(b)) - Number(hasFailed(a)) || b.length - a.length;
}

function hasFailed(outcomes: readonly RecordedOutcome[]): boolean {
  return outcomes.some(({ action }) => action === 'failed');
}

interface GroupProps {
  readonly id: string;
  readonly outcomes: readonly RecordedOutcome[];
  readonly known: ReadonlySet<string>;
  /** True if the run has changed no other group. */
  readonly isOnly: boolean;
}

function Group({ id, outcomes, known, isOnly }: GroupProps) {
  const [first, ...others] = outcomes;
  if (first !== undefined && others.length === 0 && (first.diff ?? []).length === 0)
    return h('div', { class: 'change alone' }, h(Outcome, { outcome: first, known }));
  const counts = Map.groupBy(outcomes, ({ action }) => action);
  const text = [...counts].map(([action, own]) => `${own.length} ${action}`).join(', ');
  const failed = hasFailed(outcomes);
  return h(
    'details',
    { class: 'change', open: failed || isOnly || outcomes.length === 1 },
    h('summary', null, h('span', { class: 'name text' }, id), h('span', { class: failed ? 'problem' : 'soft' }, text)),
    h(
      'ul',
      { role: 'list' },
      outcomes.map((outcome) => h('li', { key: outcome.resource }, h(Outcome, { outcome, known }))),
    ),
  );
}

interface OutcomeProps {
  readonly outcome: RecordedOutcome;
  readonly known: ReadonlySet<string>;
}

function Outcome({ outcome, known }: OutcomeProps) {
  const { action, resource, error, diff = [] } = outcome;
  const reason = error === undefined ? '' : `: ${error.message} [${error.code}]`;
  return [
    h(
      'p',
      { class: error === undefined ? 'text' : 'text problem' },
      known.has(resource) ? h('a', { href: resourceAddress(resource) }, resource) : resource,
      ` ${action}${reason}`,
    ),
    diff.length === 0
      ? null
      : h(
          'ul',
          { class: 'fields', role: 'list' },
          diff.map((each) => h('li', { key: each.path, class: 'text' }, differenceLine(each))),
        ),
  ];
}

function differenceLine({ path, before, after, long }: RecordedDifference): string {
  return long === true ? `${path}: changed (long)` : `${path}: ${formatValue(before)} → ${formatValue(after)}`;
}

function formatValue(value: unknown): string {
  return value === undefined ? '(none)' : valueText(JSON.stringify(value));
}
