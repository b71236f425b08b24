// Renders how the objects of a resource differ between Git and the cluster, field by field.

import { h } from 'preact';
import { doubtsAbout } from './doubts.ts';
import type { DetailedObject } from './resource-format.ts';

interface Props {
  readonly objects: readonly DetailedObject[];
  /** Number of further objects that were not read. */
  readonly omitted: number;
}

export function Differences({ objects, omitted }: Props) {
  const differing = objects.filter(isDifferent);
  const uncertain = objects.filter((each) => each.uncertain === true).length;
  const doubts = doubtsAbout({ uncertain, omitted });
  return h(
    'section',
    null,
    h('h2', null, 'Git and cluster'),
    differing.map((object) => h(Difference, { key: object.id, object })),
    doubts.map((text) => h('p', { key: text, class: 'calm' }, text)),
    differing.length + doubts.length === 0 ? h('p', { class: 'calm' }, 'The cluster is as Git declares it.') : null,
  );
}

/** Returns true if a difference is known. */
export function areDifferent(objects: readonly DetailedObject[]): boolean {
  return objects.some(isDifferent);
}

function isDifferent({ differences, fields, state }: DetailedObject): boolean {
  return differences.length + fields.length > 0 || state === 'missing';
}

function Difference({ object: { id, state, differences, fields } }: { readonly object: DetailedObject }) {
  const owners = new Map(fields.map(({ path, manager }) => [path, manager]));
  const own = differences.map(({ path, before, after }) => ({ path, before, after, manager: owners.get(path) }));
  const listed = new Set(differences.map(({ path }) => path));
  const kept = fields.filter(({ path }) => !listed.has(path));
  return h(
    'div',
    { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': `Differences of ${id}` },
    h('h3', { class: 'text' }, id),
    state === 'missing' ? h('p', { class: 'problem' }, 'Git declares it, and the cluster does not have it.') : null,
    own.length === 0 ? null : h(Table, { rows: own }),
    kept.length === 0
      ? null
      : h(
          'ul',
          { class: 'plain' },
          kept.map(({ path, manager }) => h('li', { class: 'text' }, h('code', null, path), ` is set by ${manager}`)),
        ),
  );
}

interface Row {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly manager: string | undefined;
}

function Table({ rows }: { readonly rows: readonly Row[] }) {
  return h(
    'table',
    { class: 'diff' },
    h(
      'thead',
      null,
      h(
        'tr',
        null,
        ['Field', 'Git', 'Cluster'].map((name) => h('th', { key: name, scope: 'col' }, name)),
      ),
    ),
    h(
      'tbody',
      null,
      rows.map(({ path, before, after, manager }) =>
        h(
          'tr',
          { key: path },
          h(
            'th',
            { scope: 'row', class: 'text' },
            path,
            manager === undefined ? null : h('span', { class: 'soft' }, ` (${manager})`),
          ),
          h(Value, { value: after, name: 'git' }),
          h(Value, { value: before, name: 'cluster' }),
        ),
      ),
    ),
  );
}

/** Maximum length of a shown value. The manifest shows the whole value. */
const VALUE_MAX = 600;

export function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 1);
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX)} …` : text;
}

/** Returns true for the text by which plans mask values of Secrets. */
function isMasked(value: unknown): boolean {
  return typeof value === 'string' && /^\*\*\* \((before|after)\)$/.test(value);
}

function Value({ value, name }: { readonly value: unknown; readonly name: string }) {
  if (value === undefined) return h('td', { class: 'soft' }, 'not set');
  if (isMasked(value)) return h('td', { class: `value ${name} soft` }, 'hidden, and different');
  return h('td', { class: `value ${name}` }, h('code', { class: 'text' }, valueText(value)));
}
