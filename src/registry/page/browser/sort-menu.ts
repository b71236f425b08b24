// Lets the reader choose the order of the list.

import { element } from '#std/page/shared/elements.ts';
import { type Query, SORTS, type Sort } from './address.ts';

export interface SortMenu {
  readonly node: HTMLElement;
  show(query: Query): void;
}

const LABELS: Readonly<Record<Sort, string>> = {
  name: 'Name',
  changed: 'Last change',
  stars: 'Stars',
  pulls: 'Pulls',
};

export function createSortMenu(changed: (sort: Sort) => void): SortMenu {
  const select = element(
    'select',
    { id: 'sort' },
    ...SORTS.map((sort) => element('option', { value: sort }, LABELS[sort])),
  );
  select.addEventListener('change', () => changed(SORTS[select.selectedIndex] ?? 'name'));
  return {
    node: element('p', { class: 'sort' }, element('label', { for: 'sort' }, 'Sort by'), select),
    show({ sort }) {
      select.value = sort;
    },
  };
}
