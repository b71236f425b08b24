// Creates the elements that only the page of the runs has.

import { type Child, element, list } from '#std/page/shared/elements.ts';

/** Returns a list under a heading; undefined if it would be empty. */
export function section(title: string, items: readonly Child[]): HTMLElement | undefined {
  if (items.length === 0) return undefined;
  return element('section', {}, element('h2', {}, title), list(items, {}, { class: 'text' }));
}
