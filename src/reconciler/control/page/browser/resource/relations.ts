// Renders the entries that a resource refers to, and the entries that refer to the resource.

import { h } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { More } from '#std/page/shared/kit/more.ts';
import { Glyph, STATES } from '#std/page/shared/kit/states.ts';
import type { FleetEntry } from '../../../../run/fleet-state/format.ts';
import { worstFirst } from '../ranks.ts';
import { resourceAddress } from '../route.ts';

interface Props {
  readonly entry: FleetEntry;
  readonly entries: readonly FleetEntry[];
}

/** Maximum number of links that are shown at first, entries in trouble first: a group may have a thousand members. */
const SHOWN_MAX = 12;
/** Number of links that a click adds. */
const MORE = 200;

export function Relations({ entry, entries }: Props) {
  const uses = useMemo(() => entries.filter(({ id }) => entry.uses.includes(id)), [entry, entries]);
  const usedBy = useMemo(
    () => entries.filter((each) => each.uses.includes(entry.id) || declares(entry, each)),
    [entry, entries],
  );
  return h(
    'div',
    { class: 'relations' },
    h(Links, { title: 'Uses', entries: uses }),
    h(Links, { title: entry.role === 'source' ? 'Declares' : 'Used by', entries: usedBy }),
  );
}

function declares(source: FleetEntry, { source: name }: FleetEntry): boolean {
  return source.role === 'source' && name === source.name;
}

function Links({ title, entries }: { readonly title: string; readonly entries: readonly FleetEntry[] }) {
  const [count, setCount] = useState(SHOWN_MAX);
  if (entries.length === 0) return null;
  const sorted = worstFirst(entries);
  return h(
    'section',
    null,
    h('h2', null, `${title} `, h('span', { class: 'count' }, entries.length)),
    h(
      'ul',
      { class: 'links', role: 'list' },
      sorted
        .slice(0, count)
        .map(({ id, kind, name, state }) =>
          h(
            'li',
            { key: id },
            h(
              'a',
              { href: resourceAddress(id) },
              h(Glyph, { state }),
              h('span', { class: 'name text' }, name),
              h('span', { class: 'soft' }, kind),
              h('span', { class: 'unseen' }, STATES[state].label),
            ),
          ),
        ),
    ),
    h(More, { left: entries.length - count, step: MORE, more: () => setCount(count + MORE) }),
  );
}
