// Shows each name that several backends use, and the backend that gets the name.

import { element } from '#std/page/shared/elements.ts';
import type { Conflict, ItemOrigin, VirtualServerStatus } from './api.ts';
import { wordOf } from './backends.ts';
import { named, textList } from './dom.ts';

const SHOWN_MAX = 500;

export function conflictsView({ conflicts, conflict_resolution }: VirtualServerStatus): HTMLElement {
  const items = conflicts.slice(0, SHOWN_MAX).map(conflictLine);
  const more = conflicts.length > SHOWN_MAX ? [[`and ${conflicts.length - SHOWN_MAX} more: /status has all`]] : [];
  return element(
    'section',
    {},
    element('h2', {}, 'Conflicts'),
    element(
      'p',
      { class: 'hint' },
      `Equal names of tools are resolved by the strategy ${conflict_resolution}. `,
      conflicts.length === 0 ? 'No names are in conflict.' : undefined,
    ),
    items.length === 0 ? undefined : textList([...items, ...more]),
  );
}

function conflictLine({ list, name, given_to, others }: Conflict): readonly (Node | string)[] {
  const losers = others.flatMap((place, index) => [...(index === 0 ? [] : [', ']), placeText(place, name)]);
  if (given_to === undefined) {
    const nobody = element('span', { class: 'problem' }, ' is offered by no backend');
    return [`The ${wordOf(list)} `, named(name), nobody, '; it is claimed by ', ...losers];
  }
  return [`The ${wordOf(list)} `, named(name), ' belongs to ', placeText(given_to, name), ', not to ', ...losers];
}

function placeText({ backend, own = '' }: ItemOrigin, name: string): Node {
  if (backend === undefined) return element('span', {}, 'the server itself');
  return element('span', {}, named(backend), own === name ? '' : ` (there ${own})`);
}
