// Creates the elements that only the catalogue page has.

import { type Child, element } from '#std/page/shared/elements.ts';

/**
 * Returns a link for an address of the web, and otherwise the address as text: `javascript:` and the like must not
 * become links.
 */
export function webLink(address: string): HTMLElement {
  const protocol = URL.parse(address)?.protocol;
  if (protocol !== 'http:' && protocol !== 'https:') return element('span', { class: 'text' }, address);
  return element('a', { href: address, rel: 'noopener noreferrer nofollow', class: 'text' }, address);
}

/** Returns a link with this text for an address with TLS and without a user, and otherwise the text. */
export function secureLink(address: string | undefined, label: string): HTMLElement {
  const url = address === undefined ? null : URL.parse(address);
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '')
    return element('span', { class: 'text' }, label);
  return element('a', { href: url.href, rel: 'noopener noreferrer nofollow', class: 'text' }, label);
}

/** Returns a heading that a script can move the focus to. */
export function title(...children: readonly Child[]): HTMLHeadingElement {
  return element('h1', { tabindex: '-1' }, ...children);
}
