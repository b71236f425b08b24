// Creates elements that only the page of a virtual server uses.

import { type Attributes, type Child, element, fillElement } from '#std/page/shared/elements.ts';

export function drawing<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  return fillElement(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

/** Shows a name that a server chose, in code style. */
export function named(text: string): HTMLElement {
  return element('code', {}, text);
}

export function textList(items: readonly (readonly Child[])[]): HTMLElement {
  // Safari removes the list role from lists without bullets.
  return element('ul', { role: 'list' }, ...items.map((item) => element('li', { class: 'text' }, ...item)));
}
