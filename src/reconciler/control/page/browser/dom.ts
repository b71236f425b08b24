// The elements that only the page of the runs has.

import { type Child, element, list } from '#std/page/shared/elements.ts';

/** A list under a heading; nothing where there is nothing in it. */
export function section(title: string, items: readonly Child[]): HTMLElement | undefined {
  if (items.length === 0) return undefined;
  return element('section', {}, element('h2', {}, title), list(items, {}, { class: 'text' }));
}
