// The changes of a run, folded per resource of the fleet: what it is made of follows it.

import { h } from 'preact';
import type { FleetEntry } from '#reconciler/run/fleet-state/format.ts';
import type { RecordedDifference, RecordedOutcome } from '#reconciler/run/history/ports.ts';
import { valueText } from './differences.ts';
import { resourceAddress } from './route.ts';

interface Props {
  readonly outcomes: readonly RecordedOutcome[];
  readonly entries: readonly FleetEntry[];
}

export function Changes({ outcomes, entries }: Props) {
  if (outcomes.length === 0) return null;
  const known = new Map(entries.map(({ id, namespace, name }) => [id, `${namespace ?? ''}/${name}`]));
  const groups = foldOutcomes(outcomes, new Set(known.values()));
  return h(
    'section',
    null,
    h('h2', null, 'Changes ', h('span', { class: 'count' }, outcomes.length)),
    [...groups].map(([name, own]) => h(Group, { key: name, name, outcomes: own, known })),
  );
}

/** Objects of a resource are named like it, or begin with its name. */
function foldOutcomes(
  outcomes: readonly RecordedOutcome[],
  names: ReadonlySet<string>,
): ReadonlyMap<string, readonly RecordedOutcome[]> {
  return Map.groupBy(outcomes, ({ resource }) => {
    const parts = resource.split('/');
    const name = parts.at(-1) ?? '';
    const namespace = parts.length > 2 ? parts[0] : '';
    const words = name.split('-');
    const starts = words.map((_, index) => `${namespace}/${words.slice(0, words.length - index).join('-')}`);
    return starts.find((start) => names.has(start)) ?? `${namespace}/${name}`;
  });
}

interface GroupProps {
  readonly name: string;
  readonly outcomes: readonly RecordedOutcome[];
  readonly known: ReadonlyMap<string, string>;
}

function Group({ name, outcomes, known }: GroupProps) {
  const failed = outcomes.some(({ action }) => action === 'failed');
  const counts = Map.groupBy(outcomes, ({ action }) => action);
  const text = [...counts].map(([action, own]) => `${own.length} ${action}`).join(', ');
  return h(
    'details',
    { class: 'change', open: outcomes.length === 1 || failed },
    h(
      'summary',
      null,
      h('span', { class: 'name text' }, name.replace(/^\//, '')),
      h('span', { class: failed ? 'problem' : 'soft' }, text),
    ),
    h(
      'ul',
      { role: 'list' },
      outcomes.map((outcome) => h(Outcome, { key: outcome.resource, outcome, isEntry: known.has(outcome.resource) })),
    ),
  );
}

function Outcome({ outcome, isEntry }: { readonly outcome: RecordedOutcome; readonly isEntry: boolean }) {
  const { action, resource, error, diff = [] } = outcome;
  const reason = error === undefined ? '' : `: ${error.message} [${error.code}]`;
  return h(
    'li',
    null,
    h(
      'p',
      { class: error === undefined ? 'text' : 'text problem' },
      isEntry ? h('a', { href: resourceAddress(resource) }, resource) : resource,
      ` ${action}${reason}`,
    ),
    diff.length === 0
      ? null
      : h(
          'ul',
          { class: 'fields', role: 'list' },
          diff.map((each) => h('li', { key: each.path, class: 'text' }, differenceLine(each))),
        ),
  );
}

function differenceLine({ path, before, after, long }: RecordedDifference): string {
  return long === true ? `${path}: changed (long)` : `${path}: ${formatValue(before)} → ${formatValue(after)}`;
}

function formatValue(value: unknown): string {
  return value === undefined ? '(none)' : valueText(JSON.stringify(value));
}
