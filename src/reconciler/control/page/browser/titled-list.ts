// Renders a titled list; nothing if the list is empty.

import { type ComponentChildren, h } from 'preact';

interface Props {
  readonly title: string;
  readonly items: readonly ComponentChildren[];
}

export function TitledList({ title, items }: Props) {
  if (items.length === 0) return null;
  return h(
    'section',
    null,
    h('h2', null, title),
    h(
      'ul',
      { class: 'plain', role: 'list' },
      items.map((item) => h('li', { class: 'text' }, item)),
    ),
  );
}
