// Renders the parts that views share: a section with a heading, a table, and a line that says why something is missing.

import { type ComponentChildren, h } from 'preact';

interface SectionProps {
  readonly title: string;
  readonly count?: number;
  readonly children?: ComponentChildren;
}

export function Section({ title, count, children }: SectionProps) {
  const heading = count === undefined ? title : [`${title} `, h('span', { class: 'count' }, count)];
  return h('section', null, h('h2', null, heading), children);
}

interface TableProps {
  /** Name of the table for screen readers. */
  readonly label: string;
  readonly head: readonly string[];
  /** Cells by row. The first cell is the heading of its row. */
  readonly rows: readonly (readonly ComponentChildren[])[];
  /** Number of columns at the end that hold numbers. */
  readonly numbers?: number;
}

export function Table({ label, head, rows, numbers = 0 }: TableProps) {
  const look = (index: number) => (index >= head.length - numbers ? 'number' : 'text');
  return h(
    'div',
    { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': label },
    h(
      'table',
      null,
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          head.map((name, index) => h('th', { key: name, scope: 'col', class: look(index) }, name)),
        ),
      ),
      h(
        'tbody',
        null,
        rows.map((cells, row) =>
          h(
            'tr',
            { key: row },
            cells.map((cell, index) =>
              index === 0 ? h('th', { scope: 'row', class: 'text' }, cell) : h('td', { class: look(index) }, cell),
            ),
          ),
        ),
      ),
    ),
  );
}

/** Says what could not be read, and why. */
export function Unread({ what, why }: { readonly what: string; readonly why: string }) {
  return h('p', { class: 'unread text', role: 'note' }, `${what} cannot be read: ${why}`);
}
