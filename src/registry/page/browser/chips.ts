// Shows the active filters, each with a button that removes it.

import { button, element, list } from '#std/page/shared/elements.ts';
import { FILTER_NAMES, NO_QUERY, type Query } from './address.ts';

export interface Chips {
  readonly node: HTMLElement;
  show(query: Query): void;
}

/** `changed` receives the query without the removed filter. */
export function createChips(changed: (query: Query) => void): Chips {
  const node = element('div', { class: 'chips' });
  return {
    node,
    show(query) {
      const { search, filters } = query;
      const chips = [
        ...(search === '' ? [] : [chip('search', search, () => changed({ ...query, search: '' }))]),
        ...FILTER_NAMES.flatMap((name) =>
          filters[name].map((value) => {
            const others = filters[name].filter((each) => each !== value);
            return chip(name, value, () => changed({ ...query, filters: { ...filters, [name]: others } }));
          }),
        ),
      ];
      const all =
        chips.length < 2
          ? []
          : [button('Clear all', () => changed({ ...NO_QUERY, sort: query.sort }), { class: 'quiet' })];
      node.replaceChildren(
        ...(chips.length === 0 ? [] : [list([...chips, ...all], { class: 'tags', 'aria-label': 'Active filters' })]),
      );
    },
  };
}

function chip(name: string, value: string, removed: () => void): HTMLButtonElement {
  const text = `${name}: ${value}`;
  return button(`${text} ×`, removed, { class: 'tag text', 'aria-label': `Remove ${text}` });
}
