// Creates elements that only the catalogue page uses.

import { type Child, element } from '#std/page/shared/elements.ts';

/** Returns a link for an http or https URL, and plain text for other URLs, such as `javascript:`. */
export function webLink(address: string): HTMLElement {
  const protocol = URL.parse(address)?.protocol;
  if (protocol !== 'http:' && protocol !== 'https:') return element('span', { class: 'text' }, address);
  return element('a', { href: address, rel: 'noopener noreferrer nofollow', class: 'text' }, address);
}

/** Returns a link with the label for an https URL without credentials, and plain text for other URLs. */
export function secureLink(address: string | undefined, label: string): HTMLElement {
  const url = address === undefined ? null : URL.parse(address);
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '')
    return element('span', { class: 'text' }, label);
  return element('a', { href: url.href, rel: 'noopener noreferrer nofollow', class: 'text' }, label);
}

/** Returns a heading that can get the focus from a script. */
export function title(...children: readonly Child[]): HTMLHeadingElement {
  return element('h1', { tabindex: '-1' }, ...children);
}
