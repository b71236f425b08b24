// Renders the fleet as a list: first the entries that are not healthy, each with its reason, then cards by namespace.
// Long sections are folded, so that a thousand servers are as quick to read and to draw as ten.

import { h } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { More } from '#std/page/shared/kit/more.ts';
import { Glyph, STATES } from '#std/page/shared/kit/states.ts';
import type { FleetEntry } from '../../../run/fleet-state/format.ts';
import type { FleetProps } from './fleet-props.ts';
import { attentionText, TROUBLES, worstFirst } from './ranks.ts';
import { resourceAddress } from './route.ts';
import { Lasting } from './times.ts';

/** Maximum number of cards that are drawn at first, over all sections. Each section gets at least a few. */
const CARDS_MAX = 120;
const SECTION_MIN = 6;
const ROWS_MAX = 25;
/** Number of further cards that a click draws in a section. */
const MORE = 240;

export function FleetList({ entries, all, commits, now }: FleetProps) {
  const sorted = useMemo(() => worstFirst(entries), [entries]);
  const troubled = sorted.filter(({ state }) => TROUBLES.has(state));
  const limit = Math.max(SECTION_MIN, Math.floor(CARDS_MAX / new Set(entries.map(({ namespace }) => namespace)).size));
  const sections = Map.groupBy(sorted, ({ namespace }) => namespace ?? '');
  return h(
    'div',
    { class: 'sections' },
    troubled.length === 0 ? null : h(Attention, { entries: troubled, now }),
    [...sections]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([namespace, own]) => h(Section, { key: namespace, namespace, entries: own, limit, all, commits })),
  );
}

function Attention({ entries, now }: { readonly entries: readonly FleetEntry[]; readonly now: number }) {
  const [count, setCount] = useState(ROWS_MAX);
  return h(
    'section',
    { class: 'attention', 'aria-label': 'Needs attention' },
    h('h2', null, 'Needs attention ', h('span', { class: 'count' }, entries.length)),
    h(
      'ul',
      { role: 'list' },
      entries.slice(0, count).map((entry) => h(Row, { key: entry.id, entry, now })),
    ),
    h(More, { left: entries.length - count, step: MORE, more: () => setCount(count + MORE) }),
  );
}

function Row({ entry, now }: { readonly entry: FleetEntry; readonly now: number }) {
  const { id, kind, namespace, name, state, why, since } = entry;
  return h(
    'li',
    null,
    h(
      'a',
      { class: 'row', href: resourceAddress(id) },
      h(Glyph, { state }),
      h(
        'span',
        { class: 'who' },
        h('span', { class: 'name text' }, name),
        h('span', { class: 'soft text' }, `${namespace === undefined ? '' : `${namespace} · `}${kind}`),
      ),
      h('span', { class: `word ${state}` }, STATES[state].label),
      h('span', { class: 'why text' }, why),
      h('span', { class: 'soft since' }, h(Lasting, { since, now })),
    ),
  );
}

interface SectionProps extends Pick<FleetProps, 'all' | 'commits'> {
  readonly namespace: string;
  readonly entries: readonly FleetEntry[];
  readonly limit: number;
}

function Section({ namespace, entries, limit, all, commits }: SectionProps) {
  const [more, setMore] = useState(0);
  const count = limit + more;
  const title = namespace === '' ? 'Sources and cluster-wide' : namespace;
  return h(
    'section',
    { class: 'namespace', 'aria-label': title },
    h('h2', { class: 'text' }, title, ' ', h('span', { class: 'count' }, entries.length)),
    h(
      'ul',
      { class: 'cards', role: 'list' },
      entries.slice(0, count).map((entry) => h(Card, { key: entry.id, entry, all, commits })),
    ),
    h(More, { left: entries.length - count, step: MORE, more: () => setMore(more + MORE) }),
  );
}

interface CardProps extends Pick<FleetProps, 'all' | 'commits'> {
  readonly entry: FleetEntry;
}

function Card({ entry, all, commits }: CardProps) {
  const { id, kind, name, role, state, objects } = entry;
  return h(
    'li',
    null,
    h(
      'a',
      { class: `card ${state}`, href: resourceAddress(id) },
      h(Glyph, { state }),
      h(
        'span',
        { class: 'who' },
        h('span', { class: 'name text' }, name),
        role === 'source' ? h(SourceFacts, { all, name, commit: commits[name] }) : h(KindAndObjects, { kind, objects }),
      ),
      h('span', { class: 'unseen' }, STATES[state].label),
    ),
  );
}

/** Renders the kind and the number of objects. Narrow cards show the kind only. */
function KindAndObjects({ kind, objects }: Pick<FleetEntry, 'kind' | 'objects'>) {
  const count =
    objects === 0 ? null : h('span', { class: 'wide' }, ` · ${objects} ${objects === 1 ? 'object' : 'objects'}`);
  return h('span', { class: 'soft' }, kind, count);
}

interface SourceFactsProps extends Pick<FleetProps, 'all'> {
  readonly name: string;
  readonly commit: string | undefined;
}

/** Renders the commit of a source, and how the resources are that it declares. */
function SourceFacts({ all, name, commit }: SourceFactsProps) {
  const declared = all.filter(({ source }) => source === name);
  const troubled = declared.filter(({ state }) => TROUBLES.has(state)).length;
  const count = declared.length === 1 ? '1 resource' : `${declared.length} resources`;
  return [
    h('span', { class: 'soft text' }, 'Source', commit === undefined ? null : ` · ${commit.slice(0, 10)}`),
    h('span', { class: 'soft declared' }, count, troubled === 0 ? '' : `, ${attentionText(troubled)}`),
  ];
}
